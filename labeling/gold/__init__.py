"""Freezing, comparing and verifying gold releases."""
