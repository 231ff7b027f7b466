"""Ed25519 signatures of releases. Keys and signatures are written in Base64.

``cryptography`` is imported when something is signed or checked: most processes never do.
"""

from __future__ import annotations

import binascii
import hashlib
import secrets
from base64 import b64decode, b64encode

KEY_BYTES, SIGNATURE_BYTES = 32, 64


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


def public_key_of(private_key: str) -> str:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    public = Ed25519PrivateKey.from_private_bytes(b64decode(private_key)).public_key()
    return b64encode(public.public_bytes_raw()).decode()


def sign(text: str, private_key: str) -> str:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    signing = Ed25519PrivateKey.from_private_bytes(b64decode(private_key))
    return b64encode(signing.sign(text.encode())).decode()


def is_signed(text: str, *, signature: str, public_key: str) -> bool:
    """Whether the owner of the key signed exactly this text.

    Examples
    --------
    >>> key = make_key()
    >>> signature, public_key = sign("gold", key), public_key_of(key)
    >>> is_signed("gold", signature=signature, public_key=public_key)
    True
    >>> is_signed("Gold", signature=signature, public_key=public_key)
    False
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key, signed = _bytes(public_key, KEY_BYTES), _bytes(signature, SIGNATURE_BYTES)
    if key is None or signed is None:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signed, text.encode())
    except InvalidSignature:
        return False
    return True


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
