"""Proving an exported folder of gold. No database is asked."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.gold.rules import older, statement
from labeling.gold.rules.proofs import ReleaseFault, faults_of_files, faults_of_lines
from labeling.gold.rules.signatures import SIGNATURE_FILE, fingerprint

STATEMENT_FILE = "statement.json"
"""Of format 2: the text that was signed."""


class NotExported(RuleError, code="not_exported"):
    """The folder is not a native export of gold."""


class Exported(NamedTuple):
    """What somebody got, by what was signed; ``key`` is "" where nobody signed it."""

    release: str
    sha256: str
    items: int
    key: str


class Folder:
    """A native export of whatever format; what makes it unreadable is raised at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = statement.parsed(_read_text(folder / statement.MANIFEST_FILE))
        if not self.manifest:
            raise NotExported("verify.not_json", file=str(folder / statement.MANIFEST_FILE))
        if self.manifest.get("format") not in (statement.FORMAT_2, statement.FORMAT_3):
            raise NotExported("verify.unknown_format", file=str(folder / statement.MANIFEST_FILE))
        self._old = self._signed_before() if self.manifest["format"] == statement.FORMAT_2 else None
        self._hashes = self._listed()

    @property
    def described(self) -> Exported:
        items = len(self._hashes)
        if self._old:
            key = older.fingerprint(self._old.public_key) if self._old.signature else ""
            return Exported(_named(statement.parsed(self._old.text)), self._old.sha256, items, key)
        key = fingerprint(self._key()) if self._is_signed() else ""
        sha256 = _sha256(self.folder / statement.MANIFEST_FILE)
        return Exported(_named(self.manifest), sha256, items, key)

    def faults_of_key(self, trusted: Collection[str]) -> Iterator[ReleaseFault]:
        """Whether one of these keys, by their fingerprints, signed it."""
        key = self.described.key
        if not key:
            yield ReleaseFault("", Fact("verify.unsigned"))
        elif key not in trusted:
            yield ReleaseFault("", Fact("verify.unknown_key", key=key))

    def faults(self) -> Iterator[ReleaseFault]:
        """What is not as it was signed, no matter who did that; by its hashes, where nobody did."""
        found = self._faults_before(self._old) if self._old else self._faults_of_release()
        yield from (ReleaseFault("", fact) for fact in found)
        yield from faults_of_lines(_lines(self.folder / statement.ITEMS_FILE), self._hashes)

    def _faults_of_release(self) -> Iterator[Fact]:
        """Format 3: the manifest has the hash of each file, and all are signed together."""
        found = {
            path.relative_to(self.folder).as_posix(): _sha256(path)
            for path in self.folder.rglob("*")
            if not path.is_dir()
        }
        found.pop(SIGNATURE_FILE, None)
        signature = _read_text(self.folder / SIGNATURE_FILE) if self._is_signed() else None
        return faults_of_files(self.manifest, found, signature, self._key())

    def _is_signed(self) -> bool:
        return (self.folder / SIGNATURE_FILE).exists()

    def _key(self) -> str:
        path = self.folder / statement.KEY_FILE
        return _read_text(path) if path.exists() else ""

    def _listed(self) -> dict[str, str]:
        """The hash of each item by its id."""
        path = self.folder / statement.LISTING_FILE
        if not self._old:
            return statement.listed(_read_text(path)) if path.exists() else {}
        rows = self.manifest.get("items")
        rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        return {str(row.get("item_id")): str(row.get("sha256")) for row in rows}

    # --- format 2: a signed statement with the root of a tree over the items -------------------

    def _signed_before(self) -> older.Signed:
        names = ("sha256", "signature", "public_key")
        text = _read_text(self.folder / STATEMENT_FILE)
        return older.Signed(text, *(str(self.manifest.get(name) or "") for name in names))

    def _faults_before(self, signed: older.Signed) -> Iterator[Fact]:
        stated, items = statement.parsed(signed.text), self.folder / statement.ITEMS_FILE
        yield from signed.faults([hashlib.sha256(line).hexdigest() for line in _lines(items)])
        if self.manifest.get("release") != _named(stated):
            yield Fact("verify.column", column="release")
        if items.read_bytes()[-1:] not in (b"", b"\n"):
            yield Fact("verify.file", file=statement.ITEMS_FILE)
        version, path = stated.get("guideline_version"), self.folder / statement.GUIDELINES_FILE
        if version is not None and (
            not path.exists() or _read_text(path) != statement.guideline_texts(stated).get(version)
        ):
            yield Fact("verify.guideline", version=str(version))


def _named(stated: Mapping[str, Any]) -> str:
    return f"{stated.get('name')}@{stated.get('version')}"


# --- reading --------------------------------------------------------------------------------------


def _read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise NotExported("verify.unreadable", file=str(path), why=str(error)) from error
    except UnicodeDecodeError as error:
        raise NotExported("verify.not_json", file=str(path)) from error


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            for line in file:
                yield line.removesuffix(b"\n")
    except OSError as error:
        raise NotExported("verify.unreadable", file=str(path), why=str(error)) from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
