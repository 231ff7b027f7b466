"""Hashes and comparison of gold."""
