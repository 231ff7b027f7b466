"""Which labels mean the same, and what follows from it."""
