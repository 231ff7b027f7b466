"""Disputes about gold: opened with a proposal, judged blind, and what follows from the verdicts."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Prefetch, QuerySet

from labeling.domain.canonical import canonical_json
from labeling.domain.errors import RuleError
from labeling.domain.exchange.origins import plain
from labeling.domain.facts import Fact
from labeling.domain.gold.content import GoldContent
from labeling.domain.gold.disputes import Ruling, blind, ruling
from labeling.domain.reasons import reason_in
from labeling.domain.schema import LAYERS, check_payload
from labeling.domain.schema.labels import StoredLabel
from labeling.domain.targets import stages_of
from labeling.models import (
    Adjudication,
    Annotation,
    Dispute,
    DisputeOutcome,
    DisputeReading,
    DisputeVerdict,
    GoldItem,
    Membership,
    Project,
)
from labeling.models.disputes import DisputeSource
from labeling.services import blindness, events, pending, projects
from labeling.services.settling.corrections import MADE_ELSEWHERE, votes_of

JUDGES = (Membership.Role.LEAD, Membership.Role.RESEARCHER)


class DisputeRefused(RuleError):
    """The dispute or the verdict makes no sense, or not now."""

    code = "dispute_refused"


class NotTheJudge(RuleError):
    """Somebody else has to judge this dispute."""

    code = "not_the_judge"


def label_of(content: GoldContent, layer: str, uid: str) -> StoredLabel | None:
    labels = content["gold"].get(LAYERS[layer].key, [])
    return next((plain(label) for label in labels if label.get("uid") == uid), None)


@transaction.atomic
def open_dispute(
    *,
    item: GoldItem,
    layer: str,
    uid: str,
    proposal: Mapping[str, Any] | None,
    reason: str,
    by: User,
    origin: str = Dispute.Origin.READER,
    source: DisputeSource | None = None,
) -> Dispute:
    """Say that a label of gold is wrong.

    ``uid`` "": it is missing; ``proposal`` None: it must go.
    """
    projects.lock(item.release.project)  # one dispute about one label
    content = item.content
    if layer not in stages_of(content["layer"]):
        raise DisputeRefused("dispute.other_layer", layer=layer, release=str(item.release))
    gold = label_of(content, layer, uid) if uid else None
    if (uid and gold is None) or (gold is None and proposal is None):
        raise DisputeRefused("dispute.no_label", item=item.item_id)
    if not reason_in(reason):
        raise DisputeRefused("dispute.no_reason", details={"field": "reason"})
    label = None if proposal is None else {**plain(proposal), "uid": uid or uuid4().hex}
    if label is not None:
        if gold is not None and canonical_json(label) == canonical_json(gold):
            raise DisputeRefused("dispute.nothing_changed")
        check_label(item, layer, label, like=gold)
    same = Dispute.objects.unsettled().filter(
        conversation=item.conversation_id, layer=layer, label_uid=uid
    )
    if uid and (earlier := same.filter(item__release__name=item.release.name).first()):
        raise DisputeRefused("dispute.open_already", number=earlier.pk)
    dispute = Dispute.objects.create(
        item=item,
        conversation_id=item.conversation_id,
        layer=layer,
        label_uid=uid,
        proposal=label,
        reason=reason_in(reason),
        origin=origin,
        source=source or {},
        opened_by=by,
    )
    _record("dispute.opened", dispute, by)
    return dispute


def check_label(
    item: GoldItem, layer: str, label: Mapping[str, Any], *, like: Mapping[str, Any] | None
) -> None:
    """Raise if the label breaks the schema where the label of gold does not."""
    known = _problems(item, layer, like) if like is not None else []
    problems = [problem for problem in _problems(item, layer, label) if problem not in known]
    if problems:
        path, fact = problems[0]
        raise DisputeRefused("dispute.broken_label", path=path, why=fact)


def _problems(item: GoldItem, layer: str, label: Mapping[str, Any]) -> list[tuple[str, Fact]]:
    content, key = item.content, LAYERS[layer].key
    around = {**content.get("given", {}), **content["gold"], key: [label]}
    by_key = {known.key: name for name, known in LAYERS.items()}
    problems = check_payload(
        around,
        layers=[by_key[name] for name in around],
        message_count=len(content["conversation"]),
        complete=True,
        messages=[message["content"] for message in content["conversation"]],
        event_schema=item.release.project.event_schema,
    )
    start = f"{key}.0."
    return [
        (problem.path.removeprefix(start), problem.fact)
        for problem in problems
        if problem.path.startswith(start)
    ]


# --- judging --------------------------------------------------------------------------------------


class Standing(NamedTuple):
    """What a person may do about a dispute. ``why_not`` is None for who may judge it."""

    dispute: Dispute
    ruling: Ruling | None
    n_verdicts: int
    why_not: Fact | None
    is_open: bool

    @property
    def state(self) -> str:
        if not self.is_open:
            return str(self.dispute.outcome.kind)
        return "tied" if self.ruling else "open"

    @property
    def may_see_sides(self) -> bool:
        """Who may still judge it must not learn which side is gold."""
        return self.why_not is not None


def with_verdicts(disputes: QuerySet[Dispute]) -> QuerySet[Dispute]:
    readings = DisputeReading.objects.filter(verdict__isnull=False)
    return disputes.select_related(
        "item__release__project", "outcome__decided_by", "opened_by"
    ).prefetch_related(
        Prefetch("readings", readings.select_related("judge", "verdict"), to_attr="verdicts")
    )


def shown_to(disputes: QuerySet[Dispute], user: User) -> QuerySet[Dispute]:
    """Without those about conversations that the user labels blind at the moment."""
    visible = disputes.visible_to(user)  # type: ignore[attr-defined]
    shown: QuerySet[Dispute] = visible.exclude(conversation__in=blindness.again(user))
    return shown


def standings(project: Project, disputes: Sequence[Dispute], user: User) -> list[Standing]:
    """``disputes`` :func:`with_verdicts`; two more queries, however many they are."""
    labelled = _labelled(disputes)
    judges = set(
        Membership.objects.filter(
            project=project, role__in=JUDGES, user__is_active=True
        ).values_list("user", flat=True)
    )
    return [_standing(project, dispute, user, labelled, judges) for dispute in disputes]


def _standing(
    project: Project,
    dispute: Dispute,
    user: User,
    labelled: Mapping[tuple[int, str], set[int]],
    judges: set[int],
) -> Standing:
    readings: list[DisputeReading] = dispute.verdicts  # type: ignore[attr-defined]
    is_open = not hasattr(dispute, "outcome")
    involved = labelled.get((dispute.conversation_id, dispute.layer), set())
    judged = {reading.judge_id for reading in readings}
    why_not = None
    if not is_open:
        why_not = Fact("dispute.closed")
    elif dispute.opened_by_id == user.pk:
        why_not = Fact("dispute.own")
    elif user.pk in judged:
        why_not = Fact("dispute.judged_already")
    elif user.pk in involved and judges - involved - judged - {dispute.opened_by_id}:
        why_not = Fact("dispute.labelled_it")
    decided = ruling(votes_of(dispute), dispute.proposal, judges=project.dispute_judges)
    return Standing(dispute, decided, len(readings), why_not, is_open)


def _labelled(disputes: Iterable[Dispute]) -> dict[tuple[int, str], set[int]]:
    """By conversation and layer: who has labelled or decided it."""
    wanted = {(dispute.conversation_id, dispute.layer) for dispute in disputes}
    conversations = {conversation for conversation, _ in wanted}
    people: dict[tuple[int, str], set[int]] = {key: set() for key in wanted}
    submitted = Annotation.with_checks.filter(
        assignment__conversation__in=conversations, status=Annotation.Status.SUBMITTED
    )
    for conversation, person in submitted.values_list(
        "assignment__conversation", "assignment__annotator"
    ):
        for key in wanted:
            if key[0] == conversation:
                people[key].add(person)
    decided = Adjudication.objects.filter(conversation__in=conversations)
    for conversation, layer, person in decided.values_list("conversation", "layer", "decided_by"):
        people.get((conversation, layer), set()).add(person)
    return people


def standing(dispute: Dispute, user: User) -> Standing:
    (row,) = with_verdicts(Dispute.objects.filter(pk=dispute.pk))
    return standings(row.item.release.project, [row], user)[0]


@transaction.atomic
def reading_of(dispute: Dispute, judge: User) -> DisputeReading:
    """Which letter hides gold from this judge: drawn once, before anything is shown."""
    why_not = standing(dispute, judge).why_not
    if why_not:
        raise NotTheJudge(why_not)
    same = DisputeReading.objects.filter(dispute=dispute, judge=judge).first()
    if same:
        return same
    drawn = secrets.randbelow(2) == 0
    reading, _ = DisputeReading.objects.get_or_create(
        dispute=dispute, judge=judge, defaults={"gold_is_a": drawn}
    )
    return reading


@transaction.atomic
def judge(
    reading: DisputeReading, *, choice: str, reason: str, label: Mapping[str, Any] | None = None
) -> DisputeVerdict:
    """Store a verdict, and the outcome if it is the one that decides.

    ``label`` is the judge's own after “neither”; None: no label should be here.
    """
    dispute = reading.dispute
    projects.lock(dispute.item.release.project)  # one verdict after the other
    why_not = standing(dispute, reading.judge).why_not
    if why_not:
        raise NotTheJudge(why_not)
    if choice not in DisputeVerdict.Choice.values:
        raise DisputeRefused("dispute.no_choice", details={"field": "choice"})
    if not reason_in(reason):
        raise DisputeRefused("dispute.no_reason", details={"field": "reason"})
    own = None
    if choice == DisputeVerdict.Choice.NEITHER:
        gold = label_of(dispute.item.content, dispute.layer, dispute.label_uid)
        own = None if label is None else _with_unseen(dispute, gold, plain(label))
        if own is not None:
            check_label(dispute.item, dispute.layer, own, like=gold)
        if any(_says(dispute.layer, own, side) for side in (gold, dispute.proposal)):
            raise DisputeRefused("dispute.not_neither")
    verdict = DisputeVerdict.objects.create(
        reading=reading, choice=choice, label=own, reason=reason_in(reason)
    )
    _record("dispute.judged", dispute, reading.judge)
    (row,) = with_verdicts(Dispute.objects.filter(pk=dispute.pk))
    project = row.item.release.project
    decided = ruling(votes_of(row), row.proposal, judges=project.dispute_judges)
    if decided and decided.kind != "tied":
        _close(row, kind=decided.kind, becomes=decided.label, by=None)
    return verdict


def _with_unseen(dispute: Dispute, gold: StoredLabel | None, own: StoredLabel) -> StoredLabel:
    """A judge's own label, with what no judge is shown as gold has it."""
    like = gold or dispute.proposal or {}
    seen = blind(dispute.layer, like)
    unseen = {name: value for name, value in like.items() if name not in seen}
    return {**unseen, **own, "uid": dispute.uid}


