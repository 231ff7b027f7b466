"""Secrets that are shown once and can't be read from the database."""

import secrets
from hashlib import sha256

BYTES = 32


def make_secret(prefix: str = "") -> str:
    """A new secret for an address or a header: 256 random bits, after a prefix to know it by."""
    return prefix + secrets.token_urlsafe(BYTES)


def digest_of(secret: str) -> str:
    """What is stored instead. A secret this long needs neither salt nor a slow hash.

    Examples
    --------
    >>> digest_of("a")[:12]
    'ca978112ca1b'
    """
    return sha256(secret.encode("utf-8", "replace")).hexdigest()
