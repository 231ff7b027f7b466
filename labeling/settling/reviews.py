"""Reviews of submitted answers: which ones to review, and the verdicts on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet

from labeling.core import events
from labeling.core.rules.reasons import reason_in
from labeling.domain.batches import batches
from labeling.domain.errors import RuleError, StaleVersion
from labeling.jobs import pending
from labeling.models import Annotation, Assignment, Merge, Project, Review, Round
from labeling.settling import merges
from labeling.work import assignments, blindness, handovers, suggestions
from labeling.work.annotations import InvalidPayload, ReasonMissing
from labeling.work.checking import problems_of

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
    """One answer in a list. ``verdict`` is the newest on its version, or empty."""

    pk: int
    conversation: int
    annotator: str
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


@dataclass(frozen=True, slots=True)
class Choice:
    """Which of the answers: ``mode`` is sample, lowest or all; no annotator means everybody."""

    mode: str = "all"
    annotator: str = ""


class ReviewList:
    """Every submitted answer in full labeling, oldest first, or by the lowest agreement.

    Left out are the viewer's own, and those about what the viewer labels blind. There may be
    hundreds of thousands: the database counts them, and a page of them is read.
    """

    def __init__(self, project: Project, *, viewer: User) -> None:
        self._project, self._viewer = project, viewer
        full = project.rounds.filter(kind=Round.Kind.FULL)
        self._rounds = list(full.values_list("pk", flat=True))
        self._blind = set(blindness.again(viewer).values_list("pk", flat=True))

    def numbers(self, choice: Choice) -> Counter[str]:
        """How many answers there are, by annotator."""
        work = self._work(choice).filter(annotation__status=Annotation.Status.SUBMITTED).order_by()
        counts = dict(work.values_list("annotator").annotate(n=Count("pk")))
        names = dict(User.objects.filter(pk__in=counts).values_list("pk", "username"))
        return Counter({names[pk]: n for pk, n in counts.items()})

    def number_done(self, choice: Choice) -> int:
        """How many of them have a verdict on their version."""
        answer = self._answers(choice).filter(
            pk=OuterRef("annotation"), version=OuterRef("version")
        )
        verdicts = Review.objects.filter(Exists(answer)).order_by()
        return verdicts.values("annotation").distinct().count()

    def page(
        self, choice: Choice, *, is_done: bool, behind: int | None = None, most: int
    ) -> list[ReviewRow]:
        """The first ones with or without a verdict, or those that follow an answer."""
        answers, anchor = self._answers(choice), _anchor(behind)
        current = Review.objects.filter(annotation=OuterRef("pk"), version=OuterRef("version"))
        if is_done:
            answers = answers.filter(pk__in=Review.objects.order_by().values("annotation"))
        answers = answers.filter(Exists(current) if is_done else ~Exists(current))
        if choice.mode == "lowest":
            rows = list(islice(self._by_agreement(answers, anchor), most))
        else:
            rows = [_Row(*row) for row in _oldest_first(answers, anchor)[:most]]
        verdicts = _verdicts([row.pk for row in rows]) if is_done else {}
        people = User.objects.filter(pk__in={row.annotator for row in rows})
        names = dict(people.values_list("pk", "username"))
        return [
            ReviewRow(row.pk, row.conversation, names[row.annotator], verdicts.get(row.pk, ""))
            for row in rows
        ]

    def _work(self, choice: Choice) -> QuerySet[Assignment]:
        work = Assignment.objects.filter(round__in=self._rounds)
        work = work.exclude(annotator=self._viewer)
        if self._blind:
            work = work.exclude(conversation__in=self._blind)
        if choice.mode == "sample":
            work = work.filter(draw__lt=self._project.review_rate)
        if choice.annotator:
            work = work.filter(annotator__username=choice.annotator)
        return work

    def _answers(self, choice: Choice) -> QuerySet[Annotation]:
        """No join: of answers in order, SQLite would read all that fit and sort them."""
        work = self._work(choice).filter(pk=OuterRef("assignment"))
        submitted = Annotation.with_checks.filter(status=Annotation.Status.SUBMITTED)
        return submitted.filter(Exists(work))

    def _by_agreement(
        self, answers: QuerySet[Annotation], anchor: _Anchor | None
    ) -> Iterator[_Row]:
        """Answers to the same conversation together, and last what is not merged yet.

        Good enough to sort by; what is shown is the agreement of the current answers.
        """
        merged = Merge.objects.filter(
            conversation__project=self._project, layer__in=self._project.layers
        ).order_by()
        known = merged.values_list("conversation").annotate(lowest=Min("agreement"))
        last = known.filter(conversation=anchor.conversation) if anchor else known.none()
        place = next(iter(last), None)
        if anchor is None or place is not None:
            for part in batches(_lowest_first(known, place), AT_A_TIME):
                order = {conversation: n for n, conversation in enumerate(part)}
                here = answers.filter(assignment__conversation__in=part).values_list(*_COLUMNS)
                rows = [_Row(*row) for row in here]
                rows.sort(key=lambda row: (order[row.conversation], row.submitted_at, row.pk))
                yield from (row for row in rows if anchor is None or anchor.is_before(row))
            anchor = None
        unmerged = answers.exclude(assignment__conversation__in=merged.values("conversation"))
        yield from (_Row(*row) for row in _oldest_first(unmerged, anchor).iterator())


AT_A_TIME = 200
"""Conversations whose answers are read together; their keys in parts that grow by the factor."""
FACTOR = 10


class _Row(NamedTuple):
    pk: int
    conversation: int
    annotator: int
    submitted_at: datetime


_COLUMNS = ("pk", "assignment__conversation", "assignment__annotator", "submitted_at")


class _Anchor(NamedTuple):
    """The answer behind which a list goes on; without its time if it is a draft again."""

    pk: int
    conversation: int
    submitted_at: datetime | None

    def is_before(self, row: _Row) -> bool:
        if row.conversation != self.conversation or self.submitted_at is None:
            return True
        return (self.submitted_at, self.pk) < (row.submitted_at, row.pk)


def _anchor(pk: int | None) -> _Anchor | None:
    if pk is None:
        return None
    answer = Annotation.objects.filter(pk=pk)
    columns = ("pk", "assignment__conversation", "submitted_at")
    return next((_Anchor(*row) for row in answer.values_list(*columns)), None)


def _oldest_first(answers: QuerySet[Annotation], anchor: _Anchor | None) -> QuerySet[Any, Any]:
    if anchor is not None and anchor.submitted_at is not None:
        answers = answers.filter(submitted_at__gte=anchor.submitted_at)  # where an index begins
        answers = answers.exclude(submitted_at=anchor.submitted_at, pk__lte=anchor.pk)
    return answers.order_by("submitted_at", "pk").values_list(*_COLUMNS)


def _lowest_first(known: QuerySet[Any, Any], place: tuple[int, float] | None) -> Iterator[int]:
    """Conversations from a place on, by agreement; mostly a few are enough."""
    if place is not None:
        conversation, lowest = place
        known = known.filter(
            Q(lowest__gt=lowest) | Q(lowest=lowest, conversation__gte=conversation)
        )
    ordered, start, size = known.order_by("lowest", "conversation"), 0, AT_A_TIME
    while part := list(ordered[start : start + size]):
        yield from (conversation for conversation, _lowest in part)
        start, size = start + size, size * FACTOR


def _verdicts(answers: Collection[int]) -> dict[int, str]:
    """The newest verdict on the current version of each."""
    reviews = Review.objects.filter(annotation__in=answers, version=F("annotation__version"))
    return dict(reviews.order_by("pk").values_list("annotation", "verdict"))


def lines(project: Project, chosen: Sequence[ReviewRow]) -> list[ReviewLine]:
    """What is shown of these answers, in their order."""
    columns = ("assignment__conversation__external_id", "submitted_at", "assignment__round__number")
    shown = Annotation.objects.filter(pk__in=[row.pk for row in chosen])
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
    current = Annotation.objects.select_for_update(of=("self",)).get(pk=annotation.pk)
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