def _says(layer: str, label: StoredLabel | None, other: StoredLabel | None) -> bool:
    if label is None or other is None:
        return label is other
    return blind(layer, label) == blind(layer, other)


@transaction.atomic
def break_tie(dispute: Dispute, *, accept: bool, reason: str, by: User) -> DisputeOutcome:
    """A lead decides what the judges have left open: as proposed, or as it is."""
    projects.lock(dispute.item.release.project)
    now = standing(dispute, by)
    if now.state != "tied":
        raise DisputeRefused("dispute.not_tied")
    if dispute.opened_by_id == by.pk:
        raise NotTheJudge("dispute.own")
    if not reason_in(reason):
        raise DisputeRefused("dispute.no_reason", details={"field": "reason"})
    label = dispute.proposal if accept else None
    kind = DisputeOutcome.Kind.CORRECTED if accept else DisputeOutcome.Kind.KEPT
    return _close(dispute, kind=kind, becomes=label, by=by, reason=reason_in(reason))


@transaction.atomic
def withdraw(dispute: Dispute, *, reason: str, by: User) -> DisputeOutcome:
    """Its opener or a lead takes it back while it is open."""
    project = dispute.item.release.project
    projects.lock(project)
    if DisputeOutcome.objects.filter(dispute=dispute).exists():
        raise DisputeRefused("dispute.closed")
    if by.pk != dispute.opened_by_id and Membership.Role.LEAD not in project.roles_of(by):
        raise NotTheJudge("dispute.not_yours")
    kind = DisputeOutcome.Kind.WITHDRAWN
    return _close(dispute, kind=kind, becomes=None, by=by, reason=reason_in(reason))


def _close(
    dispute: Dispute, *, kind: str, becomes: StoredLabel | None, by: User | None, reason: str = ""
) -> DisputeOutcome:
    outcome = DisputeOutcome.objects.create(
        dispute=dispute, kind=kind, label=becomes, decided_by=by, reason=reason
    )
    _record(f"dispute.{kind}", dispute, by)
    if kind == DisputeOutcome.Kind.CORRECTED and dispute.item.how not in MADE_ELSEWHERE:
        project = dispute.item.release.project
        pending.request(project, conversation=dispute.conversation_id)  # what refers to the label
    return outcome


def _record(verb: str, dispute: Dispute, by: User | None) -> None:
    release = dispute.item.release
    events.record(
        verb,
        dispute,
        project=release.project,
        actor=by,
        dispute=dispute.pk,
        release=str(release),
        item=dispute.item.item_id,
        layer=dispute.layer,
    )
