"""Signatures of releases, as OpenSSF Model Signing 1.1 writes them: anybody's tool verifies them.

A Sigstore bundle (v0.3) holds a DSSE envelope with an in-toto Statement (v1), which names the
files of an exported folder with their hashes; the key is ECDSA on P-256.
``cryptography`` is imported when something is signed or checked: most processes never do.
"""

from __future__ import annotations

import binascii
import hashlib
import json
import secrets
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from labeling.gold.rules.statement import parsed

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey

KEY_BYTES = 32
BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json"
PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://model_signing/signature/v1.0"
SIGNATURE_FILE = "model.sig"
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""How many points P-256 has."""


def make_key() -> str:
    """A new secret: 32 random bytes in Base64, from which the private key is derived."""
    return b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def is_key(text: str) -> bool:
    """Whether the text can be a secret.

    Examples
    --------
    >>> is_key(make_key()), is_key("c2hvcnQ=")
    (True, False)
    """
    return len(_bytes(text)) == KEY_BYTES


class Signer:
    """Signs the files of a release; the same files and the same secret give the same signature.

    Examples
    --------
    >>> signer = Signer(make_key())
    >>> bundle = signer.sign("g@1", {"items.jsonl": "00" * 32})
    >>> files_signed(bundle, signer.public_key)
    {'items.jsonl': '0000000000000000000000000000000000000000000000000000000000000000'}
    >>> files_signed(bundle, Signer(make_key()).public_key)
    """

    def __init__(self, secret: str) -> None:
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF

        derived = HKDF(hashes.SHA256(), 48, salt=None, info=b"assay gold P-256")
        number = int.from_bytes(derived.derive(b64decode(secret))) % (ORDER - 1) + 1
        self._key = ec.derive_private_key(number, ec.SECP256R1())
        self.public_key = (
            self._key.public_key()
            .public_bytes(
                serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
            )
            .decode()
        )

    def sign(self, release: str, files: Mapping[str, str]) -> str:
        """A bundle that names the files with their SHA-256."""
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec

        payload = _text(_statement(release, files)).encode()
        by_rule = ec.ECDSA(hashes.SHA256(), deterministic_signing=True)
        signature = self._key.sign(_signed_bytes(payload), by_rule)
        return _text(
            {
                "mediaType": BUNDLE,
                "verificationMaterial": {
                    "publicKey": {"hint": fingerprint(self.public_key)},
                    "tlogEntries": [],
                },
                "dsseEnvelope": {
                    "payload": b64encode(payload).decode(),
                    "payloadType": PAYLOAD,
                    "signatures": [{"sig": b64encode(signature).decode(), "keyid": ""}],
                },
            }
        )


def files_signed(bundle: str, public_key: str) -> dict[str, str] | None:
    """The files with their hashes that the owner of the key signed; None if they signed nothing."""
    match parsed(bundle):
        case {
            "mediaType": str(kind),
            "dsseEnvelope": {
                "payload": str(text),
                "payloadType": str(of),
                "signatures": [{"sig": str(signature)}],
            },
        } if (kind, of) == (BUNDLE, PAYLOAD):
            payload = _bytes(text)
            if _is_signed(payload, _bytes(signature), public_key):
                return _files_of(parsed(payload.decode("utf-8", "replace")))
    return None


def _is_signed(payload: bytes, signature: bytes, public_key: str) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    key = _public_key(public_key)
    try:
        if key is not None:
            key.verify(signature, _signed_bytes(payload), ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return key is not None


def fingerprint(public_key: str) -> str:
    """The SHA-256 of the file with a public key, in hex; empty for what is not a key."""
    key = _public_key(public_key)
    return "" if key is None else hashlib.sha256(public_key.encode()).hexdigest()


def _public_key(text: str) -> EllipticCurvePublicKey | None:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(text.encode("utf-8", "replace"))
    except (ValueError, UnsupportedAlgorithm):
        return None
    is_p256 = isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name == "secp256r1"
    return key if is_p256 else None  # type: ignore[return-value]


def _statement(release: str, files: Mapping[str, str]) -> dict[str, Any]:
    names = sorted(files)
    root = hashlib.sha256(b"".join(bytes.fromhex(files[name]) for name in names)).hexdigest()
    return {
        "_type": STATEMENT,
        "subject": [{"name": release, "digest": {"sha256": root}}],
        "predicateType": PREDICATE,
        "predicate": {
            "serialization": {
                "method": "files",
                "hash_type": "sha256",
                "allow_symlinks": False,
                "ignore_paths": [SIGNATURE_FILE],
            },
            "resources": [
                {"name": name, "algorithm": "sha256", "digest": files[name]} for name in names
            ],
        },
    }


def _files_of(statement: Mapping[str, Any]) -> dict[str, str] | None:
    match statement:
        case {
            "_type": str(kind),
            "predicateType": str(predicate),
            "predicate": {"resources": list(rows)},
        } if (kind, predicate) == (STATEMENT, PREDICATE):
            pairs = [(row.get("name"), row.get("digest")) for row in rows if isinstance(row, dict)]
            return {str(name): str(digest) for name, digest in pairs if isinstance(name, str)}
    return None


def _signed_bytes(payload: bytes) -> bytes:
    """What DSSE signs: the kind and the length of the payload, too."""
    return b"DSSEv1 %d %s %d %s" % (len(PAYLOAD), PAYLOAD.encode(), len(payload), payload)


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def _bytes(text: str) -> bytes:
    """Empty for what is not Base64."""
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
