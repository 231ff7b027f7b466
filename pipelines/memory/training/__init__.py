"""Learns the weights that the memory pipelines ship with; nothing here runs in a case."""
