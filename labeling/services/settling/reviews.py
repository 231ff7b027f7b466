"""Reviews of submitted answers: which ones to review, and the verdicts on them."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Min

from labeling.domain.errors import RuleError, StaleVersion
from labeling.domain.reasons import reason_in
from labeling.models import Annotation, Merge, Project, Review, Round
from labeling.services import blindness, events, pending
from labeling.services.settling import merges
from labeling.services.work import assignments, handovers, suggestions
from labeling.services.work.annotations import InvalidPayload, ReasonMissing
from labeling.services.work.checking import problems_of

Verdict = Review.Verdict


class OwnWork(RuleError):
    """Nobody reviews their own answer."""

    code = "own_work"


class NotSubmitted(RuleError):
    """Only a submitted answer of full labeling is reviewed."""

    code = "not_submitted"


class Opinion(NamedTuple):
    """What a reviewer says about the version they have seen.

    ``payload`` are the corrected labels, for a fix. ``to`` is who gets the conversation when it is
    returned; None is the annotator who answered.
    """

    version: int
    verdict: str
    comment: str = ""
    payload: Mapping[str, Any] | None = None
    to: User | None = None


class ReviewRow(NamedTuple):
    """One answer: what is needed to choose it from all. ``conversation`` is a key."""

    pk: int
    version: int
    conversation: int
    annotator: str
    sampled: bool
    verdict: str


class ReviewLine(NamedTuple):
    """One answer as it is shown. ``agreement`` is None where the answers are not merged yet."""

    pk: int
    conversation: str
    annotator: str
    submitted_at: datetime
    round: int
    verdict: str
    agreement: float | None


def rows(project: Project, *, viewer: User) -> list[ReviewRow]:
    """Every submitted answer in full labeling, oldest first.

    Left out are the viewer's own, and those about what the viewer labels blind.
    """
    seeds = dict(project.rounds.labelling().filter(kind=Round.Kind.FULL).values_list("pk", "seed"))
    submitted = (
        Annotation.objects.labelling()
        .filter(assignment__round__in=seeds, status=Annotation.Status.SUBMITTED)
        .exclude(assignment__annotator=viewer)
        .exclude(assignment__conversation__in=blindness.again(viewer))
    )
    submissions = list(submitted.order_by("submitted_at", "pk").values_list(*_COLUMNS))
    people = User.objects.filter(pk__in={annotator for *_, annotator in submissions})
    names = dict(people.values_list("pk", "username"))
    verdicts, rate = _verdicts(project), project.review_rate
    return [
        ReviewRow(
            pk=pk,
            version=version,
            conversation=conversation,
            annotator=names[annotator],
            sampled=rate > 0 and is_sampled(assignment, rate=rate, seed=seeds[round_]),
            verdict=verdicts.get((pk, version), ""),
        )
        for pk, version, assignment, round_, conversation, annotator in submissions
    ]


_COLUMNS = (
    *("pk", "version", "assignment", "assignment__round"),
    *("assignment__conversation", "assignment__annotator"),
)


def lines(project: Project, chosen: Sequence[ReviewRow]) -> list[ReviewLine]:
    """What is shown of these answers, in their order."""
    columns = ("assignment__conversation__external_id", "submitted_at", "assignment__round__number")
    shown = Annotation.objects.labelling().filter(pk__in=[row.pk for row in chosen])
    details = {pk: rest for pk, *rest in shown.values_list("pk", *columns)}
    agreement = _agreement(project, {row.conversation for row in chosen})
    shown_lines = []
    for row in chosen:
        conversation, submitted_at, number = details[row.pk]
        agreed = agreement.get(row.conversation)
        shown_lines.append(
            ReviewLine(
                row.pk, conversation, row.annotator, submitted_at, number, row.verdict, agreed
            )
        )
    return shown_lines


def is_sampled(assignment: int, *, rate: float, seed: int) -> bool:
    """Whether an answer is drawn. The same answers are drawn every time, and a higher rate adds
    to those of a lower one.
    """
    digest = hashlib.sha256(f"{seed}:{assignment}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64 < rate


def _verdicts(project: Project) -> dict[tuple[int, int], str]:
    """The newest verdict on each version."""
    reviews = Review.objects.filter(annotation__assignment__round__project=project).order_by("pk")
    triples = reviews.values_list("annotation", "version", "verdict")
    return {(annotation, version): verdict for annotation, version, verdict in triples}


def last_known(project: Project) -> dict[int, float]:
    """By conversation, the lowest agreement over the layers when its answers were merged last.

    Good enough to sort by; what is shown is the agreement of the current answers.
    """
    known = Merge.objects.filter(conversation__project=project, layer__in=project.layers)
    return dict(known.order_by().values_list("conversation").annotate(lowest=Min("agreement")))


def _agreement(project: Project, conversations: Collection[int]) -> dict[int, float]:
    """Where everybody has answered: the lowest over the layers, of the current answers."""
    answered = merges.answered(project, among=conversations)
    lowest: dict[int, float] = {}
    for layer in merges.layers_of(project):
        for pk, merge in merges.current(
            project, layer, merges.for_layer(answered, project, layer)
        ).items():
            lowest[pk] = min(merge.agreement, lowest.get(pk, 1.0))
    return lowest


@transaction.atomic
def review(annotation: Annotation, opinion: Opinion, *, by: User) -> Review:
    """Record a verdict. An earlier one about the same version is kept; the newest one counts."""
    assignments.lock_place(annotation.assignment)  # first: a submission locks it first, too
    current = Annotation.objects.labelling().select_for_update(of=("self",)).get(pk=annotation.pk)
    _check(current, opinion, by)
    stored = Review.objects.create(
        annotation=current,
        version=current.version,
        verdict=opinion.verdict,
        payload=_fix(current, opinion) if opinion.verdict == Verdict.FIXED else None,
        comment=reason_in(opinion.comment),
        reviewer=by,
    )
    _record(stored)
    if opinion.verdict == Verdict.RETURNED:
        handovers.return_to(
            current.assignment, reason=opinion.comment, by=by, to=_other(current, opinion)
        )
    pending.request(
        current.assignment.round.project, conversation=current.assignment.conversation_id
    )
    return stored


def _check(annotation: Annotation, opinion: Opinion, by: User) -> None:
    assignment = annotation.assignment
    if assignment.annotator_id == by.pk:
        raise OwnWork("review.own_work")
    if annotation.version != opinion.version:
        raise StaleVersion(
            "review.answer_changed",
            details={"base_version": opinion.version, "current_version": annotation.version},
        )
    submitted = annotation.status == Annotation.Status.SUBMITTED
    if not submitted or assignment.round.kind != Round.Kind.FULL:
        raise NotSubmitted("review.not_submitted")
    if opinion.verdict == Verdict.RETURNED and not reason_in(opinion.comment):
        raise ReasonMissing("annotation.no_return_reason")
    if opinion.verdict == Verdict.FIXED:
        _check_fix(annotation, opinion.payload or {})


def _check_fix(annotation: Annotation, payload: Mapping[str, Any]) -> None:
    conversation = annotation.assignment.conversation
    problems = problems_of(
        payload,
        project=annotation.assignment.round.project,
        conversation=conversation,
        complete=True,
        empty=not any(payload.values()),
        open_fields=annotation.assignment.round.open_fields,
    )
    if problems:
        raise InvalidPayload(
            "review.incomplete", details={"problems": [problem.as_json() for problem in problems]}
        )


def _fix(annotation: Annotation, opinion: Opinion) -> Mapping[str, Any]:
    """A label that the reviewer corrects no longer counts as suggested."""
    return suggestions.with_origins(annotation, opinion.payload or {})


def _other(annotation: Annotation, opinion: Opinion) -> User | None:
    return None if opinion.to == annotation.assignment.annotator else opinion.to


def _record(stored: Review) -> None:
    assignment = stored.annotation.assignment
    events.record(
        "annotation.reviewed",
        stored.annotation,
        project=assignment.round.project,
        actor=stored.reviewer,
        conversation=assignment.conversation.external_id,
        annotator=assignment.annotator.get_username(),
        verdict=stored.verdict,
        comment=stored.comment,
    )


def next_of(rows: Sequence[ReviewRow], *, after: int) -> ReviewRow | None:
    """The next one in the list that waits for a verdict, going on from the start after the last."""
    at = next((n for n, row in enumerate(rows) if row.pk == after), -1)
    return next((row for row in [*rows[at + 1 :], *rows[: at + 1]] if not row.verdict), None)
