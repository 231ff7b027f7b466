"""Proving that a gold release is what was frozen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from django.db.models import Q

from labeling.domain.canonical import canonical_json
from labeling.domain.errors import NotCanonical, RuleError
from labeling.domain.facts import Fact
from labeling.domain.gold.content import GoldMessage
from labeling.domain.gold.normal import messages_in_normal_form
from labeling.domain.gold.proofs import (
    ItemColumns,
    ReleaseFault,
    SignedStatement,
    faults_of_item,
)
from labeling.domain.gold.release import is_release_sha256
from labeling.domain.gold.signatures import Checker
from labeling.domain.gold.statement import FORMAT_1, FORMAT_2, guideline_texts, parsed
from labeling.domain.gold.tree import Tree
from labeling.models import Event, GoldItem, GoldRelease, ReleaseCheck
from labeling.services import audit_chain
from labeling.services.gold import signing
from labeling.services.gold.releases import messages_of, parent_row, written_time
from labeling.services.wakeups import wake

FREEZING = ("gold.frozen", "gold.imported", "gold.corrected")
AT_A_TIME = 100
"""How many items are in memory with their conversations."""


AT_ONCE = 1000
"""Items that a page verifies while the reader waits, for a second or two; more are for a worker."""

KEPT = 20
"""Faults that are shown on the page; the command names all of them."""


def verify(release: GoldRelease) -> list[ReleaseFault]:
    """Compare a release with what was signed and with the conversations; empty means intact."""
    return list(faults_of(release))


def check(
    release: GoldRelease,
    *,
    by: Any = None,
    report: Callable[[ReleaseFault], object] = lambda fault: None,
) -> ReleaseCheck:
    """Verify a release, and keep when that was and what came of it; each fault is reported."""
    n_faults, kept = 0, []
    for fault in faults_of(release):
        n_faults += 1
        report(fault)
        if n_faults <= KEPT:
            kept.append({"item_id": fault.item_id, "fact": fault.fact.as_json()})
    return ReleaseCheck.objects.create(release=release, by=by, n_faults=n_faults, faults=kept)


class NoWorker(RuleError):
    """No worker can be reached."""

    code = "no_worker"


def request_check(release: GoldRelease) -> bool:
    """Have a worker verify a large release; False if the queue cannot be reached."""
    return wake("labeling.tasks.verify_gold", release.pk)


def faults_of(
    release: GoldRelease, *, trusted: Collection[str] | None = None
) -> Iterator[ReleaseFault]:
    """One fault after the other; memory does not grow with the release.

    ``trusted`` are the fingerprints of the keys that may have signed it, by default those that
    this installation trusts. Who names keys expects a signature, which format 1 does not have.
    """
    stated = parsed(release.header)
    format = str(stated.get("format", FORMAT_1))
    if format == FORMAT_2:
        facts = _faults_of_statement(release, stated, trusted or signing.trusted())
        yield from (ReleaseFault("", fact) for fact in facts)
        yield from _faults_of_items(release, stated)
    elif format == FORMAT_1 and not (release.signature or release.public_key or release.meaning):
        if trusted is not None:
            yield ReleaseFault("", Fact("verify.not_signed"))
        if _follows_signed(release):
            yield ReleaseFault("", Fact("verify.format"))
        yield from _faults_of_format_1(release, stated)
    else:
        yield ReleaseFault("", Fact("verify.format"))
    yield from (ReleaseFault("", fact) for fact in _faults_of_log(release, stated))


def _follows_signed(release: GoldRelease) -> bool:
    """Whether a release before it is of format 2: since the first of them, all are signed."""
    before = Q(pk__lt=release.pk) | Q(pk=release.parent_id)
    is_signed = Q(header__contains=f'"format":"{FORMAT_2}"') | ~Q(signature="")
    return GoldRelease.objects.filter(before, is_signed).exclude(pk=release.pk).exists()


# --- the statement --------------------------------------------------------------------------------


def _faults_of_statement(
    release: GoldRelease, stated: Mapping[str, Any], trusted: Collection[str]
) -> Iterator[Fact]:
    signed = SignedStatement(release.header, release.sha256, release.signature, release.public_key)
    yield from signed.faults(trusted=trusted)
    yield from _faults_of_columns(_shown(release), stated)
    yield from _faults_of_guidelines(release, stated)


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
    except (NotCanonical, RecursionError):
        return False


def _faults_of_guidelines(release: GoldRelease, stated: Mapping[str, Any]) -> Iterator[Fact]:
    if release.guideline and release.guideline.project_id != release.project_id:
        yield Fact("verify.guideline", version=release.guideline.version)
    stored = dict(release.project.guidelines.values_list("version", "body"))
    for version, body in guideline_texts(stated).items():
        if stored.get(version) != body:
            yield Fact("verify.guideline", version=version)


def _faults_of_log(release: GoldRelease, stated: Mapping[str, Any]) -> Iterator[Fact]:
    """The audit log has the hash as well, and the statement has the end of the log before.

    ``verify_log`` reads the whole chain; here it is the links that this release depends on.
    """
    events = Event.objects.filter(
        verb__in=FREEZING, object_type="goldrelease", object_id=str(release.pk)
    )
    hashes = [event.data.get("sha256") for event in events]
    if not hashes:
        yield Fact("verify.no_event")
    elif set(hashes) != {release.sha256}:
        yield Fact("verify.event_hash")
    for event in events:
        yield from audit_chain.faults_about(event)
    if stated.get("audit_head") and not _has_head(stated["audit_head"]):
        yield Fact("verify.audit_head")


def _has_head(head: Any) -> bool:
    try:
        return audit_chain.has_head(head)
    except (KeyError, TypeError, ValueError):  # a forged statement may hold anything
        return False


# --- its items ------------------------------------------------------------------------------------


def _faults_of_items(release: GoldRelease, stated: Mapping[str, Any]) -> Iterator[ReleaseFault]:
    tree, counted = Tree(), {"synthetic": 0, "generated": 0}
    checker = Checker(release.public_key)
    for item in _items(release):
        tree.add(item.sha256)
        counted["synthetic"] += item.conversation.is_synthetic
        counted["generated"] += item.how == GoldItem.How.GENERATED
        yield from _item_faults(item, checker)
    if (tree.size, tree.root) != (stated.get("items"), stated.get("root")):
        yield ReleaseFault("", Fact("verify.tree", items=tree.size))
    for name, number in counted.items():
        if number != stated.get(name, 0):
            yield ReleaseFault("", Fact("verify.column", column=name))


def _faults_of_format_1(release: GoldRelease, header: Mapping[str, Any]) -> Iterator[ReleaseFault]:
    """The rule of format 1: a hash over the header and the hashes of the items in order."""
    hashes = []
    for item in _items(release):
        hashes.append(item.sha256)
        yield from _item_faults(item, None)
    if not is_release_sha256(release.sha256, header, hashes):
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
    items = release.items.select_related("conversation__transcript")
    return items.iterator(chunk_size=AT_A_TIME)


def _item_faults(item: GoldItem, checker: Checker | None) -> Iterator[ReleaseFault]:
    columns = ItemColumns(item.item_id, item.split, item.how, item.sha256, item.signature)
    is_imported = item.release.is_imported
    yield from faults_of_item(item.canonical, columns, checker=checker, is_imported=is_imported)
    frozen = parsed(item.canonical).get("conversation")
    is_of_project = item.conversation.project_id == item.release.project_id
    if not is_of_project or not _is_said(frozen, messages_of(item.conversation)):
        yield ReleaseFault(item.item_id, Fact("verify.conversation"))


def _is_said(frozen: Any, messages: list[GoldMessage]) -> bool:
    """Items are in normal form; those of format 1 hold the messages as they are."""
    return frozen == messages or frozen == messages_in_normal_form(messages)
