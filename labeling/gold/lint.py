"""What lint finds in labels that are to become gold, and which of it somebody has accepted.

A release is looked at item by item while it is put together, so that what was looked at is what is
frozen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F, QuerySet

from labeling.conversations import near_duplicates
from labeling.core import events, projects
from labeling.core.rules.reasons import reason_in
from labeling.domain.batches import batches
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.gold.rules.content import GoldContent
from labeling.gold.rules.lint import (
    KINDS,
    Copy,
    Finding,
    LintItem,
    LintName,
    PersonalData,
    Speakers,
    copy_of,
    decided_parts,
    finding,
    in_two_splits,
    item_findings,
)
from labeling.gold.rules.statement import Waiver
from labeling.models import (
    Conversation,
    Guideline,
    LintFinding,
    LintReport,
    LintWaiver,
    Project,
    Reopening,
)
from labeling.work import guidelines

CHUNK = 500
SAME = 0.99
"""The share of words in which copies are the same, but for a sign or two."""


class LintOpen(RuleError):
    """Lint found something that nobody has accepted."""

    code = "lint_open"

    def __init__(self, fact: Fact, findings: Findings, **details: Any) -> None:
        super().__init__(fact, details=details)
        self.findings = findings


class UnknownKind(RuleError):
    """Lint has no such kind of finding."""

    code = "unknown_lint_kind"


class NothingToWaive(RuleError):
    """No open finding of this kind, or no waiver that could be withdrawn."""

    code = "nothing_to_waive"


class WaiverWithoutReason(RuleError):
    """A waiver says why."""

    code = "waiver_without_reason"


# --- what other parts of the product know ---------------------------------------------------------


_detectors: list[PersonalData] = []


def register(personal_data: PersonalData) -> None:
    """Evaluation does so when it starts: labeling knows no detectors of personal data."""
    _detectors[:] = [personal_data]


# --- looking --------------------------------------------------------------------------------------


class Findings:
    """What was found, each once, by key."""

    def __init__(self, *, is_published: bool = False) -> None:
        self.is_published = is_published
        self.items = 0
        self.by_key: dict[str, Finding] = {}

    def add(self, found: Iterable[Finding]) -> None:
        for each in found:
            self.by_key.setdefault(each.key, each)

    def first_of(self, kind: str, most: int) -> list[Fact]:
        rows = (row for row in self.by_key.values() if row.kind == kind)
        return [row.fact for row in islice(rows, most)]


class Linter:
    """Looks at the items of one release, one after the other."""

    def __init__(
        self,
        project: Project,
        layer: str,
        *,
        is_published: bool = False,
    ) -> None:
        self.project, self.layer = project, layer
        self.is_published = is_published
        self._newest = None if is_published else project.guidelines.defer("body").first()
        self._findings = Findings(is_published=is_published)
        self._speakers = Speakers()
        self._waiting: list[LintItem] = []
        self._copies: list[tuple[LintName, Copy]] = []
        self._conversations: set[int] = set()

    def look(self, conversation: int, content: GoldContent) -> None:
        item = LintItem(conversation, content)
        self._findings.items += 1
        self._conversations.add(conversation)
        self._findings.add(item_findings(item, *_detectors))
        self._speakers.add(item)
        self._waiting.append(item)
        if len(self._waiting) >= CHUNK:
            self._look_up()

    def findings(self) -> Findings:
        """Everything, once the last item was looked at."""
        self._look_up()
        self._findings.add(
            copy_of(item, copy)
            for item, copy in self._copies
            if copy.conversation in self._conversations or in_two_splits(item, copy)
        )
        self._findings.add(self._speakers.findings())
        reopened = _reopened(self.project, self.layer)
        self._findings.add(row for row in reopened if row.conversation in self._conversations)
        return self._findings

    def _look_up(self) -> None:
        """What rows say about the items that wait, in one query each."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._copies += self._copies_of(waiting)
        if waiting and self._newest is not None:
            self._findings.add(self._superseded(waiting, self._newest))

    def _copies_of(self, items: Sequence[LintItem]) -> Iterator[tuple[LintName, Copy]]:
        """What else has these words: here, and elsewhere if it has another split."""
        names = {item.conversation: item.label for item in items}
        synthetic = {item.conversation for item in items if "origin" in item.content}
        matches = [
            (names[pk], match)
            for pk, found in near_duplicates.of_conversations(names)
            for match in found
        ]
        others = {match.conversation for _, match in matches}
        known: dict[int, Conversation] = {}
        for part in batches(sorted(others), CHUNK):
            rows = Conversation.objects.only("external_id", "split", "project", "origin")
            known |= rows.in_bulk(part)
        for item, match in matches:
            other = known.get(match.conversation)
            if other is None:
                continue  # removed meanwhile
            if other.is_synthetic and item.conversation in synthetic:
                continue  # made from the same templates
            is_here = other.project_id == self.project.pk
            copy = Copy(other.pk, other.external_id, other.split, is_here, match.share >= SAME)
            if is_here or in_two_splits(item, copy):
                yield item, copy

    def _superseded(self, items: Sequence[LintItem], newest: Guideline) -> Iterator[Finding]:
        """Decided under older guidelines, or by answers that nobody has checked since."""
        unchecked = (
            guidelines.superseded(self.project, newest)
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
                fact = Fact(
                    "lint.superseded", item=item.name, version=version, newest=newest.version
                )
                yield finding(
                    "superseded",
                    [item.name, version, newest.version],
                    fact,
                    conversation=item.conversation,
                )


def _reopened(project: Project, layer: str) -> Iterator[Finding]:
    unsettled = Reopening.objects.of_project(project).unsettled()
    rows = unsettled.filter(item__release__layer=layer).order_by("pk")
    named = rows.values_list("pk", "item__conversation", "item__item_id")
    for pk, conversation, name in named.iterator(CHUNK):
        fact = Fact("lint.open_dispute", item=name)
        yield finding("open_dispute", [pk], fact, conversation=conversation)


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


# --- waivers --------------------------------------------------------------------------------------


def active_waivers(project: Project, layer: str) -> QuerySet[LintWaiver]:
    return LintWaiver.objects.filter(
        project=project, layer=layer, withdraws=None, withdrawn_by=None
    )


def check(
    findings: Findings, project: Project, layer: str, *, waive: Mapping[str, str] | None = None
) -> None:
    """Refuse what nobody has accepted; ``waive`` has reasons for accepting whole kinds.

    Raises
    ------
    LintOpen
        With everything that was found, so that it can be stored outside of the transaction.
    """
    for kind, reason in (waive or {}).items():
        check_kind(kind)
        if not reason_in(reason):
            raise WaiverWithoutReason("lint.no_reason")
    counts = _open_counts(findings, covered(project, layer))
    counts = {kind: number for kind, number in counts.items() if kind not in (waive or {})}
    if counts:
        raise LintOpen(_open_fact(counts), findings, kinds=counts, layer=layer)


def settle(
    findings: Findings,
    project: Project,
    layer: str,
    *,
    waive: Mapping[str, str] | None = None,
    by: Any = None,
) -> list[Waiver]:
    """What the release says of its waivers; refuses as :func:`check` does, and stores ``waive``."""
    check(findings, project, layer, waive=waive)
    covering = covered(project, layer)
    for kind, reason in (waive or {}).items():
        rows = findings.by_key.items()
        keys = [key for key, row in rows if row.kind == kind and key not in covering]
        if keys:
            _store_waiver(project, layer, kind, keys, reason=reason, by=by)
    return _stated(findings, covered(project, layer))


def covered(project: Project, layer: str) -> dict[str, LintWaiver]:
    """By the key of a finding, the waiver that covers it."""
    waivers = active_waivers(project, layer).select_related("by").order_by("pk")
    return {key: waiver for waiver in waivers.iterator(100) for key in waiver.keys}


def _open_counts(findings: Findings, covering: Mapping[str, LintWaiver]) -> dict[str, int]:
    counted = Counter(row.kind for key, row in findings.by_key.items() if key not in covering)
    return {
        name: counted[name]
        for name, kind in KINDS.items()
        if counted[name] and not (findings.is_published and kind.stays_as_published)
    }


def _open_fact(counts: Mapping[str, int]) -> Fact:
    kinds = [
        Fact("lint.count", kind=Fact(f"lint_kind.{kind}"), name=kind, number=number)
        for kind, number in counts.items()
    ]
    return Fact("gold.lint_open", number=sum(counts.values()), kinds=kinds)


def _stated(findings: Findings, covering: Mapping[str, LintWaiver]) -> list[Waiver]:
    """A row for each waiver that covers something here, and for what stays as it was published."""
    used: Counter[LintWaiver] = Counter()
    published: Counter[str] = Counter()
    for key, row in findings.by_key.items():
        if key in covering:
            used[covering[key]] += 1
        else:
            published[row.kind] += 1
    stated: list[Waiver] = [
        {
            "kind": waiver.kind,
            "findings": number,
            "reason": waiver.reason,
            "by": waiver.by.get_username() if waiver.by else None,
            "at": waiver.at.isoformat(),
        }
        for waiver, number in sorted(used.items(), key=lambda pair: pair[0].pk)
    ]
    for kind in KINDS:
        if published[kind]:
            stated.append(
                {
                    "kind": kind,
                    "findings": published[kind],
                    "reason": None,
                    "reason_code": "lint.stays_as_published",
                    "by": None,
                    "at": None,
                }
            )
    return stated


def check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise UnknownKind("lint.unknown_kind", kind=kind, kinds=list(KINDS))


def _store_waiver(
    project: Project, layer: str, kind: str, keys: Sequence[str], *, reason: str, by: Any
) -> LintWaiver:
    reason = reason_in(reason)
    if not reason:
        raise WaiverWithoutReason("lint.no_reason")
    waiver = LintWaiver.objects.create(
        project=project,
        layer=layer,
        kind=kind,
        keys=list(keys),
        number=len(keys),
        reason=reason,
        by=by,
    )
    events.record(
        "gold.lint_waived",
        waiver,
        project=project,
        actor=by,
        layer=layer,
        kind=kind,
        what=Fact(f"lint_kind.{kind}").as_json(),
        findings=len(keys),
        reason=reason,
    )
    return waiver


@transaction.atomic
def waive(
    project: Project, layer: str, kind: str, *, reason: str, by: Any, key: str = ""
) -> LintWaiver:
    """Accept what is open now of a kind, or one finding; what is found later asks again."""
    check_kind(kind)
    projects.lock(project)
    rows = LintFinding.objects.filter(report__project=project, report__layer=layer, kind=kind)
    found = (rows.filter(key=key) if key else rows).order_by("pk").values_list("key", flat=True)
    covering = covered(project, layer)
    keys = [each for each in found if each not in covering]
    if not keys:
        raise NothingToWaive("lint.nothing_open", kind=Fact(f"lint_kind.{kind}"))
    return _store_waiver(project, layer, kind, keys, reason=reason, by=by)


@transaction.atomic
def withdraw(waiver: LintWaiver, *, reason: str, by: Any) -> LintWaiver:
    """End a waiver: what it covered is open again. Releases that state it do not change."""
    projects.lock(waiver.project)
    if waiver.withdraws_id or LintWaiver.objects.filter(withdraws=waiver).exists():
        raise NothingToWaive("lint.withdrawn_already")
    reason = reason_in(reason)
    if not reason:
        raise WaiverWithoutReason("lint.no_reason")
    ended = LintWaiver.objects.create(
        project=waiver.project,
        layer=waiver.layer,
        kind=waiver.kind,
        number=waiver.number,
        reason=reason,
        withdraws=waiver,
        by=by,
    )
    events.record(
        "gold.lint_waiver_withdrawn",
        waiver,
        project=waiver.project,
        actor=by,
        layer=waiver.layer,
        kind=waiver.kind,
        what=Fact(f"lint_kind.{waiver.kind}").as_json(),
        findings=waiver.number,
        reason=reason,
    )
    return ended


# --- reports --------------------------------------------------------------------------------------


@transaction.atomic
def store(project: Project, layer: str, findings: Findings, *, by: Any = None) -> LintReport:
    """Keep what was found in place of the last report of this layer."""
    projects.lock(project)
    LintReport.objects.filter(project=project, layer=layer).delete()
    report = LintReport.objects.create(project=project, layer=layer, items=findings.items, by=by)
    LintFinding.objects.bulk_create(
        (
            LintFinding(
                report=report,
                kind=row.kind,
                key=key,
                fact=row.fact,
                conversation_id=row.conversation,
                other_id=row.other,
            )
            for key, row in findings.by_key.items()
        ),
        batch_size=CHUNK,
    )
    return report


class KindCount(NamedTuple):
    """How many findings of a kind a report has, and how many of them nobody has accepted."""

    kind: str
    number: int
    open: int


def counts_of(report: LintReport) -> list[KindCount]:
    covering = covered(report.project, report.layer)
    found: Counter[str] = Counter()
    opened: Counter[str] = Counter()
    for kind, key in report.findings.order_by().values_list("kind", "key").iterator(CHUNK):
        found[kind] += 1
        opened[kind] += key not in covering
    return [KindCount(kind, found[kind], opened[kind]) for kind in KINDS if found[kind]]


def waivers_of(project: Project, layer: str) -> QuerySet[LintWaiver]:
    """Newest first, with who ended them and why."""
    return (
        LintWaiver.objects.filter(project=project, layer=layer, withdraws=None)
        .select_related("by", "withdrawn_by__by")
        .defer("keys", "withdrawn_by__keys")
        .order_by(F("pk").desc())
    )
