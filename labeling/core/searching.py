"""Texts that contain what somebody searches for, in capitals or not."""

import re
from unicodedata import normalize

from django.db.models import Q


def containing(field: str, text: str) -> Q:
    """On either database; of SQLite's own comparisons none knows capitals beyond A to Z."""
    return Q(**{f"{field}__iregex": pattern_of(text)})


def pattern_of(text: str) -> str:
    """A quotation mark may be escaped, as it is in JSON."""
    return re.escape(normalize("NFC", text)).replace('"', r'\\?"')
