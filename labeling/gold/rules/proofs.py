"""What the items of a release must satisfy, wherever they are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from labeling.domain.facts import Fact
from labeling.gold.rules.release import text_sha256
from labeling.gold.rules.signatures import files_signed, fingerprint
from labeling.gold.rules.statement import MANIFEST_FILE, parsed


class ReleaseFault(NamedTuple):
    """A change to a release since it was frozen; ``item_id`` "" means the release itself."""

    item_id: str
    fact: Fact


class ItemColumns(NamedTuple):
    """What is said about an item next to its text."""

    item_id: str
    split: str
    how: str
    sha256: str


def faults_of_files(
    stated: Mapping[str, Any], found: Mapping[str, str], signature: str | None, key: str
) -> Iterator[Fact]:
    """The files that are there, by their hashes, as the manifest says and as they were signed.

    Without a signature (None), the manifest alone counts.
    """
    files = stated.get("files")
    files = dict(files) if isinstance(files, dict) else {}
    files[MANIFEST_FILE] = found[MANIFEST_FILE]
    signed = files
    if signature is not None:
        by_key = files_signed(signature, key)
        if by_key is None:
            yield Fact("verify.signature")
        elif fingerprint(key) != stated.get("key"):
            yield Fact("verify.other_key")
        signed = files if by_key is None else by_key
    for name in sorted({*files, *signed, *found}):
        if name not in found:
            yield Fact("verify.file_missing", file=name)
        elif name not in signed:
            yield Fact("verify.file_more", file=name)
        elif not found[name] == signed[name] == files.get(name):
            yield Fact("verify.file", file=name)


def faults_of_item(
    text: str, columns: ItemColumns, *, is_stated: bool, is_imported: bool = False
) -> Iterator[ReleaseFault]:
    """An item by itself; ``is_stated``: the release was made with an item that has this hash.

    In an imported release an item may have been taken over: it still says how it came about where
    it was made.
    """
    document = parsed(text)
    if text_sha256(text) != columns.sha256:
        yield ReleaseFault(columns.item_id, Fact("verify.content"))
    elif not is_stated:
        yield ReleaseFault(columns.item_id, Fact("verify.forged"))
    named = (document.get("item_id"), document.get("split"))
    # A list: the text of somebody else may have anything in this place.
    hows = [_how(document), *(["imported"] if is_imported else [])]
    if named != (columns.item_id, columns.split) or columns.how not in hows:
        yield ReleaseFault(columns.item_id, Fact("verify.columns"))


def faults_of_lines(lines: Iterable[bytes], hashes: Mapping[str, str]) -> Iterator[ReleaseFault]:
    """Lines of a file against the hashes by id."""
    waiting = dict(hashes)
    for number, line in enumerate(lines, start=1):
        item_id = parsed(line.decode("utf-8", "replace")).get("item_id")
        sha256 = hashlib.sha256(line).hexdigest()
        if not isinstance(item_id, str) or item_id not in hashes:
            yield ReleaseFault(f"line {number}", Fact("verify.extra_item"))
        elif waiting.pop(item_id, None) is None:
            yield ReleaseFault(item_id, Fact("verify.extra_item"))
        elif hashes[item_id] != sha256:
            yield ReleaseFault(item_id, Fact("verify.content"))
    for item_id in waiting:
        yield ReleaseFault(item_id, Fact("verify.missing_item"))


def _how(document: Mapping[str, Any]) -> Any:
    provenance = document.get("provenance")
    return provenance.get("how") if isinstance(provenance, Mapping) else None
