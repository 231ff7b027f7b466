"""Synthetic conversations, with the requirements stated in them."""
