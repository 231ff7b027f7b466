"""What the items of a release must satisfy, wherever they are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from labeling.agreement.matching.references import unresolved
from labeling.domain.facts import Fact
from labeling.gold.rules.release import text_sha256
from labeling.gold.rules.statement import parsed
from labeling.schema import LAYERS
from labeling.schema.targets import END_TO_END


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
    try:
        lost = _lost_references(document)
    except (AttributeError, KeyError, TypeError):  # a file of somebody else may hold anything
        yield ReleaseFault(columns.item_id, Fact("verify.malformed"))
    else:
        if lost:
            yield ReleaseFault(columns.item_id, Fact("verify.lost_reference", lost=lost[0]))


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


def _lost_references(document: Mapping[str, Any]) -> list[str]:
    """Uids that labels refer to but the item lacks. Only items made here are complete."""
    gold, base = document.get("gold", {}), document.get("given", {})
    if not base and document.get("layer") != END_TO_END:
        return []
    known = [label["uid"] for labels in [*gold.values(), *base.values()] for label in labels]
    layers = [name for name, layer in LAYERS.items() if layer.key in gold]
    return [uid for name in layers for uid in unresolved(name, gold[LAYERS[name].key], known)]


def _how(document: Mapping[str, Any]) -> Any:
    provenance = document.get("provenance")
    return provenance.get("how") if isinstance(provenance, Mapping) else None
