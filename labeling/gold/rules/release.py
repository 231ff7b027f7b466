"""Gold that can be proven: one written form per value, and the hashes over it."""

import hashlib
import re
from typing import Any

from labeling.domain.canonical import canonical_json

RELEASE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
"""A release's name is part of an address and of file names."""


def item_sha256(item: Any) -> str:
    """SHA-256 in hex of an item's canonical form.

    Examples
    --------
    >>> item_sha256({"a": 1, "b": 2}) == item_sha256({"b": 2.0, "a": 1})
    True
    """
    return text_sha256(canonical_json(item))


def text_sha256(text: str) -> str:
    """A file of somebody else may hold half a surrogate pair, which no item has."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
