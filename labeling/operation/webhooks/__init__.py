"""Notifying other systems."""
