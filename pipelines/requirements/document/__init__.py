"""The requirements document: eleven sections, and every requirement traced to its messages."""
