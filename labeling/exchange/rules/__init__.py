"""What imported files may say."""
