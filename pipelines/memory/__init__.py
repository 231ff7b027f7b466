"""Questions about long conversations: which messages answer them."""
