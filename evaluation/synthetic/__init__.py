"""Synthetic conversations, and questions about stored ones."""
