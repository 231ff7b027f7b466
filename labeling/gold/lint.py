"""What lint finds in labels that are to become gold, and what of it somebody accepts.

A release is looked at item by item while it is put together, so that what was looked at is what is
frozen.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from labeling.conversations import near_duplicates
from labeling.core import projects
from labeling.core.rules.reasons import reason_in
from labeling.domain.batches import batches
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.gold.releases import FrozenItem
from labeling.gold.rules.content import GoldContent
from labeling.gold.rules.lint import (
    KINDS,
    Copy,
    Finding,
    LintItem,
    PersonalData,
    Speakers,
    copy_of,
    decided_parts,
    in_two_splits,
    item_findings,
)
from labeling.gold.rules.statement import Waiver
from labeling.models import Conversation, GoldItem, Guideline, LintReport, Project, Reopening
from labeling.work import guidelines

CHUNK = 500
SAME = 0.99
"""The share of words in which copies are the same, but for a sign or two."""


class LintOpen(RuleError, code="lint_open"):
    """Lint found something that nobody has accepted."""

    def __init__(self, fact: Fact, findings: Findings, **details: Any) -> None:
        super().__init__(fact, details=details)
        self.findings = findings


class UnknownKind(RuleError, code="unknown_lint_kind"):
    """Lint has no such kind of finding."""


class WaiverWithoutReason(RuleError, code="waiver_without_reason"):
    """Who accepts findings says why."""


_detectors: list[PersonalData] = []


def register(personal_data: PersonalData) -> None:
    """Evaluation does so when it starts: labeling knows no detectors of personal data."""
    _detectors[:] = [personal_data]


# --- looking --------------------------------------------------------------------------------------


class Findings(NamedTuple):
    """What was found in so many items, each once."""

    rows: list[Finding]
    items: int = 0

    def of(self, kind: str) -> list[Finding]:
        return [row for row in self.rows if row.kind == kind]

    def counts(self) -> dict[str, int]:
        """How many there are of each kind that was found."""
        counted = Counter(row.kind for row in self.rows)
        return {kind: counted[kind] for kind in KINDS if counted[kind]}


def look(
    project: Project,
    layer: str,
    items: Iterable[tuple[int, GoldContent]],
    *,
    is_published: bool = False,
) -> Findings:
    """At the items of one release, each with the key of its conversation; some at a time."""
    newest = None if is_published else project.guidelines.defer("body").first()
    found: list[Finding] = []
    pairs: list[tuple[int, Finding]] = []
    speakers, here, number = Speakers(), set(), 0
    for some in batches((LintItem(*each) for each in items), CHUNK):
        for item in some:
            found += item_findings(item, *_detectors)
            speakers.add(item)
        number += len(some)
        here |= {item.conversation for item in some}
        pairs += _copies_of(project, some)
        if newest is not None:
            found += _superseded(project, some, newest)
    found += [pair for other, pair in pairs if other in here or pair.kind == "split_twice"]
    found += speakers.findings()
    found += [row for row in _reopened(project, layer) if row.conversation in here]
    return Findings(list(dict.fromkeys(found)), number)


def _copies_of(project: Project, items: Sequence[LintItem]) -> Iterator[tuple[int, Finding]]:
    """What else has these words: here, and elsewhere if it has another split."""
    by_key = {item.conversation: item for item in items}
    matches = [
        (by_key[pk], match)
        for pk, found in near_duplicates.of_conversations(by_key)
        for match in found
    ]
    known: dict[int, Conversation] = {}
    for part in batches(sorted({match.conversation for _, match in matches}), CHUNK):
        rows = Conversation.objects.only("external_id", "split", "project", "origin")
        known |= rows.in_bulk(part)
    for item, match in matches:
        other = known.get(match.conversation)
        if other is None:
            continue  # removed meanwhile
        if other.is_synthetic and "origin" in item.content:
            continue  # made from the same templates
        is_here = other.project_id == project.pk
        copy = Copy(other.pk, other.external_id, other.split, is_here, match.share >= SAME)
        if is_here or in_two_splits(item, copy):
            yield other.pk, copy_of(item, copy)


def _superseded(
    project: Project, items: Sequence[LintItem], newest: Guideline
) -> Iterator[Finding]:
    """Decided under older guidelines, or by answers that nobody has checked since."""
    unchecked = (
        guidelines.superseded(project, newest)
        .exclude(guideline_checks__guideline=newest, guideline_checks__stands=True)
        .filter(assignment__conversation__in=[item.conversation for item in items])
    )
    oldest: dict[tuple[int, int], int] = {}
    rows = unchecked.order_by().values_list(
        "assignment__conversation", "assignment__round__number", "guideline__version"
    )
    for conversation, number, version in rows.iterator(CHUNK):
        place = (conversation, number)
        oldest[place] = min(version, oldest.get(place, version))
    for item in items:
        version = _version_of(item, newest.version, oldest)
        if version < newest.version:
            versions = {"version": version, "newest": newest.version}
            yield item.finding("superseded", "lint.superseded", **versions)


def _reopened(project: Project, layer: str) -> Iterator[Finding]:
    unsettled = Reopening.objects.of_project(project).unsettled()
    rows = unsettled.filter(item__release__layer=layer).order_by("pk")
    for conversation, name in rows.values_list("item__conversation", "item__item_id"):
        yield Finding("open_dispute", Fact("lint.open_dispute", item=name), conversation)


def _version_of(item: LintItem, newest: int, oldest: Mapping[tuple[int, int], int]) -> int:
    """The oldest guidelines that the item's labels follow and nobody has checked them against."""
    provenance = item.content["provenance"]
    versions = [newest]
    for part in decided_parts(item.content):
        if part["adjudicated_by"]:
            versions.append(part["guideline_version"] or newest)
        elif provenance["round"] is not None:
            versions.append(oldest.get((item.conversation, provenance["round"]), newest))
    return min(versions)


