"""Proving that a gold release is what was frozen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from labeling.domain.canonical import canonical_json
from labeling.domain.errors import NotCanonical
from labeling.domain.facts import Fact
from labeling.domain.gold import signatures
from labeling.domain.gold.content import GoldMessage
from labeling.domain.gold.normal import messages_in_normal_form
from labeling.domain.gold.release import release_sha256, text_sha256
from labeling.domain.gold.statement import FORMAT_1, FORMAT_2, parsed
from labeling.domain.gold.tree import Tree
from labeling.domain.matching.references import unresolved
from labeling.domain.schema import LAYERS
from labeling.domain.targets import END_TO_END
from labeling.models import Event, GoldItem, GoldRelease
from labeling.services.gold import signing
from labeling.services.gold.releases import messages_of, parent_row, written_time


class ReleaseFault(NamedTuple):
    """A change to a release since it was frozen; ``item_id`` "" means the release itself."""

    item_id: str
    fact: Fact


FREEZING = ("gold.frozen", "gold.imported", "gold.corrected")
AT_A_TIME = 100
"""How many items are in memory with their conversations."""


def verify(release: GoldRelease) -> list[ReleaseFault]:
    """Compare a release with what was signed and with the conversations; empty means intact."""
    return list(faults_of(release))


def faults_of(release: GoldRelease) -> Iterator[ReleaseFault]:
    """One fault after the other; memory does not grow with the release."""
    stated = parsed(release.header)
    format = str(stated.get("format", FORMAT_1))
    if format == FORMAT_2:
        facts = _faults_of_statement(release, stated)
        yield from (ReleaseFault("", fact) for fact in facts)
        yield from _faults_of_items(release, stated)
    elif format == FORMAT_1 and not (release.signature or release.public_key or release.meaning):
        yield from _faults_of_format_1(release, stated)
    else:
        yield ReleaseFault("", Fact("verify.format"))
    yield from (ReleaseFault("", fact) for fact in _faults_of_event(release))


# --- the statement --------------------------------------------------------------------------------


def _faults_of_statement(release: GoldRelease, stated: Mapping[str, Any]) -> Iterator[Fact]:
    if text_sha256(release.header) != release.sha256:
        yield Fact("verify.statement_hash")
    signed = signatures.is_signed(
        release.header, signature=release.signature, public_key=release.public_key
    )
    fingerprint = signatures.fingerprint(release.public_key)
    if not signed:
        yield Fact("verify.signature")
    elif fingerprint != stated.get("key"):
        yield Fact("verify.other_key")
    elif fingerprint not in signing.trusted():
        yield Fact("verify.unknown_key", key=fingerprint)
    yield from _faults_of_columns(_shown(release), stated)


def _faults_of_columns(shown: Mapping[str, Any], stated: Mapping[str, Any]) -> Iterator[Fact]:
    for column, value in shown.items():
        if column not in stated or not _is_same(value, stated[column]):
            yield Fact("verify.column", column=column)


def _shown(release: GoldRelease) -> dict[str, Any]:
    """What pages show of a release, by the names that the statement has for it."""
    return {
        "project": release.project.slug,
        "layer": release.layer,
        "name": release.name,
        "version": release.version,
        "meaning": release.meaning,
        "parent": parent_row(release.parent),
        "message": release.message,
        "guideline_version": release.guideline.version if release.guideline else None,
        "agreement": release.agreement,
        "overrides": release.overrides,
        "left_out": release.left_out,
        "waivers": release.waivers,
        "frozen_by": release.frozen_by.get_username() if release.frozen_by else None,
        "frozen_at": written_time(release.frozen_at),
    }


def _is_same(value: Any, stated: Any) -> bool:
    """Whether both are written alike: databases keep 1.0 and 1 differently."""
    try:
        return canonical_json(value) == canonical_json(stated)
    except NotCanonical:
        return False


def _faults_of_guidelines(release: GoldRelease, stated: Mapping[str, Any]) -> Iterator[Fact]:
    texts = dict(release.project.guidelines.values_list("version", "body"))
    for row in stated.get("guidelines", []):
        if texts.get(row["version"]) != row["body"]:
            yield Fact("verify.guideline", version=row["version"])


def _faults_of_event(release: GoldRelease) -> Iterator[Fact]:
    """The audit log has the hash as well, written when the release was frozen."""
    events = Event.objects.filter(
        verb__in=FREEZING, object_type="goldrelease", object_id=str(release.pk)
    )
    hashes = [event.data.get("sha256") for event in events]
    if not hashes:
        yield Fact("verify.no_event")
    elif set(hashes) != {release.sha256}:
        yield Fact("verify.event_hash")


# --- its items ------------------------------------------------------------------------------------


def _faults_of_items(release: GoldRelease, stated: Mapping[str, Any]) -> Iterator[ReleaseFault]:
    tree, counted = Tree(), {"synthetic": 0, "generated": 0}
    for item in _items(release):
        tree.add(item.sha256)
        counted["synthetic"] += item.conversation.is_synthetic
        counted["generated"] += item.how == GoldItem.How.GENERATED
        yield from _item_faults(item)
    if (tree.size, tree.root) != (stated.get("items"), stated.get("root")):
        yield ReleaseFault("", Fact("verify.tree", items=tree.size))
    for name, number in counted.items():
        if number != stated.get(name, 0):
            yield ReleaseFault("", Fact("verify.column", column=name))
    for fact in _faults_of_guidelines(release, stated):
        yield ReleaseFault("", fact)


def _faults_of_format_1(release: GoldRelease, header: Mapping[str, Any]) -> Iterator[ReleaseFault]:
    """The rule of format 1: a hash over the header and the hashes of the items in order."""
    hashes = []
    for item in _items(release):
        hashes.append(item.sha256)
        yield from _item_faults(item)
    if release_sha256(header, hashes) != release.sha256:
        yield ReleaseFault("", Fact("verify.release_hash"))
    shown = _shown(release)
    parent = shown["parent"]
    shown |= {"parent_sha256": parent["sha256"] if parent else None, "items": len(hashes)}
    present = {column: value for column, value in shown.items() if column in header}
    if not header.get("message"):  # an import without a message was shown with one
        present.pop("message", None)
    for fact in _faults_of_columns(present, header):
        yield ReleaseFault("", fact)
    if not {"name", "version", "layer"} <= header.keys():
        yield ReleaseFault("", Fact("verify.header"))


def _items(release: GoldRelease) -> Iterator[GoldItem]:
    items = release.items.select_related("conversation").prefetch_related("conversation__messages")
    return items.iterator(chunk_size=AT_A_TIME)


def _item_faults(item: GoldItem) -> Iterator[ReleaseFault]:
    document = parsed(item.canonical)
    if text_sha256(item.canonical) != item.sha256:
        yield ReleaseFault(item.item_id, Fact("verify.content"))
    named = (document.get("item_id"), document.get("split"), _how(document))
    if named != (item.item_id, item.split, item.how):
        yield ReleaseFault(item.item_id, Fact("verify.columns"))
    if not _is_said(document.get("conversation"), messages_of(item.conversation)):
        yield ReleaseFault(item.item_id, Fact("verify.conversation"))
    if lost := _lost_references(document):
        yield ReleaseFault(item.item_id, Fact("verify.lost_reference", lost=lost[0]))


def _is_said(frozen: Any, messages: list[GoldMessage]) -> bool:
    """Items are in normal form; those of format 1 hold the messages as they are."""
    return frozen == messages or frozen == messages_in_normal_form(messages)


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
