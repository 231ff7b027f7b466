"""Reviews of submitted answers: which ones to review, and the verdicts on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, Min, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from labeling.core import events
from labeling.core.keysets import following_rows
from labeling.core.rules.reasons import reason_in
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


class ReviewLine(NamedTuple):
    """One answer in a list. ``verdict`` is the newest on its version, or empty; ``agreement`` is
    None where the answers are not merged yet.
    """

    annotation: int
    conversation_id: int
    conversation: str
    annotator: str
    submitted_at: datetime
    round: int
    verdict: str
    agreement: float | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """Which of the answers: ``mode`` is sample, lowest or all; no annotator means everybody."""

    mode: str = "all"
    annotator: str = ""


class ReviewList:
    """Every submitted answer in full labeling, oldest first, or by the lowest agreement.

    Left out are the viewer's own, and those about what the viewer labels blind.
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
    ) -> list[ReviewLine]:
        """The first ones with or without a verdict, or those that follow an answer."""
        order = ["submitted_at", "pk"]
        if choice.mode == "lowest":
            order = ["lowest", "assignment__conversation", *order]
        answers = self._ordered(self._answers(choice), choice)
        place = self._ordered(Annotation.with_checks.filter(pk=behind or 0), choice)
        if values := place.values_list(*order).first():
            # a draft again, as it was returned just now: before the others of its conversation
            values = tuple(BEFORE_ALL if value is None else value for value in values)
            answers = answers.filter(following_rows(order, values))
        current = Review.objects.filter(annotation=OuterRef("pk"), version=OuterRef("version"))
        newest = Subquery(current.order_by("-pk").values("verdict")[:1])
        answers = answers.filter(Exists(current) if is_done else ~Exists(current))
        rows = answers.order_by(*order).annotate(verdict=Coalesce(newest, Value("")))
        lines = [ReviewLine(*row) for row in rows.values_list(*_COLUMNS, "verdict")[:most]]
        agreement = _agreement(self._project, {line.conversation_id for line in lines})
        return [line._replace(agreement=agreement.get(line.conversation_id)) for line in lines]

    def _ordered(self, answers: QuerySet[Annotation], choice: Choice) -> QuerySet[Annotation]:
        """With the ``lowest`` agreement by which they are sorted; last is what is not merged yet.

        Good enough to sort by; what is shown is the agreement of the current answers.
        """
        if choice.mode != "lowest":
            return answers
        merged = Merge.objects.filter(
            conversation=OuterRef("assignment__conversation"), layer__in=self._project.layers
        ).order_by()
        lowest = merged.values("conversation").annotate(lowest=Min("agreement")).values("lowest")
        return answers.annotate(lowest=Coalesce(Subquery(lowest), Value(2.0)))

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
        work = self._work(choice).filter(pk=OuterRef("assignment"))
        submitted = Annotation.with_checks.filter(status=Annotation.Status.SUBMITTED)
        return submitted.filter(Exists(work))


BEFORE_ALL = datetime(1970, 1, 1, tzinfo=UTC)
_COLUMNS = (
    *("pk", "assignment__conversation", "assignment__conversation__external_id"),
    *("assignment__annotator__username", "submitted_at", "assignment__round__number"),
)


def usual_mode(project: Project) -> str:
    return "sample" if project.review_rate else "lowest"


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
    fix: Mapping[str, Any] | None = None
    if opinion.verdict == Verdict.FIXED:  # what the reviewer corrects no longer counts as suggested
        fix = suggestions.with_origins(current, opinion.payload or {})
    stored = Review.objects.create(
        annotation=current,
        version=current.version,
        verdict=opinion.verdict,
        payload=fix,
        comment=reason_in(opinion.comment),
        reviewer=by,
    )
    _record(stored)
    if opinion.verdict == Verdict.RETURNED:
        to = None if opinion.to == current.assignment.annotator else opinion.to
        handovers.return_to(current.assignment, reason=opinion.comment, by=by, to=to)
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
