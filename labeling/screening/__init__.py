"""Checking annotators against gold: hidden checks, qualification tests, pauses."""
