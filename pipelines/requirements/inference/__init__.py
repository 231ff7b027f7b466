"""Requirements that nobody stated, found by rules about what the stated ones touch."""
