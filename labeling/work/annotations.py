"""What happens to one answer: save, submit, skip, reopen, restore. Every change is a revision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.utils import timezone

from labeling.core import events, transactions
from labeling.core.rules.reasons import reason_in
from labeling.domain.errors import AlreadySubmitted, RuleError, StaleVersion
from labeling.domain.facts import Fact
from labeling.jobs import pending, queue
from labeling.models import Annotation, AnnotationRevision, Assignment, Round
from labeling.schema import LAYERS, Problem
from labeling.work import admission, assignments, locking, ownership, rounds, suggestions
from labeling.work.checking import problems_of

Kind = AnnotationRevision.Kind
Status = Annotation.Status
GONE = Fact("skip.conversation_given_to_another")


class InvalidPayload(RuleError, code="invalid_payload"):
    """The labels break the schema, or a submission is incomplete."""


class RoundClosed(RuleError, code="round_closed"):
    """The round has ended; its annotations can no longer change."""


class ReasonMissing(RuleError, code="reason_missing"):
    """A skip must say why."""


class UnknownRevision(RuleError, code="unknown_revision"):
    """The answer doesn't have this version."""


class Save(NamedTuple):
    """One save of one open page.

    ``client`` names the page (None: no page) and ``seq`` counts its saves; ``base_version`` is the
    version the page has seen. ``active_seconds`` is the total time of work on this annotation.
    ``nothing`` names the layers of which "nothing here" is said; a layer without labels that it
    leaves out is not answered. None is said by files and programs that know no layers: then
    everything is answered, but for ``unanswered``.
    """

    base_version: int
    client: UUID | None
    seq: int
    payload: Mapping[str, Any]
    empty: bool = False
    active_seconds: int = 0
    nothing: Sequence[str] | None = None
    unanswered: Sequence[str] | None = None


def opened(user: User, pk: int) -> Assignment:
    """The user's own assignment with all that a save looks at, but for the answer."""
    return ownership.own(user, pk, "round__project", "conversation")


def save_draft(assignment: Assignment, save: Save) -> Annotation:
    """Store one autosave.

    Saves of one page may arrive late, twice or in the wrong order; the highest ``seq`` wins and
    the others are ignored without an error. A save from a page that has not seen what another
    page stored is refused with both versions.
    """
    save = _by_layer(assignment, save)
    _check(assignment, save, complete=False)
    return _save_draft(assignment, save)


@transactions.atomic
def _save_draft(assignment: Assignment, save: Save) -> Annotation:
    is_open = assignments.is_open(assignment)
    assignments.hold(assignment)  # a draft is kept even when the place is gone
    annotation = _lock_after_place(assignment)
    if _is_repeated(annotation, save):
        return annotation
    _refuse_if_final(annotation, is_open=is_open)
    _refuse_if_stale(annotation, save)
    stored = _with_origins(annotation, save)
    return _store(annotation, stored, kind=Kind.SAVED, status=Status.DRAFT, skip_reason="")


def submit(assignment: Assignment, save: Save) -> Annotation:
    """Store the final answer. It must be complete; submitting it again changes nothing."""
    save = _by_layer(assignment, save)
    _check(assignment, save, complete=True)
    return _submit(assignment, save)


@transactions.atomic
def _submit(assignment: Assignment, save: Save) -> Annotation:
    is_open = assignments.keep_open(assignment)
    annotation = _lock_after_place(assignment)
    if annotation.status == Status.SUBMITTED and _is_repeated(annotation, save):
        return annotation
    _refuse_if_final(annotation, is_open=is_open)
    _refuse_if_stale(annotation, save)
    save = _with_origins(annotation, save)
    if not assignments.hold(assignment, for_good=True):
        raise assignments.PlaceTaken("annotation.place_taken")
    _lock_conversation(assignment)
    annotation = _store(
        annotation,
        save,
        kind=Kind.SUBMITTED,
        status=Status.SUBMITTED,
        skip_reason="",
        submitted_at=timezone.now(),
    )
    _record("annotation.submitted", annotation)
    _finish(annotation)
    return annotation


@transactions.atomic
def skip(assignment: Assignment, save: Save, *, reason: str) -> Annotation:
    """Leave the conversation to somebody else, with a reason. What was labeled so far is kept."""
    reason = reason_in(reason)
    if not reason:
        raise ReasonMissing("annotation.no_skip_reason")
    save = _by_layer(assignment, save)
    _check(assignment, save, complete=False)
    round_ = assignments.lock_place(assignment)
    annotation = _lock(assignment)
    if annotation.status != Status.SUBMITTED and _is_repeated(annotation, save):
        return annotation
    _refuse_if_final(annotation, is_open=round_.state == Round.State.OPEN)
    _refuse_if_stale(annotation, save)
    save = _with_origins(annotation, save)
    assignments.pass_on(assignment)
    _lock_conversation(assignment)
    annotation = _store(
        annotation, save, kind=Kind.SKIPPED, status=Status.SKIPPED, skip_reason=reason
    )
    _record("annotation.skipped", annotation, reason=reason)
    _finish(annotation)
    return annotation


