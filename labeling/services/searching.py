"""Texts that contain what somebody searches for, in capitals or not."""

from __future__ import annotations

import re

from django.db import connection
from django.db.models import Q


def containing(field: str, text: str) -> Q:
    """SQLite's LIKE knows the capitals of ASCII alone; its REGEXP, a slower one, is Python's."""
    if connection.vendor == "sqlite" and not text.isascii():
        return Q(**{f"{field}__iregex": re.escape(text)})
    return Q(**{f"{field}__icontains": text})
