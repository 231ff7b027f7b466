"""The systems under test. They know nothing of Django, of labels or of metrics."""
