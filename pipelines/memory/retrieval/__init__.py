"""Which messages of a conversation are evidence for a question."""
