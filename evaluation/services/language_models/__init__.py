"""Endpoints, budgets, metering and stored replies."""
