"""Handing out work, with hidden checks among it, and taking answers."""
