"""What an annotator does with one assignment: save, submit, skip. Every save is a revision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from labeling.domain.errors import AlreadySubmitted, RuleError, StaleVersion
from labeling.domain.schema import Problem, check_payload
from labeling.models import Annotation, AnnotationRevision, Assignment, Round
from labeling.services import assignments, events, rounds

Kind = AnnotationRevision.Kind
Status = Annotation.Status


class InvalidPayload(RuleError):
    """The labels break the schema, or a submission is incomplete."""

    code = "invalid_payload"


class RoundClosed(RuleError):
    """The round has ended; its annotations can no longer change."""

    code = "round_closed"


class ReasonMissing(RuleError):
    """A skip must say why."""

    code = "reason_missing"


class Save(NamedTuple):
    """One save of one open page.

    ``client`` names the page and ``seq`` counts its saves; ``base_version`` is the version the
    page has seen. ``active_seconds`` is the total time of work on this annotation so far.
    """

    base_version: int
    client: UUID
    seq: int
    payload: Mapping[str, Any]
    empty: bool = False
    active_seconds: int = 0


@transaction.atomic
def save_draft(assignment: Assignment, save: Save) -> Annotation:
    """Store one autosave.

    Saves of one page may arrive late, twice or in the wrong order; the highest ``seq`` wins and
    the others are ignored without an error. A save from a page that has not seen what another
    page stored is refused with both versions.
    """
    _check(assignment, save, complete=False)
    annotation = _lock(assignment)
    if _is_repeated(annotation, save):
        return annotation
    _refuse_if_final(assignment, annotation)
    _refuse_if_stale(annotation, save)
    assignments.hold(assignment)  # a draft is kept even when the place is gone
    return _store(annotation, save, kind=Kind.SAVED, status=Status.DRAFT, skip_reason="")


@transaction.atomic
def submit(assignment: Assignment, save: Save) -> Annotation:
    """Store the final answer. It must be complete; submitting it again changes nothing."""
    _check(assignment, save, complete=True)
    annotation = _lock(assignment)
    if annotation.status == Status.SUBMITTED and _is_repeated(annotation, save):
        return annotation
    _refuse_if_final(assignment, annotation)
    _refuse_if_stale(annotation, save)
    if not assignments.hold(assignment):
        raise assignments.PlaceTaken(
            "Your reservation ran out and others have finished this conversation. "
            "Your draft is kept; go on with the next one."
        )
    annotation = _store(
        annotation,
        save,
        kind=Kind.SUBMITTED,
        status=Status.SUBMITTED,
        skip_reason="",
        submitted_at=timezone.now(),
    )
    _record("annotation.submitted", annotation)
    _finish_round(assignment)
    return annotation


@transaction.atomic
def skip(assignment: Assignment, save: Save, *, reason: str) -> Annotation:
    """Put the conversation aside with a reason. What was labelled so far is kept."""
    if not reason.strip():
        raise ReasonMissing("Say why you skip this conversation.")
    _check(assignment, save, complete=False)
    annotation = _lock(assignment)
    if annotation.status == Status.SKIPPED and _is_repeated(annotation, save):
        return annotation
    _refuse_if_final(assignment, annotation)
    _refuse_if_stale(annotation, save)
    annotation = _store(
        annotation, save, kind=Kind.SKIPPED, status=Status.SKIPPED, skip_reason=reason.strip()
    )
    assignments.give_back(assignment)
    _record("annotation.skipped", annotation, reason=reason.strip())
    _finish_round(assignment)
    return annotation


def _check(assignment: Assignment, save: Save, *, complete: bool) -> None:
    problems: list[Problem] = check_payload(
        save.payload,
        layers=assignment.round.project.layers,
        message_count=assignment.conversation.messages.count(),
        complete=complete,
        empty=save.empty,
    )
    if problems:
        raise InvalidPayload(
            "Some labels are not complete yet." if complete else "These labels cannot be stored.",
            problems=[problem._asdict() for problem in problems],
        )


def _lock(assignment: Assignment) -> Annotation:
    """The annotation, made on first use; on PostgreSQL its row is locked until the end."""
    Annotation.objects.get_or_create(
        assignment=assignment, defaults={"guideline_id": assignment.round.guideline_id}
    )
    return Annotation.objects.select_for_update().get(assignment=assignment)


def _is_repeated(annotation: Annotation, save: Save) -> bool:
    return annotation.last_client == save.client and save.seq <= annotation.last_seq


def _refuse_if_final(assignment: Assignment, annotation: Annotation) -> None:
    if annotation.status == Status.SUBMITTED:
        raise AlreadySubmitted("This was submitted before; a submitted answer cannot be changed.")
    if assignment.round.state != Round.State.OPEN:
        raise RoundClosed("This round has ended, so nothing more can be saved in it.")


def _refuse_if_stale(annotation: Annotation, save: Save) -> None:
    if annotation.last_client != save.client and annotation.version != save.base_version:
        raise _stale(annotation, save)


def _stale(annotation: Annotation, save: Save) -> StaleVersion:
    return StaleVersion(
        "This was changed in another window. Compare both versions and choose one.",
        base_version=save.base_version,
        current_version=annotation.version,
        payload=annotation.payload,
        empty=annotation.empty,
    )


def _store(annotation: Annotation, save: Save, *, kind: Kind, **changes: Any) -> Annotation:
    """Write the new version and its revision. The version in the condition is the guard."""
    seen = annotation.version
    values = {
        "payload": save.payload,
        "empty": save.empty,
        "version": seen + 1,
        "last_client": save.client,
        "last_seq": save.seq,
        "active_seconds": max(annotation.active_seconds, save.active_seconds),
        "updated_at": timezone.now(),
        **changes,
    }
    if not Annotation.objects.filter(pk=annotation.pk, version=seen).update(**values):
        raise _stale(Annotation.objects.get(pk=annotation.pk), save)
    for name, value in values.items():
        setattr(annotation, name, value)
    AnnotationRevision.objects.create(
        annotation=annotation,
        version=annotation.version,
        kind=kind,
        payload=save.payload,
        empty=save.empty,
        client=save.client,
        seq=save.seq,
        author=annotation.assignment.annotator,
    )
    return annotation


def _record(verb: str, annotation: Annotation, **data: Any) -> None:
    assignment = annotation.assignment
    actor: User = assignment.annotator
    events.record(
        verb,
        annotation,
        project=assignment.round.project,
        actor=actor,
        conversation=assignment.conversation.external_id,
        version=annotation.version,
        **data,
    )


def _finish_round(assignment: Assignment) -> None:
    """The last answer of a calibration round closes it; two last answers wait for each other."""
    if assignment.round.kind != Round.Kind.CALIBRATION:
        return
    current = Round.objects.select_for_update().get(pk=assignment.round_id)
    rounds.close_if_complete(current)
