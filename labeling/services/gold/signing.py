"""The key that this installation signs releases with, and the keys that it trusts."""

from __future__ import annotations

from django.conf import settings

from labeling.domain.gold import signatures


def signer() -> signatures.Signer:
    return signatures.Signer(settings.GOLD_KEY)


def fingerprint() -> str:
    return signatures.fingerprint(signer().public_key)


def trusted() -> frozenset[str]:
    """The fingerprints of this installation's key and of those that the settings name."""
    return frozenset({fingerprint(), *settings.GOLD_TRUSTED_KEYS})
