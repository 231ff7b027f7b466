"""What is wrong with how requirements are written, found by rules."""
