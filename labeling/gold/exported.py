"""Proving an exported folder of gold. No database is asked."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.gold.rules import older
from labeling.gold.rules.proofs import ReleaseFault, faults_of_lines
from labeling.gold.rules.signatures import SIGNATURE_FILE, files_signed, fingerprint
from labeling.gold.rules.statement import (
    FORMAT_2,
    FORMAT_3,
    GUIDELINES_FILE,
    ITEMS_FILE,
    KEY_FILE,
    LISTING_FILE,
    MANIFEST_FILE,
    guideline_texts,
    listed,
    parsed,
)

STATEMENT_FILE = "statement.json"
"""Of format 2: the text that was signed."""


class NotExported(RuleError):
    """The folder is not a native export of gold."""

    code = "not_exported"


class Exported(NamedTuple):
    """What somebody got, by what was signed; ``key`` is "" where nobody signed it."""

    release: str
    sha256: str
    items: int
    key: str


class Folder:
    """A native export of whatever format; what makes it unreadable is raised at once."""

    def __init__(self, folder: Path) -> None:
        self._proof: _Proof
        manifest = parsed(_read_text(folder / MANIFEST_FILE))
        if not manifest:
            raise NotExported("verify.not_json", file=str(folder / MANIFEST_FILE))
        kind = _PROOFS.get(str(manifest.get("format")))
        if kind is None:
            raise NotExported("verify.unknown_format", file=str(folder / MANIFEST_FILE))
        self._proof = kind(folder, manifest)

    @property
    def described(self) -> Exported:
        return self._proof.described()

    def faults(self) -> Iterator[ReleaseFault]:
        """What is not as it was signed, whoever did that; by its hashes, where nobody did."""
        return self._proof.faults()

    def faults_of_key(self, trusted: Collection[str]) -> Iterator[ReleaseFault]:
        """Whether one of these keys, by their fingerprints, signed it."""
        key = self.described.key
        if not key:
            yield ReleaseFault("", Fact("verify.unsigned"))
        elif key not in trusted:
            yield ReleaseFault("", Fact("verify.unknown_key", key=key))


class _Proof:
    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self.folder, self.manifest = folder, manifest

    def described(self) -> Exported:
        raise NotImplementedError

    def faults(self) -> Iterator[ReleaseFault]:
        raise NotImplementedError

    def _text(self, name: str) -> str:
        value = self.manifest.get(name)
        return value if isinstance(value, str) else ""


class _Signed(_Proof):
    """Format 3: the manifest has the hash of each file, and all are signed together."""

    def described(self) -> Exported:
        return Exported(
            _named(self.manifest),
            _sha256(self.folder / MANIFEST_FILE),
            len(self._hashes()),
            fingerprint(self._key()) if self._is_signed() else "",
        )

    def _is_signed(self) -> bool:
        return (self.folder / SIGNATURE_FILE).exists()

    def _key(self) -> str:
        path = self.folder / KEY_FILE
        return _read_text(path) if path.exists() else ""

    def _hashes(self) -> dict[str, str]:
        path = self.folder / LISTING_FILE
        return listed(_read_text(path)) if path.exists() else {}

    def faults(self) -> Iterator[ReleaseFault]:
        stated = self.manifest.get("files")
        files = dict(stated) if isinstance(stated, dict) else {}
        files[MANIFEST_FILE] = _sha256(self.folder / MANIFEST_FILE)
        signed = files
        if self._is_signed():
            key = self._key()
            found = files_signed(_read_text(self.folder / SIGNATURE_FILE), key)
            if found is None:
                yield ReleaseFault("", Fact("verify.signature"))
            else:
                signed = found
            if fingerprint(key) != self.manifest.get("key"):
                yield ReleaseFault("", Fact("verify.other_key"))
        yield from (ReleaseFault("", fact) for fact in self._faults_of_files(files, signed))
        yield from faults_of_lines(_lines(self.folder / ITEMS_FILE), self._hashes())

    def _faults_of_files(
        self, stated: Mapping[str, Any], signed: Mapping[str, str]
    ) -> Iterator[Fact]:
        there = {
            path.relative_to(self.folder).as_posix(): path
            for path in self.folder.rglob("*")
            if not path.is_dir()
        }
        for name in sorted({*stated, *signed, *there} - {SIGNATURE_FILE}):
            if name not in there:
                yield Fact("verify.file_missing", file=name)
            elif name not in signed:
                yield Fact("verify.file_more", file=name)
            elif not _sha256(there[name]) == signed[name] == stated.get(name):
                yield Fact("verify.file", file=name)


class _Old(_Proof):
    """Format 2: a signed statement with the root of a tree, and a signature for each item."""

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        super().__init__(folder, manifest)
        self.signed = older.Signed(
            _read_text(folder / STATEMENT_FILE),
            self._text("sha256"),
            self._text("signature"),
            self._text("public_key"),
        )
        self.stated = parsed(self.signed.text)

    def described(self) -> Exported:
        rows = _listed(self.manifest.get("items"))
        key = older.fingerprint(self.signed.public_key) if self.signed.signature else ""
        return Exported(_named(self.stated), self._text("sha256"), len(rows), key)

    def faults(self) -> Iterator[ReleaseFault]:
        rows = [row for row in _listed(self.manifest.get("items")) if isinstance(row, dict)]
        by_id = {str(row.get("item_id")): row for row in rows}
        if len(by_id) != len(_listed(self.manifest.get("items"))):
            yield ReleaseFault("", Fact("verify.item_twice"))
        if self._text("release") != _named(self.stated):
            yield ReleaseFault("", Fact("verify.column", column="release"))
        hashes = {item_id: str(row.get("sha256")) for item_id, row in by_id.items()}

        def columns(item_id: str, text: str) -> Iterator[ReleaseFault]:
            return self._faults_of_row(by_id[item_id], parsed(text))

        path = self.folder / ITEMS_FILE
        yield from faults_of_lines(_lines(path), hashes, more=columns)
        if not _ends(path):
            yield ReleaseFault("", Fact("verify.file", file=ITEMS_FILE))
        found = [hashlib.sha256(line).hexdigest() for line in _lines(path)]
        yield from (ReleaseFault("", fact) for fact in self._faults_of_statement(found))

    def _faults_of_row(
        self, row: Mapping[str, Any], document: Mapping[str, Any]
    ) -> Iterator[ReleaseFault]:
        provenance = document.get("provenance")
        how = provenance.get("how") if isinstance(provenance, dict) else None
        hows = [how, *(["imported"] if "imported_from" in self.stated else [])]
        if row.get("split") != document.get("split") or row.get("how") not in hows:
            yield ReleaseFault(str(row.get("item_id")), Fact("verify.columns"))
        if self.signed.signature and not self.signed.is_signed_item(
            str(row.get("sha256")), str(row.get("signature"))
        ):
            yield ReleaseFault(str(row.get("item_id")), Fact("verify.forged"))

    def _faults_of_statement(self, found: Sequence[str]) -> Iterator[Fact]:
        yield from self.signed.faults(found)
        said, stated = (_listed(each.get("left_out")) for each in (self.manifest, self.stated))
        if [*map(_left_out, said)] != [*map(_left_out, stated)]:
            yield Fact("verify.column", column="left_out")
        version = self.stated.get("guideline_version")
        path = self.folder / GUIDELINES_FILE
        if version is not None and (
            not path.exists() or _read_text(path) != guideline_texts(self.stated).get(version)
        ):
            yield Fact("verify.guideline", version=str(version))


_PROOFS: dict[str, type[_Proof]] = {FORMAT_2: _Old, FORMAT_3: _Signed}


def _named(stated: Mapping[str, Any]) -> str:
    return f"{stated.get('name')}@{stated.get('version')}"


def _left_out(row: Any) -> tuple[Any, Any]:
    """A conversation and the code of its reason, as the manifest and the statement have them."""
    if not isinstance(row, dict):
        return row, None
    reason = row.get("reason")
    code = reason.get("code") if isinstance(reason, dict) else row.get("code")
    return row.get("conversation"), code


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


def _ends(path: Path) -> bool:
    """Whether the last line has its line feed."""
    content = path.read_bytes()[-1:]
    return content in (b"", b"\n")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []
