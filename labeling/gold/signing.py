"""The key that this installation signs releases with, and the keys that it trusts."""

from __future__ import annotations

from django.conf import settings

from labeling.gold.rules import older, signatures


def signer() -> signatures.Signer:
    return signatures.Signer(settings.GOLD_KEY)


def fingerprint() -> str:
    return signatures.fingerprint(signer().public_key)


def trusted() -> frozenset[str]:
    """The fingerprints of this installation's key and of those that the settings name.

    The same secret signed releases of format 2, with a key of another kind.
    """
    before = older.fingerprint(older.public_key_of(settings.GOLD_KEY))
    return frozenset({fingerprint(), before, *settings.GOLD_TRUSTED_KEYS})


def key_of(public_key: str) -> str:
    """The fingerprint of the key of a release, of whatever format it is."""
    return signatures.fingerprint(public_key) or older.fingerprint(public_key)
