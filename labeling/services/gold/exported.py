"""Proving exported gold: a native folder, or one item with its proof. No database is asked."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.gold.proofs import (
    ItemColumns,
    ReleaseFault,
    SignedStatement,
    faults_of_item,
    faults_of_proof,
)
from labeling.domain.gold.release import is_release_sha256, text_sha256
from labeling.domain.gold.signatures import Checker, fingerprint
from labeling.domain.gold.statement import FORMAT_1, FORMAT_2, guideline_texts, parsed
from labeling.domain.gold.tree import Tree


class NotExported(RuleError):
    """The folder or file is not a native export of gold, or not a proof."""

    code = "not_exported"


class Exported(NamedTuple):
    """What somebody got: a release, or one item of it. ``key`` is "" where nothing is signed."""

    release: str
    sha256: str
    items: int
    key: str


# --- a folder -------------------------------------------------------------------------------------


class ExportedFolder:
    """A native export; what makes it unreadable is raised when it is opened."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = _read_json(folder / "manifest.json")
        self.format = self.manifest.get("format")
        if self.format not in (FORMAT_1, FORMAT_2):
            raise NotExported("verify.unknown_format", file=str(folder / "manifest.json"))
        self.statement = _read_text(folder / "statement.json") if self.format == FORMAT_2 else ""
        self.rows = [_columns(row) for row in _listed(self.manifest.get("items"))]

    @property
    def described(self) -> Exported:
        key = fingerprint(self._text("public_key")) if self.format == FORMAT_2 else ""
        return Exported(self._text("release"), self._text("sha256"), len(self.rows), key)

    def faults(self, *, trusted: Collection[str] | None) -> Iterator[ReleaseFault]:
        """``trusted`` are fingerprints of keys; None trusts the key that is there."""
        if self.format == FORMAT_1:
            yield from self._faults_of_format_1(trusted)
            return
        stated = parsed(self.statement)
        signed = SignedStatement(
            self.statement,
            self._text("sha256"),
            self._text("signature"),
            self._text("public_key"),
        )
        yield from _of_release(signed.faults(trusted=trusted))
        yield from _of_release(self._faults_of_manifest(stated))
        yield from _of_release(self._faults_of_guidelines(stated))
        tree = Tree()
        yield from self._faults_of_items(tree, Checker(signed.public_key))
        if (tree.size, tree.root) != (stated.get("items"), stated.get("root")):
            yield ReleaseFault("", Fact("verify.tree", items=tree.size))

    def _text(self, name: str) -> str:
        value = self.manifest.get(name)
        return value if isinstance(value, str) else ""

    def _faults_of_manifest(self, stated: Mapping[str, Any]) -> Iterator[Fact]:
        if self._text("release") != f"{stated.get('name')}@{stated.get('version')}":
            yield Fact("verify.column", column="release")
        left_out = [_left_out(row) for row in _listed(self.manifest.get("left_out"))]
        if left_out != [_left_out(row) for row in _listed(stated.get("left_out"))]:
            yield Fact("verify.column", column="left_out")

    def _faults_of_guidelines(self, stated: Mapping[str, Any]) -> Iterator[Fact]:
        version = stated.get("guideline_version")
        if not isinstance(version, int):
            return
        path = self.folder / "guidelines.md"
        if not path.exists() or _read_text(path) != guideline_texts(stated).get(version):
            yield Fact("verify.guideline", version=version)

    def _faults_of_items(self, tree: Tree, checker: Checker | None) -> Iterator[ReleaseFault]:
        """Each line with the row of the manifest that has its id, in whatever order they are."""
        by_id = {row.item_id: row for row in self.rows}
        is_imported = "imported_from" in parsed(self.statement)
        waiting = dict(by_id)
        for number, line in enumerate(_lines(self.folder / "items.jsonl")):
            text = line.decode("utf-8", "replace")
            tree.add(text_sha256(text))
            item_id = _id_of(text)
            at_place = self.rows[number] if number < len(self.rows) else None
            row = waiting.pop(item_id, None) or (None if item_id in by_id else at_place)
            if row is None:
                yield ReleaseFault(item_id or f"line {number + 1}", Fact("verify.extra_item"))
                continue
            waiting.pop(row.item_id, None)
            yield from faults_of_item(text, row, checker=checker, is_imported=is_imported)
        for item_id in waiting:
            yield ReleaseFault(item_id, Fact("verify.missing_item"))

    def _faults_of_format_1(self, trusted: Collection[str] | None) -> Iterator[ReleaseFault]:
        if trusted is not None:
            yield ReleaseFault("", Fact("verify.not_signed"))
        yield from self._faults_of_items(Tree(), None)
        header = self.manifest.get("header")
        hashes = [text_sha256(line.decode("utf-8", "replace")) for line in self._item_lines()]
        header = header if isinstance(header, dict) else {}
        if not is_release_sha256(self._text("sha256"), header, hashes):
            yield ReleaseFault("", Fact("verify.release_hash"))

    def _item_lines(self) -> Iterator[bytes]:
        return _lines(self.folder / "items.jsonl")


def _of_release(facts: Iterator[Fact]) -> Iterator[ReleaseFault]:
    return (ReleaseFault("", fact) for fact in facts)


def _left_out(row: Any) -> tuple[Any, Any]:
    """A conversation and the code of its reason, as the manifest and the statement have them."""
    if not isinstance(row, dict):
        return row, None
    reason = row.get("reason")
    code = reason.get("code") if isinstance(reason, dict) else row.get("code")
    return row.get("conversation"), code


def _columns(row: Any) -> ItemColumns:
    values = row if isinstance(row, dict) else {}
    return ItemColumns(*(str(values.get(name, "")) for name in ItemColumns._fields))


def _id_of(text: str) -> str:
    value = parsed(text).get("item_id")
    return value if isinstance(value, str) else ""


# --- one item -------------------------------------------------------------------------------------


class ExportedProof:
    """A file with one item and what proves that it is in a release."""

    def __init__(self, path: Path) -> None:
        self.proof = _read_json(path)

    @property
    def item_id(self) -> str:
        item = self.proof.get("item")
        return _id_of(item) if isinstance(item, str) else ""

    @property
    def described(self) -> Exported:
        text = {name: str(self.proof.get(name, "")) for name in ("release", "sha256", "public_key")}
        return Exported(text["release"], text["sha256"], 1, fingerprint(text["public_key"]))

    def faults(self, *, trusted: Collection[str] | None) -> Iterator[ReleaseFault]:
        return faults_of_proof(self.proof, trusted=trusted)


# --- reading --------------------------------------------------------------------------------------


def _read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise NotExported("verify.unreadable", file=str(path), why=str(error)) from error
    except UnicodeDecodeError as error:
        raise NotExported("verify.not_json", file=str(path)) from error


def _read_json(path: Path) -> Mapping[str, Any]:
    document = parsed(_read_text(path))
    if not document:
        raise NotExported("verify.not_json", file=str(path))
    return document


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            for line in file:
                yield line.removesuffix(b"\n")
    except OSError as error:
        raise NotExported("verify.unreadable", file=str(path), why=str(error)) from error


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []
