"""Carrying runs out, scoring them, and what the scores come to."""
