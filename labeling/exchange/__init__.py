"""Files in and out: conversations, labels, gold."""
