"""The same question by a graph of steps that look again when the evidence is thin."""
