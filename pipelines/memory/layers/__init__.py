"""What is built once of a conversation: topics (L1), their signals (L1.5), threads (L2)."""
