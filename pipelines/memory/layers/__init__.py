"""What is built once for each conversation: topics (L1), their signals (L1.5), threads (L2)."""
