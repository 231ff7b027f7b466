"""What every figure means, as pure functions: no Django, no files, no model loading."""
