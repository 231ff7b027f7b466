"""Sentence vectors by all-MiniLM-L6-v2, in this process or in a process that all share."""