# --- accepting ------------------------------------------------------------------------------------


def check(
    project: Project,
    layer: str,
    items: Iterable[FrozenItem],
    *,
    waive: Mapping[str, str],
    by: Any = None,
    is_published: bool = False,
) -> list[Waiver]:
    """Look at what is to be frozen, and say what the release says of what it has all the same.

    ``waive`` has the reasons for accepting whole kinds; those that stay as they were published
    need none. What a program labeled is not looked at.

    Raises
    ------
    LintOpen
        With everything that was found, so that it can be stored outside of the transaction.
    """
    for kind, reason in waive.items():
        check_kind(kind)
        if not reason_in(reason):
            raise WaiverWithoutReason("lint.no_reason")
    labeled = (item for item in items if item.how != GoldItem.How.GENERATED)
    contents = ((item.conversation_id, json.loads(item.canonical)) for item in labeled)
    findings = look(project, layer, contents, is_published=is_published)
    counts = findings.counts()
    others = {kind: number for kind, number in counts.items() if kind not in waive}
    stays = {kind for kind in others if is_published and KINDS[kind].stays_as_published}
    if still_open := {kind: number for kind, number in others.items() if kind not in stays}:
        raise LintOpen(_open_fact(still_open), findings, kinds=still_open, layer=layer)
    at = timezone.now().isoformat()
    accepted: list[Waiver] = [
        {
            "kind": kind,
            "findings": counts[kind],
            "reason": reason_in(reason),
            "by": by.get_username() if by else None,
            "at": at,
        }
        for kind, reason in waive.items()
        if kind in counts
    ]
    published: list[Waiver] = [
        {
            "kind": kind,
            "findings": number,
            "reason": None,
            "reason_code": "lint.stays_as_published",
            "by": None,
            "at": None,
        }
        for kind, number in others.items()
    ]
    return [*accepted, *published]


def check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise UnknownKind("lint.unknown_kind", kind=kind, kinds=list(KINDS))


def _open_fact(counts: Mapping[str, int]) -> Fact:
    kinds = [
        Fact("lint.count", kind=Fact(f"lint_kind.{kind}"), name=kind, number=number)
        for kind, number in counts.items()
    ]
    return Fact("gold.lint_open", number=sum(counts.values()), kinds=kinds)


# --- the last report ------------------------------------------------------------------------------


@transaction.atomic
def store(project: Project, layer: str, findings: Findings, *, by: Any = None) -> LintReport:
    """Keep what was found in place of the last report of this layer."""
    projects.lock(project)
    LintReport.objects.filter(project=project, layer=layer).delete()
    rows = [[row.kind, row.fact.as_json(), row.conversation] for row in findings.rows]
    return LintReport.objects.create(
        project=project, layer=layer, items=findings.items, by=by, findings=rows
    )


def report_of(project: Project, layer: str) -> LintReport | None:
    return LintReport.objects.filter(project=project, layer=layer).select_related("by").first()


def stored(report: LintReport | None) -> Findings:
    """What the report has."""
    rows = report.findings if report else []
    return Findings([Finding(kind, Fact.from_json(fact), place) for kind, fact, place in rows])
