"""How far annotators agree, and what they discuss where they do not."""
