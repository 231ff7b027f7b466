"""Gold that can be proven: one written form per value, and the hashes over it."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from labeling.domain.canonical import canonical_json
from labeling.domain.errors import NotCanonical

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


def release_sha256(header: Mapping[str, object], item_hashes: Sequence[str]) -> str:
    """SHA-256 in hex over a release's header and its items' hashes in order.

    Two releases with equal hashes hold the same items, in the same order, under
    the same header; a changed, missing, added or moved item changes it.

    Examples
    --------
    >>> release_sha256({"name": "g"}, ["a", "b"]) == release_sha256({"name": "g"}, ["b", "a"])
    False
    """
    return item_sha256({"header": dict(header), "items": list(item_hashes)})


def is_release_sha256(
    sha256: str, header: Mapping[str, object], item_hashes: Sequence[str]
) -> bool:
    """False, too, for a forged header that has no written form: it holds NaN, or is too deep."""
    try:
        return release_sha256(header, item_hashes) == sha256
    except (NotCanonical, RecursionError):
        return False
