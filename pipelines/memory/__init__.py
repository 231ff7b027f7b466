"""Questions about long talks: which messages answer them."""
