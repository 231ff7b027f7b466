"""What lint finds in labels that are to become gold, and which of it somebody has accepted.

A release is looked at item by item while it is put together, so that what was looked at is what is
frozen. What needs another part of the product, the detectors of personal data and the plan of
comparisons, is registered by that part when it starts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from secrets import token_hex
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Now

from labeling.domain.batches import batches
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.gold.content import GoldContent
from labeling.domain.gold.lint import (
    KINDS,
    Copy,
    Finding,
    LintItem,
    LintName,
    PersonalPiece,
    Sizes,
    Speakers,
    copy_of,
    decided_parts,
    finding,
    in_two_splits,
    item_findings,
)
from labeling.domain.gold.statement import Waiver
from labeling.domain.reasons import reason_in
from labeling.models import (
    Comment,
    Conversation,
    Dispute,
    GoldItem,
    Guideline,
    LintFinding,
    LintReport,
    LintWaiver,
    Project,
)
from labeling.services import events, guidelines, near_duplicates, projects
from labeling.services.short_writes import short_write

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


class SplitNeed(NamedTuple):
    """How many conversations a split needs to show the difference that was declared."""

    effect: float
    conversations: int


class _Sources:
    """Filled once, when the apps are ready."""

    personal_data: Callable[[str], Sequence[PersonalPiece]]
    split_need: Callable[[Project, str, str, str], SplitNeed | None]


def register(
    *,
    personal_data: Callable[[str], Sequence[PersonalPiece]],
    split_need: Callable[[Project, str, str, str], SplitNeed | None],
) -> None:
    """``split_need`` gets the project, the layer, the name of the release and the split."""
    _Sources.personal_data = staticmethod(personal_data)
    _Sources.split_need = staticmethod(split_need)


# --- looking --------------------------------------------------------------------------------------


class StoredFinding(NamedTuple):
    """A finding as its row holds it: many may be kept at a time."""

    kind: str
    fact: str
    conversation: int | None
    other: int | None


class Findings:
    """What was found, each once, by key."""

    def __init__(self, *, is_published: bool = False) -> None:
        self.is_published = is_published
        self.items = 0
        self.by_key: dict[str, StoredFinding] = {}

    def add(self, found: Iterable[Finding]) -> None:
        for kind, key, fact, conversation, other in found:
            text = json.dumps(fact.as_json(), sort_keys=True)
            self.by_key.setdefault(key, StoredFinding(kind, text, conversation, other))

    def first_of(self, kind: str, most: int) -> list[Fact]:
        rows = (row for row in self.by_key.values() if row.kind == kind)
        return [Fact.from_json(json.loads(row.fact)) for row in islice(rows, most)]


class Linter:
    """Looks at the items of one release, one after the other."""

    def __init__(
        self,
        project: Project,
        layer: str,
        *,
        name: str,
        is_published: bool = False,
    ) -> None:
        self.project, self.layer, self.name = project, layer, name
        self.is_published = is_published
        self._newest = None if is_published else project.guidelines.defer("body").first()
        self._findings = Findings(is_published=is_published)
        self._speakers, self._sizes = Speakers(), Sizes()
        self._waiting: list[LintItem] = []
        self._copies: list[tuple[LintName, Copy]] = []
        self._conversations: set[int] = set()

    def look(self, conversation: int, content: GoldContent) -> None:
        item = LintItem(conversation, content)
        self._findings.items += 1
        self._conversations.add(conversation)
        self._findings.add(item_findings(item, _Sources.personal_data))
        self._speakers.add(item)
        self._sizes.add(content)
        self._waiting.append(item)
        if len(self._waiting) >= CHUNK:
            self._look_up()

    def findings(self) -> Findings:
        """Everything, once the last item was looked at."""
        self._look_up()
        self._findings.add(
            copy_of(item, copy)
            for item, copy in self._copies
            if copy.conversation in self._conversations
            or not copy.is_here
            or in_two_splits(item, copy)
        )
        self._findings.add(self._speakers.findings())
        self._findings.add(self._small_splits())
        self._findings.add(self._about_items(_open_disputes(self.project, self.layer)))
        if not self.is_published:
            self._findings.add(self._about_items(_open_comments(self.project)))
            self._findings.add(self._sizes.missed(self.project.targets, self.layer))
        return self._findings

    def _look_up(self) -> None:
        """What rows say about the items that wait, in one query each."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._copies += self._copies_of(waiting)
        if waiting and self._newest is not None:
            self._findings.add(self._superseded(waiting, self._newest))

    def _copies_of(self, items: Sequence[LintItem]) -> Iterator[tuple[LintName, Copy]]:
        """What else has these words: here, and elsewhere if it is gold or has another split."""
        names = {item.conversation: item.label for item in items}
        synthetic = {item.conversation for item in items if "origin" in item.content}
        matches = [
            (names[pk], match)
            for pk, found in near_duplicates.of_conversations(names)
            for match in found
        ]
        others = {match.conversation for _, match in matches}
        known: dict[int, Conversation] = {}
        gold: set[int] = set()
        for part in batches(sorted(others), CHUNK):
            rows = Conversation.objects.only("external_id", "split", "project", "origin")
            known |= rows.in_bulk(part)
            released = GoldItem.objects.filter(conversation__in=part).order_by()
            gold |= set(released.values_list("conversation", flat=True).distinct())
        for item, match in matches:
            other = known.get(match.conversation)
            if other is None:
                continue  # removed meanwhile
            if other.is_synthetic and item.conversation in synthetic:
                continue  # made from the same templates
            is_here = other.project_id == self.project.pk
            copy = Copy(other.pk, other.external_id, other.split, is_here, match.share >= SAME)
            if is_here or other.pk in gold or in_two_splits(item, copy):
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

    def _about_items(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        return (each for each in findings if each.conversation in self._conversations)

    def _small_splits(self) -> Iterator[Finding]:
        """Splits that pipelines are compared on; of gold without splits all of it."""
        for split, number in sorted(self._sizes.splits.items()):
            if split == "train":
                continue
            need = _Sources.split_need(self.project, self.layer, self.name, split)
            if need and number < need.conversations:
                size = {
                    "number": number,
                    "needed": need.conversations,
                    "effect": need.effect,
                }
                if split:
                    fact = Fact("lint.small_split", split=split, **size)
                else:
                    fact = Fact("lint.too_few", **size)
                yield finding("small_split", [split, need.effect], fact)


def _open_comments(project: Project) -> Iterator[Finding]:
    said = Comment.objects.filter(
        Q(disagreement=None) | Q(disagreement__outcome=""),
        project=project,
        parent=None,
        resolved_at=None,
    )
    rows = said.order_by("pk").values_list("pk", "conversation", "conversation__external_id")
    for pk, conversation, name in rows.iterator(CHUNK):
        fact = Fact("lint.open_comment", item=name)
        yield finding("open_comment", [pk], fact, conversation=conversation)


def _open_disputes(project: Project, layer: str) -> Iterator[Finding]:
    unsettled = Dispute.objects.of_project(project).unsettled()
    rows = unsettled.filter(item__release__layer=layer).order_by("pk")
    named = rows.values_list("pk", "conversation", "conversation__external_id")
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


def settle(
    findings: Findings,
    project: Project,
    layer: str,
    *,
    waive: Mapping[str, str] | None = None,
    by: Any = None,
) -> list[Waiver]:
    """What the release says of its waivers; refuses if anything is open.

    ``waive`` has the reasons for accepting all findings of a kind, by kind, which is stored.

    Raises
    ------
    LintOpen
        With everything that was found, so that it can be stored outside of the transaction.
    """
    for kind, reason in (waive or {}).items():
        check_kind(kind)
        keys = _open_keys(findings, _covering(project, layer), kind)
        if keys:
            _store_waiver(project, layer, kind, keys, reason=reason, by=by)
    covering = _covering(project, layer)
    counts = _open_counts(findings, covering)
    if counts:
        raise LintOpen(_open_fact(counts), findings, kinds=counts, layer=layer)
    return _stated(findings, covering)


def check(
    findings: Findings, project: Project, layer: str, *, waive: Mapping[str, str] | None = None
) -> None:
    """Refuse as :func:`settle` will, before anything is stored."""
    for kind in waive or {}:
        check_kind(kind)
    counts = _open_counts(findings, _covering(project, layer))
    counts = {kind: number for kind, number in counts.items() if kind not in (waive or {})}
    if counts:
        raise LintOpen(_open_fact(counts), findings, kinds=counts, layer=layer)


def _covering(project: Project, layer: str) -> dict[str, LintWaiver]:
    """By the key of a finding, the waiver that covers it."""
    waivers = active_waivers(project, layer).select_related("by").order_by("pk")
    return {key: waiver for waiver in waivers.iterator(100) for key in waiver.keys}


def _open_keys(findings: Findings, covering: Mapping[str, LintWaiver], kind: str) -> list[str]:
    return [key for key, row in findings.by_key.items() if row.kind == kind and key not in covering]


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
    open_rows = LintFinding.objects.filter(
        report__project=project, report__layer=layer, kind=kind, waiver=None
    )
    if key:
        open_rows = open_rows.filter(key=key)
    keys = list(open_rows.order_by("pk").values_list("key", flat=True))
    if not keys:
        raise NothingToWaive("lint.nothing_open", kind=Fact(f"lint_kind.{kind}"))
    waiver = _store_waiver(project, layer, kind, keys, reason=reason, by=by)
    open_rows.update(waiver=waiver)
    return waiver


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
    LintFinding.objects.filter(waiver=waiver).update(waiver=None)
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


def store(project: Project, layer: str, findings: Findings, *, by: Any = None) -> LintReport:
    """Keep what was found in place of the last report of this layer.

    Findings are inserted a few at a time, in a report of no layer, which takes the place of the
    last one when it is complete.
    """
    _remove(LintReport.objects.filter(layer__startswith=OF_NO_LAYER, at__lt=Now() - DEAD_AFTER))
    report = LintReport.objects.create(
        project=project, layer=_no_layer(), items=findings.items, by=by
    )
    covering = _covering(project, layer)
    for rows in batches(findings.by_key.items(), CHUNK):
        with short_write():
            LintFinding.objects.bulk_create(
                LintFinding(
                    report=report,
                    kind=row.kind,
                    key=key,
                    fact=Fact.from_json(json.loads(row.fact)),
                    conversation_id=row.conversation,
                    other_id=row.other,
                    waiver=covering.get(key),
                )
                for key, row in rows
            )
    with transaction.atomic():
        projects.lock(project)
        _cover_again(report, {waiver.pk for waiver in covering.values()}, project, layer)
        replaced = LintReport.objects.filter(project=project, layer=layer).first()
        if replaced is not None:
            LintReport.objects.filter(pk=replaced.pk).update(layer=_no_layer())
        report.layer = layer
        report.save(update_fields=["layer"])
    if replaced is not None:
        _remove([replaced])
    return report


OF_NO_LAYER = "~"
DEAD_AFTER = timedelta(minutes=10)


def _no_layer() -> str:
    return OF_NO_LAYER + token_hex(8)


def _cover_again(report: LintReport, before: set[int], project: Project, layer: str) -> None:
    """By waivers that were given or withdrawn while findings were inserted."""
    now = {waiver.pk: waiver for waiver in active_waivers(project, layer) if waiver.keys}
    if ended := before - now.keys():
        report.findings.filter(waiver__in=ended).update(waiver=None)
    for pk in sorted(now.keys() - before):
        for keys in batches(now[pk].keys, CHUNK):
            report.findings.filter(key__in=keys).update(waiver=now[pk])


def _remove(reports: Iterable[LintReport]) -> None:
    for report in reports:
        rows = report.findings.order_by()
        while part := list(rows.values_list("pk", flat=True)[:CHUNK]):
            with short_write():
                LintFinding.objects.filter(pk__in=part).delete()
        report.delete()


class KindCount(NamedTuple):
    """How many findings of a kind a report has, and how many of them nobody has accepted."""

    kind: str
    number: int
    open: int


def counts_of(report: LintReport) -> list[KindCount]:
    counted = {
        row["kind"]: KindCount(row["kind"], row["number"], row["number"] - row["waived"])
        for row in report.findings.order_by()
        .values("kind")
        .annotate(number=Count("pk"), waived=Count("waiver"))
    }
    return [counted[kind] for kind in KINDS if kind in counted]


def waivers_of(project: Project, layer: str) -> QuerySet[LintWaiver]:
    """Newest first, with who ended them and why."""
    return (
        LintWaiver.objects.filter(project=project, layer=layer, withdraws=None)
        .select_related("by", "withdrawn_by__by")
        .defer("keys", "withdrawn_by__keys")
        .order_by(F("pk").desc())
    )
