"""Questions about conversations that nobody has asked, each with the messages that answer it."""
