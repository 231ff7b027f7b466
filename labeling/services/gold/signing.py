"""The key that this installation signs releases with, and the keys that it trusts."""

from __future__ import annotations

from typing import NamedTuple

from django.conf import settings

from labeling.domain.gold import signatures


class Signed(NamedTuple):
    signature: str
    public_key: str


def sign(text: str) -> Signed:
    return Signed(signatures.sign(text, settings.GOLD_KEY), public_key())


def public_key() -> str:
    return signatures.public_key_of(settings.GOLD_KEY)


def fingerprint() -> str:
    return signatures.fingerprint(public_key())


def trusted() -> frozenset[str]:
    """The fingerprints of this installation's key and of those that the settings name."""
    return frozenset({fingerprint(), *settings.GOLD_TRUSTED_KEYS})
