"""Requirements that a conversation states, found by wording and by who answers whom."""
