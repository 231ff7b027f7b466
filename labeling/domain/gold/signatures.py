"""Ed25519 signatures of releases. Keys and signatures are written in Base64.

``cryptography`` is imported when something is signed or checked: most processes never do.
"""

from __future__ import annotations

import binascii
import hashlib
import secrets
from base64 import b64decode, b64encode

KEY_BYTES, SIGNATURE_BYTES = 32, 64

ITEM = "assay-gold item "
"""Before the hash of an item where that is signed, so that it can be taken for nothing else."""


def make_key() -> str:
    """A new private key: 32 random bytes."""
    return b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def is_key(text: str) -> bool:
    """Whether the text can be a key, private or public.

    Examples
    --------
    >>> is_key(make_key()), is_key("c2hvcnQ=")
    (True, False)
    """
    return _bytes(text, KEY_BYTES) is not None


class Signer:
    """Signs texts with one private key.

    Examples
    --------
    >>> signer = Signer(make_key())
    >>> signature = signer.sign("gold")
    >>> checker = Checker(signer.public_key)
    >>> checker.is_signed("gold", signature), checker.is_signed("Gold", signature)
    (True, False)
    """

    def __init__(self, private_key: str) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        self._key = Ed25519PrivateKey.from_private_bytes(b64decode(private_key))
        self.public_key = b64encode(self._key.public_key().public_bytes_raw()).decode()

    def sign(self, text: str) -> str:
        return b64encode(self._key.sign(text.encode())).decode()

    def sign_item(self, sha256: str) -> str:
        return self.sign(ITEM + sha256)


class Checker:
    """Checks signatures of one public key; of what is not a key, no signature is right."""

    def __init__(self, public_key: str) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        key = _bytes(public_key, KEY_BYTES)
        self._key = None if key is None else Ed25519PublicKey.from_public_bytes(key)

    def is_signed(self, text: str, signature: str) -> bool:
        """Whether the owner of the key signed exactly this text."""
        from cryptography.exceptions import InvalidSignature

        signed = _bytes(signature, SIGNATURE_BYTES)
        if self._key is None or signed is None:
            return False
        try:
            self._key.verify(signed, text.encode("utf-8", "surrogatepass"))
        except InvalidSignature:
            return False
        return True

    def is_signed_item(self, sha256: str, signature: str) -> bool:
        return self.is_signed(ITEM + sha256, signature)


def fingerprint(public_key: str) -> str:
    """The SHA-256 of a public key, in hex; empty for what is not a key.

    Examples
    --------
    >>> fingerprint("A" * 43 + "=")[:12]
    '66687aadf862'
    """
    key = _bytes(public_key, KEY_BYTES)
    return "" if key is None else hashlib.sha256(key).hexdigest()


def _bytes(text: str, length: int) -> bytes | None:
    try:
        value = b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return value if len(value) == length else None
