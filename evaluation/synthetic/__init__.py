"""Conversations that nobody has held, with the requirements that are said in them."""
