"""Answers, their judges, and people who check the judges."""
