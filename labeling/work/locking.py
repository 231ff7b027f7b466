"""When a submitted answer can no longer be taken back: what was computed from it would change."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils import timezone

from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.models import Annotation, GoldItem, Round


class Locked(RuleError, code="locked"):
    """The answer counts in something that is finished, so it cannot be reopened."""


def lock(answers: QuerySet[Annotation]) -> int:
    """Lock the submitted ones among them; the first lock of an answer stays."""
    return answers.filter(status=Annotation.Status.SUBMITTED, locked_at__isnull=True).update(
        locked_at=timezone.now()
    )


def why_locked(annotation: Annotation, round_: Round) -> Fact | None:
    """Why a submitted answer cannot be reopened; None when it can."""
    if round_.kind == Round.Kind.QUALIFYING:
        return Fact("reopening.qualification")
    if round_.kind == Round.Kind.CALIBRATION and round_.state != Round.State.OPEN:
        return Fact("reopening.calibration_closed")
    if round_.state != Round.State.OPEN:
        return Fact("reopening.round_closed")
    if annotation.locked_at:
        return Fact("reopening.in_gold")
    return None


def why_skip_stands(annotation: Annotation, round_: Round) -> Fact | None:
    """Why a skip can't be taken back, no matter who got its place; None when it can."""
    reason = why_locked(annotation, round_)
    if reason:
        return reason
    others = Annotation.objects.filter(
        assignment__round=round_, assignment__conversation=annotation.assignment.conversation_id
    )
    if others.filter(locked_at__isnull=False).exists():
        return Fact("skip.in_gold")
    return None


def is_in_gold(annotation: Annotation) -> bool:
    """Whether gold that was frozen since the answer came in is about its conversation."""
    since = annotation.submitted_at or annotation.updated_at
    holding = GoldItem.objects.filter(
        release__frozen_at__gte=since, conversation=annotation.assignment.conversation_id
    )
    return holding.exclude(how__in=GoldItem.MADE_ELSEWHERE).exists()
