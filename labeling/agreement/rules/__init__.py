"""Statistics of agreement and of disagreement."""
