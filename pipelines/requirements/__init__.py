"""Requirements from conversations."""
