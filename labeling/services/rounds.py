"""Rounds of labeling: opening them behind the gate, closing a calibration with its agreement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from labeling.domain.errors import RuleError
from labeling.domain.planning import plan, shuffled
from labeling.models import (
    Annotation,
    Assignment,
    Conversation,
    Membership,
    Project,
    Round,
    RoundConversation,
)
from labeling.services import agreement, events, locking


class GateLocked(RuleError):
    """Full labeling needs a passed calibration round."""

    code = "gate_locked"


class RoundImpossible(RuleError):
    """The round cannot be opened as asked."""

    code = "round_impossible"


def gate_is_open(project: Project) -> bool:
    return project.rounds.filter(kind=Round.Kind.CALIBRATION, state=Round.State.PASSED).exists()


def unplanned(project: Project) -> QuerySet[Conversation]:
    """Conversations that are in no round yet."""
    return project.conversations.filter(rounds__isnull=True)


@transaction.atomic
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
    Project.objects.select_for_update().get(pk=project.pk)  # one round after the other
    calibration = kind == Round.Kind.CALIBRATION
    people = list(annotators) if annotators is not None else annotators_of(project)
    ids = [conversation.pk for conversation in conversations]
    _check(project, kind=kind, ids=ids, people=people, override_reason=override_reason)
    guideline = project.guidelines.first()
    if guideline is None:
        raise RoundImpossible("Write the guidelines first: a round is labelled under a version.")
    opened = Round.objects.create(
        project=project,
        number=(project.rounds.aggregate(last=Max("number"))["last"] or 0) + 1,
        kind=kind,
        guideline=guideline,
        overlap=len(people) if calibration else overlap or project.overlap,
        seed=seed,
        pool=pool and not calibration,
        override_reason="" if calibration or gate_is_open(project) else override_reason.strip(),
        opened_by=by,
    )
    RoundConversation.objects.bulk_create(
        RoundConversation(round=opened, conversation_id=pk, position=position)
        for position, pk in enumerate(shuffled(ids, seed=seed))
    )
    if not opened.pool:
        _hand_out(opened, ids, people)
    events.record(
        "round.opened",
        opened,
        project=project,
        actor=by,
        kind=kind,
        conversations=len(ids),
        override_reason=opened.override_reason,
    )
    return opened


def annotators_of(project: Project) -> list[User]:
    return list(
        User.objects.filter(
            memberships__project=project, memberships__role=Membership.Role.ANNOTATOR
        ).order_by("username")
    )


def _check(
    project: Project, *, kind: str, ids: Sequence[int], people: Sequence[User], override_reason: str
) -> None:
    if not ids:
        raise RoundImpossible("A round needs conversations: import some, or choose a larger batch.")
    if not people:
        raise RoundImpossible("The project has no annotators: add some first.")
    if kind == Round.Kind.CALIBRATION:
        if len(people) < 2:
            raise RoundImpossible("Agreement needs at least two annotators: add one.")
        if project.rounds.filter(kind=kind, state=Round.State.OPEN).exists():
            raise RoundImpossible("A calibration round is open already: finish it first.")
    elif not gate_is_open(project) and not override_reason.strip():
        raise GateLocked(
            "Full labeling is locked until a calibration round passes. "
            "Open a calibration round, or override the gate with a written reason."
        )


def _hand_out(opened: Round, ids: Sequence[int], people: Sequence[User]) -> None:
    planned = plan(ids, [user.pk for user in people], overlap=opened.overlap, seed=opened.seed)
    Assignment.objects.bulk_create(
        [
            Assignment(
                round=opened,
                conversation_id=one.conversation,
                annotator_id=one.annotator,
                slot=one.slot,
                position=one.position,
            )
            for one in planned
        ],
        batch_size=1000,
    )


def close_if_complete(finished: Round) -> bool:
    """Close a calibration round once nothing is open in it; call inside the last submission."""
    if finished.kind != Round.Kind.CALIBRATION or finished.state != Round.State.OPEN:
        return False
    done = [Annotation.Status.SUBMITTED, Annotation.Status.SKIPPED]
    if finished.assignments.exclude(annotation__status__in=done).exists():
        return False
    result = agreement.of_round(finished)
    state = Round.State.PASSED if result.passed else Round.State.FAILED
    closed = Round.objects.filter(pk=finished.pk, state=Round.State.OPEN).update(
        state=state, agreement=result.as_json(), closed_at=timezone.now()
    )
    if closed:
        locking.lock(Annotation.objects.filter(assignment__round=finished))
        events.record(f"round.{state}", finished, project=finished.project, kappa=result.value)
    return bool(closed)


@transaction.atomic
def close(finished: Round, *, by: Any) -> None:
    """End full labeling; open assignments can no longer be saved."""
    closed = Round.objects.filter(
        pk=finished.pk, kind=Round.Kind.FULL, state=Round.State.OPEN
    ).update(state=Round.State.CLOSED, closed_at=timezone.now())
    if not closed:
        raise RoundImpossible("Only an open round of full labeling can be closed by hand.")
    locking.lock(Annotation.objects.filter(assignment__round=finished))
    events.record("round.closed", finished, project=finished.project, actor=by)
