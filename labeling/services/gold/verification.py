"""Proving that a gold release is what was frozen."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from labeling.domain.facts import Fact
from labeling.domain.gold.release import release_sha256
from labeling.domain.matching.references import unresolved
from labeling.domain.schema import LAYERS
from labeling.domain.targets import END_TO_END
from labeling.models import GoldItem, GoldRelease
from labeling.services.gold.releases import messages_of


class ReleaseFault(NamedTuple):
    """A change to a release since it was frozen; ``item_id`` "" means the release itself."""

    item_id: str
    fact: Fact


def verify(release: GoldRelease) -> list[ReleaseFault]:
    """Compare a release with its hashes and with the conversations; empty means intact."""
    faults: list[ReleaseFault] = []
    hashes = []
    items = release.items.select_related("conversation").prefetch_related("conversation__messages")
    for item in items.iterator(chunk_size=500):
        hashes.append(item.sha256)
        faults += _item_faults(item)
    expected = release_sha256(_header(release, faults), hashes)
    if expected != release.sha256:
        faults.append(ReleaseFault("", Fact("verify.release_hash")))
    return faults


def _header(release: GoldRelease, faults: list[ReleaseFault]) -> Mapping[str, Any]:
    header = _parsed(release.header)
    named = {"name": release.name, "version": release.version, "layer": release.layer}
    if any(header.get(key) != value for key, value in named.items()):
        faults.append(ReleaseFault("", Fact("verify.header")))
    return header


def _item_faults(item: GoldItem) -> Iterator[ReleaseFault]:
    document = _parsed(item.canonical)
    if _text_sha256(item.canonical) != item.sha256:
        yield ReleaseFault(item.item_id, Fact("verify.content"))
    named = (document.get("item_id"), document.get("split"), _how(document))
    if named != (item.item_id, item.split, item.how):
        yield ReleaseFault(item.item_id, Fact("verify.columns"))
    if document.get("conversation") != messages_of(item.conversation):
        yield ReleaseFault(item.item_id, Fact("verify.conversation"))
    if lost := _lost_references(document):
        yield ReleaseFault(item.item_id, Fact("verify.lost_reference", lost=lost[0]))


def _lost_references(document: Mapping[str, Any]) -> list[str]:
    """Uids that labels refer to but the item lacks. Only items made here are complete."""
    gold, base = document.get("gold", {}), document.get("given", {})
    if not base and document.get("layer") != END_TO_END:
        return []
    known = [label["uid"] for labels in [*gold.values(), *base.values()] for label in labels]
    layers = [name for name, layer in LAYERS.items() if layer.key in gold]
    return [uid for name in layers for uid in unresolved(name, gold[LAYERS[name].key], known)]


def _how(document: Mapping[str, Any]) -> Any:
    return document.get("provenance", {}).get("how")


def _parsed(text: str) -> Mapping[str, Any]:
    """The document, or an empty one where the text is no longer JSON."""
    try:
        document = json.loads(text)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _text_sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
