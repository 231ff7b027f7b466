"""What releases of format 2 satisfy, which versions before 0.4 made.

They have a statement with the root of a Merkle tree (RFC 6962) over the items, and an Ed25519
signature of it. Keys and signatures are in Base64.
"""

from __future__ import annotations

import binascii
import hashlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from labeling.domain.facts import Fact
from labeling.gold.rules.release import text_sha256
from labeling.gold.rules.statement import parsed

KEY_BYTES, SIGNATURE_BYTES = 32, 64
LEAF, NODE = b"\x00", b"\x01"


class Signed(NamedTuple):
    """A statement of format 2 as text, with what proves it."""

    text: str
    sha256: str
    signature: str
    public_key: str

    def faults(self, item_hashes: Sequence[str]) -> Iterator[Fact]:
        stated = parsed(self.text)
        if text_sha256(self.text) != self.sha256:
            yield Fact("verify.statement_hash")
        if not is_signed(self.text, self.signature, self.public_key):
            yield Fact("verify.signature")
        elif fingerprint(self.public_key) != stated.get("key"):
            yield Fact("verify.other_key")
        if (len(item_hashes), root_of(item_hashes)) != (stated.get("items"), stated.get("root")):
            yield Fact("verify.items", items=len(item_hashes))


def is_signed(text: str, signature: str, public_key: str) -> bool:
    """Whether the owner of the key signed exactly this text."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key, signed = _bytes(public_key, KEY_BYTES), _bytes(signature, SIGNATURE_BYTES)
    if key is None or signed is None:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(
            signed, text.encode("utf-8", "surrogatepass")
        )
    except InvalidSignature:
        return False
    return True


def public_key_of(secret: str) -> str:
    """The key whose signatures this secret made in format 2."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(b64decode(secret))
    return b64encode(key.public_key().public_bytes_raw()).decode()


def fingerprint(public_key: str) -> str:
    """The SHA-256 of a public key, in hex; empty for what is not a key.

    Examples
    --------
    >>> fingerprint("A" * 43 + "=")[:12]
    '66687aadf862'
    """
    key = _bytes(public_key, KEY_BYTES)
    return "" if key is None else hashlib.sha256(key).hexdigest()


def root_of(hashes: Sequence[str]) -> str:
    """The root of the tree over hashes of items in hex, in order.

    Examples
    --------
    >>> root_of(["00" * 32]) == hashlib.sha256(LEAF + bytes(32)).hexdigest()
    True
    >>> root_of([])[:16]
    'e3b0c44298fc1c14'
    """
    if not hashes:
        return hashlib.sha256().hexdigest()
    level = [hashlib.sha256(LEAF + _hash(sha256)).digest() for sha256 in hashes]
    while len(level) > 1:
        pairs = [
            hashlib.sha256(NODE + left + right).digest()
            for left, right in zip(level[::2], level[1::2], strict=False)
        ]
        level = [*pairs, *(level[-1:] if len(level) % 2 else [])]
    return level[0].hex()


def _hash(sha256: str) -> bytes:
    """What is not a hash has one all the same, so that it leads to no root that was signed."""
    try:
        return bytes.fromhex(sha256)
    except ValueError:
        return hashlib.sha256(sha256.encode("utf-8", "surrogatepass")).digest()


def _bytes(text: str, length: int) -> bytes | None:
    try:
        value = b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return value if len(value) == length else None
