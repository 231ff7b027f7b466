"""Requirements that a conversation states, found by models of what people do with a sentence."""
