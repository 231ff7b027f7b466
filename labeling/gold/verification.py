"""Proving that a gold release is what was frozen, and that a project holds what its log says."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from labeling.core import audit
from labeling.domain.canonical import canonical_json
from labeling.domain.errors import NotCanonical, RuleError
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.gold import held, signing
from labeling.gold.releases import messages_of, shown
from labeling.gold.rules import older, statement
from labeling.gold.rules.content import GoldMessage
from labeling.gold.rules.normal import messages_in_normal_form
from labeling.gold.rules.proofs import ItemColumns, ReleaseFault, faults_of_files, faults_of_item
from labeling.gold.rules.release import text_sha256
from labeling.gold.rules.signatures import fingerprint
from labeling.models import Event, GoldItem, GoldRelease, Project

AT_A_TIME = 100
"""How many items are in memory with their conversations."""

AT_ONCE = 1000
"""Items that are verified while somebody waits, for a second or two; the command takes any."""


class TooLarge(RuleError, code="too_large_to_verify"):
    """Nobody waits for so many items."""


def verify(release: GoldRelease) -> list[ReleaseFault]:
    """Compare a release with what was signed and with the conversations; empty means intact."""
    return list(faults_of(release))


def verify_at_once(release: GoldRelease) -> list[ReleaseFault]:
    """The same for who waits for it."""
    if release.items.count() > AT_ONCE:
        raise TooLarge(
            msgid("{release} has more than {most:d} items: the command assay verify checks it."),
            release=str(release),
            most=AT_ONCE,
        )
    return verify(release)


def faults_of_project(project: Project) -> Iterator[ReleaseFault]:
    """What the rows of a project do not say as its audit log does, and what the log itself lost."""
    for faults in held.CHECKS:
        yield from (ReleaseFault("", fact) for fact in faults(project))
    for release in project.gold_releases.order_by("-pk"):
        stated = statement.parsed(release.header)
        if stated.get("format") == statement.FORMAT_3:
            found = list(audit.faults(project, stated.get("events")))
            yield from (ReleaseFault("", fact) for fact in found)
            if not found:
                return  # it covers all that the releases before it do


def faults_of(
    release: GoldRelease, *, trusted: Collection[str] | None = None
) -> Iterator[ReleaseFault]:
    """One fault after the other; memory does not grow with the conversations.

    ``trusted`` are the fingerprints of the keys that may have signed it, by default those that
    this installation trusts.
    """
    stated = statement.parsed(release.header)
    format_ = stated.get("format")
    if format_ not in (statement.FORMAT_2, statement.FORMAT_3):
        is_old = "name" in stated and "format" not in stated  # made before version 0.1.0
        yield ReleaseFault("", Fact("verify.unsigned" if is_old else "verify.format"))
        if not stated:
            return
    else:
        proof = _signed if format_ == statement.FORMAT_3 else _signed_before
        yield from proof(release, stated, trusted or signing.trusted())
        yield from _release(_faults_of_columns(shown(release), stated))
        yield from _release(_faults_of_guidelines(release, stated))
    yield from _release(_faults_of_event(release))


# --- releases of this version ---------------------------------------------------------------------


def _signed(
    release: GoldRelease, stated: Mapping[str, Any], trusted: Collection[str]
) -> Iterator[ReleaseFault]:
    key = fingerprint(release.public_key)
    if text_sha256(release.header) != release.sha256:
        yield ReleaseFault("", Fact("verify.statement_hash"))
    if key and key not in trusted:
        yield ReleaseFault("", Fact("verify.unknown_key", key=key))
    found = {
        statement.MANIFEST_FILE: text_sha256(release.header),
        statement.LISTING_FILE: text_sha256(release.listing),
        statement.KEY_FILE: text_sha256(release.public_key),
        statement.ITEMS_FILE: statement.lines_sha256(_texts(release)),
    }
    if release.guideline:
        found[statement.GUIDELINES_FILE] = text_sha256(release.guideline.body)
    yield from _release(faults_of_files(stated, found, release.signature, release.public_key))
    hashes = statement.listed(release.listing)
    yield from _faults_of_items(release, stated, hashes)
    there = set(release.items.values_list("item_id", flat=True))
    for item_id in sorted(hashes.keys() - there):
        yield ReleaseFault(item_id, Fact("verify.missing_item"))
    yield from _release(audit.faults(release.project, stated.get("events")))


def _texts(release: GoldRelease) -> Iterator[str]:
    return release.items.values_list("canonical", flat=True).iterator(chunk_size=AT_A_TIME)


def _signed_before(
    release: GoldRelease, stated: Mapping[str, Any], trusted: Collection[str]
) -> Iterator[ReleaseFault]:
    """Of version 0.3: the root in the statement covers all items."""
    signed = older.Signed(release.header, release.sha256, release.signature, release.public_key)
    hashes = dict(release.items.order_by("position").values_list("item_id", "sha256"))
    yield from _release(signed.faults(list(hashes.values())))
    key = older.fingerprint(release.public_key)
    if key not in trusted:
        yield ReleaseFault("", Fact("verify.unknown_key", key=key))
    yield from _faults_of_items(release, stated, hashes)


# --- what all of them satisfy ---------------------------------------------------------------------


def _release(facts: Iterator[Fact]) -> Iterator[ReleaseFault]:
    return (ReleaseFault("", fact) for fact in facts)


def _faults_of_columns(now: Mapping[str, Any], stated: Mapping[str, Any]) -> Iterator[Fact]:
    for column, value in now.items():
        if column not in stated or not _is_same(value, stated[column]):
            yield Fact("verify.column", column=column)


def _is_same(value: Any, stated: Any) -> bool:
    """Whether both are written alike: databases keep 1.0 and 1 differently."""
    try:
        return canonical_json(value) == canonical_json(stated)
    except (NotCanonical, RecursionError):
        return False


def _faults_of_guidelines(release: GoldRelease, stated: Mapping[str, Any]) -> Iterator[Fact]:
    if release.guideline and release.guideline.project_id != release.project_id:
        yield Fact("verify.guideline", version=release.guideline.version)
    stored = dict(release.project.guidelines.values_list("version", "body"))
    for version, body in statement.guideline_texts(stated).items():
        if stored.get(version) != body:
            yield Fact("verify.guideline", version=version)


def _faults_of_event(release: GoldRelease) -> Iterator[Fact]:
    """The audit log has the hash as well."""
    events = Event.objects.filter(
        verb__in=held.FREEZING, object_type="goldrelease", object_id=str(release.pk)
    )
    hashes = {event.data.get("sha256") for event in events}
    if not hashes:
        yield Fact("verify.no_event")
    elif hashes != {release.sha256}:
        yield Fact("verify.event_hash")


def _faults_of_items(
    release: GoldRelease, stated: Mapping[str, Any], hashes: Mapping[str, str]
) -> Iterator[ReleaseFault]:
    counted = {"synthetic": 0, "generated": 0, "items": 0}
    is_imported = release.is_imported
    items = release.items.select_related("conversation__transcript")
    for item in items.iterator(chunk_size=AT_A_TIME):
        counted["items"] += 1
        counted["synthetic"] += item.conversation.is_synthetic
        counted["generated"] += item.how == GoldItem.How.GENERATED
        columns = ItemColumns(item.item_id, item.split, item.how, item.sha256)
        is_stated = hashes.get(item.item_id) == item.sha256
        yield from faults_of_item(
            item.canonical, columns, is_stated=is_stated, is_imported=is_imported
        )
        frozen = statement.parsed(item.canonical).get("conversation")
        is_of_project = item.conversation.project_id == release.project_id
        if not is_of_project or not _is_said(frozen, messages_of(item.conversation)):
            yield ReleaseFault(item.item_id, Fact("verify.conversation"))
    for name, number in counted.items():
        if number != stated.get(name, 0):
            yield ReleaseFault("", Fact("verify.column", column=name))


def _is_said(frozen: Any, messages: list[GoldMessage]) -> bool:
    """Items are in normal form; those of format 1 hold the messages as they are."""
    return frozen == messages or frozen == messages_in_normal_form(messages)
