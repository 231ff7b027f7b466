"""Checking and storing what is to run."""