@transactions.atomic
def reopen(assignment: Assignment) -> Annotation:
    """Take one's own submission or skip back: it is a draft again, with the same labels.

    Anything else stays as it is, so that a repeated request changes nothing.
    """
    open_round = assignments.lock_place(assignment)
    annotation = Annotation.of(assignment).select_for_update().first()
    if annotation is not None and annotation.status == Status.SKIPPED:
        return _take_skip_back(annotation, open_round)
    if annotation is None or annotation.status != Status.SUBMITTED:
        return annotation or Annotation(assignment=assignment)
    _to_draft(annotation, open_round, kind=Kind.REOPENED, by=assignment.annotator)
    if annotation.revisions.filter(kind=Kind.RETURNED).exists():
        reason = events.reason_of("annotation.returned", annotation, project=open_round.project)
        assignment.row.update(returned_reason=reason)
    _record("annotation.reopened", annotation)
    return annotation


def why_skip_stands(annotation: Annotation) -> Fact | None:
    """Why a skip cannot be taken back; None when it can."""
    assignment = annotation.assignment
    reason = locking.why_skip_stands(annotation, assignment.round)
    return reason or (None if assignments.can_hold(assignment) else GONE)


def _take_skip_back(annotation: Annotation, open_round: Round) -> Annotation:
    reason = locking.why_skip_stands(annotation, open_round)
    if reason:
        raise locking.Locked(reason)
    if locking.is_in_gold(annotation):
        raise locking.Locked("skip.in_gold")
    if not assignments.hold(annotation.assignment):
        raise locking.Locked(GONE)
    as_it_is = _as_it_is(annotation)
    _store(annotation, as_it_is, kind=Kind.REOPENED, status=Status.DRAFT, skip_reason="")
    _record("annotation.unskipped", annotation)
    return annotation


@transactions.atomic
def send_back(assignment: Assignment, *, by: User, reason: str) -> Annotation:
    """Return a submitted answer to its annotator, as a draft, with what has to change."""
    reason = reason_in(reason)
    if not reason:
        raise ReasonMissing("annotation.no_return_reason")
    open_round = assignments.lock_place(assignment)
    annotation = Annotation.of(assignment).select_for_update().get()
    if annotation.status == Status.SUBMITTED:
        _to_draft(annotation, open_round, kind=Kind.RETURNED, by=by)
        assignment.row.update(returned_reason=reason)
        _record("annotation.returned", annotation, by=by, reason=reason)
    return annotation


def try_again(assignment: Assignment) -> None:
    """Reopen an answer of the qualification test for the next try, with its labels."""
    annotation = Annotation.of(assignment).select_for_update().first()
    if annotation is not None and annotation.status != Status.DRAFT:
        as_it_is = _as_it_is(annotation)
        _store(
            annotation,
            as_it_is,
            kind=Kind.REOPENED,
            status=Status.DRAFT,
            submitted_at=None,
            skip_reason="",
        )


def _to_draft(annotation: Annotation, open_round: Round, *, kind: Kind, by: User) -> None:
    """``open_round`` is locked by the caller, so that its last answer does not close it meanwhile.

    No page is named as the writer: a submission that arrives late meets a version it has not seen.
    """
    reason = locking.why_locked(annotation, open_round)
    if reason:
        raise locking.Locked(reason)
    if locking.is_in_gold(annotation):
        raise locking.Locked("reopening.in_gold")
    assignments.hold(annotation.assignment)  # its lease may have run out since it was submitted
    as_it_is = _as_it_is(annotation)
    _store(annotation, as_it_is, kind=kind, by=by, status=Status.DRAFT, submitted_at=None)


@transactions.atomic
def restore(assignment: Assignment, version: int, save: Save) -> Annotation:
    """Make the labels of an earlier revision the newest draft. ``save`` says which page asks.

    The labels of ``save`` itself are ignored.
    """
    assignments.hold(assignment)
    annotation = _lock(assignment)
    if _is_repeated(annotation, save):
        return annotation
    _refuse_if_final(annotation, is_open=assignments.is_open(assignment))
    _refuse_if_stale(annotation, save)
    chosen = AnnotationRevision.objects.filter(annotation=annotation.pk, version=version).first()
    if chosen is None:
        raise UnknownRevision("annotation.no_revision", version=version)
    earlier = {name: getattr(chosen, name) for name in ("payload", "empty", "unanswered")}
    save = _with_origins(annotation, save._replace(**earlier))
    _check(assignment, save, complete=False)  # the project's layers may have changed since
    return _store(annotation, save, kind=Kind.RESTORED, status=Status.DRAFT, skip_reason="")


def _as_it_is(annotation: Annotation) -> Save:
    as_it_is = Save(annotation.version, None, 0, annotation.payload, annotation.empty)
    return as_it_is._replace(unanswered=annotation.unanswered)


