"""The nodes by a language model: prompts in files, replies checked against a schema."""
