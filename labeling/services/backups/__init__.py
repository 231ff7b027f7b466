"""The whole database and the keys in one file, and back."""
