"""A language model behind any server that speaks the OpenAI protocol."""