def _by_layer(assignment: Assignment, save: Save) -> Save:
    """What the answer leaves open, layer by layer; "nothing here" of all is one of the whole."""
    if save.nothing is None:
        return save
    layers = assignment.round.project.layers
    nothing = layers if save.empty else save.nothing
    if any(name not in layers or save.payload.get(LAYERS[name].key) for name in nothing):
        raise InvalidPayload(
            "annotation.not_storable",
            details={"problems": [Problem("empty", Fact("schema.empty_with_labels")).as_json()]},
        )
    without = [name for name in layers if not save.payload.get(LAYERS[name].key)]
    unanswered = [name for name in without if name not in nothing]
    return save._replace(empty=not unanswered and without == layers, unanswered=unanswered)


def _check(assignment: Assignment, save: Save, *, complete: bool) -> None:
    problems = problems_of(
        save.payload,
        project=assignment.round.project,
        conversation=assignment.conversation,
        complete=complete,
        empty=save.empty or bool(save.nothing and not any(save.payload.values())),
        open_fields=assignment.round.open_fields,
    )
    if problems:
        raise InvalidPayload(
            "annotation.incomplete" if complete else "annotation.not_storable",
            details={"problems": [problem.as_json() for problem in problems]},
        )


def _lock(assignment: Assignment) -> Annotation:
    """The answer as it is now; on PostgreSQL its row is locked until the end."""
    stored = Annotation.of(assignment).select_for_update()
    annotation = stored.first()
    if annotation is None:
        return _begun(assignment)
    annotation.assignment = assignment
    return annotation


def _lock_after_place(assignment: Assignment) -> Annotation:
    assignments.lock_own(assignment)
    return _lock(assignment)


def _begun(assignment: Assignment) -> Annotation:
    """The answer before its first save; it is not stored yet.

    Work already begun may be finished, even by somebody who gets nothing new.
    """
    admission.refuse_unless_admitted(assignment)
    return Annotation(assignment=assignment, guideline_id=assignment.round.guideline_id)


def _is_repeated(annotation: Annotation, save: Save) -> bool:
    return annotation.last_client == save.client and save.seq <= annotation.last_seq


def _refuse_if_final(annotation: Annotation, *, is_open: bool) -> None:
    """``is_open`` is read again: the round may have ended since the page's request came in."""
    if annotation.status == Status.SUBMITTED:
        raise AlreadySubmitted("annotation.submitted")
    if not is_open:
        raise RoundClosed("annotation.round_closed")


def _refuse_if_stale(annotation: Annotation, save: Save) -> None:
    if annotation.last_client != save.client and annotation.version != save.base_version:
        raise _stale(annotation, save)


def _with_origins(annotation: Annotation, save: Save) -> Save:
    """Labels taken over from a suggestion say so, and no others do."""
    return save._replace(payload=suggestions.with_origins(annotation, save.payload))


def _stale(annotation: Annotation, save: Save) -> StaleVersion:
    return StaleVersion(
        "annotation.changed_elsewhere",
        details={
            "base_version": save.base_version,
            "current_version": annotation.version,
            "payload": annotation.payload,
            "empty": annotation.empty,
            "unanswered": annotation.unanswered,
        },
    )


def _store(
    annotation: Annotation, save: Save, *, kind: Kind, by: User | None = None, **changes: Any
) -> Annotation:
    """Write the new version and its revision; the caller has locked the place."""
    values = {
        "payload": save.payload,
        "empty": save.empty,
        "unanswered": save.unanswered,
        "version": annotation.version + 1,
        "last_client": save.client,
        "last_seq": save.seq,
        "active_seconds": max(annotation.active_seconds, save.active_seconds),
        "updated_at": timezone.now(),
        **changes,
    }
    for name, value in values.items():
        setattr(annotation, name, value)
    annotation.save(update_fields=list(values) if annotation.pk else None)
    AnnotationRevision.objects.create(
        annotation=annotation,
        version=annotation.version,
        kind=kind,
        payload=save.payload,
        empty=save.empty,
        unanswered=save.unanswered,
        client=save.client,
        seq=save.seq,
        author=by or annotation.assignment.annotator,
    )
    return annotation


def _record(verb: str, annotation: Annotation, *, by: User | None = None, **data: Any) -> None:
    assignment = annotation.assignment
    events.record(
        verb,
        annotation,
        project=assignment.round.project,
        actor=by or assignment.annotator,
        conversation=assignment.conversation.external_id,
        version=annotation.version,
        **data,
    )


def _lock_conversation(assignment: Assignment) -> None:
    """Of two last answers of full labeling the second one has to know that it is the last."""
    is_label = assignment.purpose == Assignment.Purpose.LABELING
    is_shared = assignment.round.overlap > 1 and assignment.round.kind != Round.Kind.CALIBRATION
    if is_label and is_shared:
        assignments.lock_conversation(assignment.round_id, assignment.conversation_id)


def _finish(annotation: Annotation) -> None:
    """Wake the worker that compares the answer with gold, or with the answers of others."""
    assignment = annotation.assignment
    if assignment.purpose != Assignment.Purpose.LABELING:
        queue.ask("checks", assignment.pk)  # the web process never loads the encoder
    elif rounds.is_last_answer(annotation):
        pending.request(assignment.round.project, conversation=assignment.conversation_id)
