"""Rounds of labeling: opening them behind the gate, closing them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Max, QuerySet
from django.utils import timezone

from labeling.core import events, projects, transactions
from labeling.core.rules.reasons import reason_in
from labeling.domain.errors import RuleError
from labeling.domain.planning import Planned, plan, shuffled
from labeling.jobs import pending
from labeling.models import (
    Annotation,
    Assignment,
    Conversation,
    Guideline,
    Project,
    Round,
    RoundConversation,
)
from labeling.screening import check_turns
from labeling.work import admission, assignments, locking, round_counts


class GateLocked(RuleError, code="gate_locked"):
    """Full labeling needs a passed calibration round."""


class RoundImpossible(RuleError, code="round_impossible"):
    """The round cannot be opened as asked."""


def gate_is_open(project: Project) -> bool:
    """Whether the newest completed calibration round lets full labeling begin."""
    return _decision(project).opens


def _decision(project: Project) -> round_counts.Decision:
    calibrations = project.rounds.filter(kind=Round.Kind.CALIBRATION)
    return round_counts.decision(calibrations)


def unplanned(project: Project) -> QuerySet[Conversation]:
    """Conversations that are in no round yet."""
    return project.conversations.filter(rounds__isnull=True)


@transactions.atomic
def open_round(
    *,
    project: Project,
    kind: str,
    by: User | None,
    conversations: Iterable[Conversation],
    annotators: Sequence[User] | None = None,
    overlap: int | None = None,
    seed: int = 0,
    pool: bool = False,
    override_reason: str = "",
) -> Round:
    """Open a round and, unless annotators take from a pool, hand out its assignments.

    A calibration round goes to all its annotators. ``annotators`` None means everybody with the
    annotator role. ``override_reason`` opens full labeling although the gate is locked; it is
    recorded and printed on every gold release made after it.
    """
    project = projects.lock(project)  # one round after the other
    calibration = kind == Round.Kind.CALIBRATION
    people = list(annotators) if annotators is not None else annotators_of(project)
    ids = [conversation.pk for conversation in conversations]
    _check(project, kind, ids, people)
    override = "" if calibration else _override(project, override_reason)
    opened = Round.objects.create(
        project=project,
        number=(project.rounds.aggregate(last=Max("number"))["last"] or 0) + 1,
        kind=kind,
        guideline=_newest_guideline(project),
        overlap=len(people) if calibration else overlap or project.overlap,
        seed=seed,
        pool=pool and not calibration,
        override_reason=override,
        label_f1_threshold=project.label_f1_threshold,
        open_fields=project.open_fields,
        opened_by=by,
    )
    _place(opened, ids, people)
    events.record(
        "round.opened",
        opened,
        project=project,
        actor=by,
        kind=kind,
        conversations=len(ids),
        override_reason=override,
    )
    return opened


def annotators_of(project: Project) -> list[User]:
    return list(assignments.annotators(project))


def _newest_guideline(project: Project) -> Guideline:
    newest = project.guidelines.first()
    if newest is None:
        raise RoundImpossible("round.no_guidelines")
    return newest


def _check(project: Project, kind: str, ids: Sequence[int], people: Sequence[User]) -> None:
    if not ids:
        raise RoundImpossible("round.no_conversations")
    if not people:
        raise RoundImpossible("round.no_annotators")
    if kind == Round.Kind.CALIBRATION:
        if len(people) < 2:
            raise RoundImpossible("round.one_annotator")
        if project.rounds.filter(kind=kind, state=Round.State.OPEN).exists():
            raise RoundImpossible("round.calibration_open")


def _override(project: Project, reason: str) -> str:
    """Why full labeling is opened past the gate; nothing to say where the gate is open."""
    decision = _decision(project)
    if decision.opens:
        return ""
    if not reason_in(reason):
        raise GateLocked(decision.why_locked)
    return reason_in(reason)


def _place(round_: Round, ids: Sequence[int], people: Sequence[User]) -> None:
    """Put conversations into a new round and hand out planned work.

    The highest priority comes first; equal ones are shuffled by the seed.
    """
    priorities = round_.project.conversations.order_by().exclude(priority=0)
    rank = {pk: -priority for pk, priority in priorities.values_list("pk", "priority")}
    RoundConversation.objects.bulk_create(
        (
            RoundConversation(round=round_, conversation_id=pk, position=position)
            for position, pk in enumerate(shuffled(ids, seed=round_.seed, rank=rank))
        ),
        batch_size=1000,
    )
    if not round_.pool:
        planned = plan(
            ids,
            [user.pk for user in people],
            overlap=round_.overlap,
            seed=round_.seed,
            rank=rank,
        )
        _hand_out(round_, planned)


def _hand_out(round_: Round, planned: Sequence[Planned]) -> None:
    rows = [
        Assignment(
            round=round_,
            conversation_id=place.conversation,
            annotator_id=place.annotator,
            slot=place.slot,
            position=place.position,
        )
        for place in planned
    ]
    Assignment.objects.bulk_create(check_turns.mix_in(round_, rows), batch_size=1000)


def is_complete(calibration: Round) -> bool:
    """Whether everybody has answered an open calibration round, so that it can be measured."""
    if calibration.kind != Round.Kind.CALIBRATION or calibration.state != Round.State.OPEN:
        return False
    done = [Annotation.Status.SUBMITTED, Annotation.Status.SKIPPED]
    assigned = calibration.assignments.filter(slot__isnull=False)  # what was moved away is over
    return not assigned.exclude(annotation__status__in=done).exists()


def is_last_answer(answer: Annotation) -> bool:
    """Whether everybody has answered: of calibration the round, else the conversation.

    The caller has locked it.
    """
    assignment = answer.assignment
    if assignment.round.kind == Round.Kind.CALIBRATION:
        return is_complete(assignment.round)
    if answer.status == Annotation.Status.SUBMITTED and assignment.round.overlap == 1:
        return True
    here = Assignment.objects.filter(
        round=assignment.round_id, conversation=assignment.conversation_id
    ).order_by()
    submitted, skipped = Annotation.Status.SUBMITTED, Annotation.Status.SKIPPED
    answers = [
        status == submitted or (status == skipped and slot is not None)  # ANSWERED, of an open one
        for status, slot in here.values_list("annotation__status", "slot")
    ]
    return sum(answers) >= assignment.round.overlap


def close_calibration(complete: Round, figures: Mapping[str, Any]) -> None:
    """Close it with its agreement. The caller holds its lock and knows that it is complete."""
    state = Round.State.PASSED if figures["passed"] else Round.State.FAILED
    Round.objects.filter(pk=complete.pk).update(
        state=state, agreement=figures, closed_at=timezone.now()
    )
    locking.lock(Annotation.objects.filter(assignment__round=complete))
    if figures["passed"]:
        admission.admit_those_who_calibrated(complete, _measured_layers(complete, figures))
    events.record(f"round.{state}", complete, project=complete.project, kappa=figures["value"])


def _measured_layers(closed: Round, figures: Mapping[str, Any]) -> list[str]:
    """A layer that nobody used has passed nobody."""
    layers: Mapping[str, Any] = figures.get("layers", {})
    known = (layer for layer in closed.project.layers if layer in layers)
    return [layer for layer in known if layers[layer].get("outcome") != "not_measured"]


@transactions.atomic
def close(finished: Round, *, by: Any) -> None:
    """End full labeling; open assignments can no longer be saved."""
    closed = Round.objects.filter(
        pk=finished.pk, kind=Round.Kind.FULL, state=Round.State.OPEN
    ).update(state=Round.State.CLOSED, closed_at=timezone.now())
    if not closed:
        raise RoundImpossible("round.not_closed_by_hand")
    locking.lock(Annotation.with_checks.filter(assignment__round=finished))
    events.record("round.closed", finished, project=finished.project, actor=by)
    pending.request(finished.project, measure=finished)
