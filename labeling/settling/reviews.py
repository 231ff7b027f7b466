"""Reviews of submitted answers: which ones to review, and the verdicts on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.shortcuts import get_object_or_404

from labeling.core import events
from labeling.core.rules.reasons import reason_in
from labeling.domain.errors import RuleError, StaleVersion
from labeling.gold import looks
from labeling.jobs import pending
from labeling.models import Annotation, Conversation, Membership, Project, Review, Round
from labeling.work import assignments, blindness, suggestions
from labeling.work.annotations import InvalidPayload, ReasonMissing, send_back
from labeling.work.checking import problems_of

Verdict = Review.Verdict


class OwnWork(RuleError, code="own_work"):
    """Nobody reviews their own answer."""


class NotSubmitted(RuleError, code="not_submitted"):
    """Only a submitted answer of full labeling is reviewed."""


class Opinion(NamedTuple):
    """What a reviewer says about the version they have seen; ``payload`` corrects the labels."""

    version: int
    verdict: str
    comment: str = ""
    payload: Mapping[str, Any] | None = None


def listed(project: Project, *, viewer: User, annotator: str = "") -> QuerySet[Any]:
    """Submitted answers of full labeling: the drawn sample, or all where the project draws none.

    Each has its newest ``verdict`` on this version, "" if it has none. Left out are the viewer's
    own, and those about what the viewer labels blind; ``annotator`` narrows it to one person.
    """
    answers = Annotation.objects.filter(
        status=Annotation.Status.SUBMITTED,
        assignment__round__project=project,
        assignment__round__kind=Round.Kind.FULL,
    ).exclude(assignment__annotator=viewer)
    answers = answers.exclude(assignment__conversation__in=blindness.again(viewer))
    if project.review_rate:
        answers = answers.filter(assignment__draw__lt=project.review_rate)
    if annotator:
        answers = answers.filter(assignment__annotator__username=annotator)
    current = Review.objects.filter(annotation=OuterRef("pk"), version=OuterRef("version"))
    newest = Subquery(current.order_by("-pk").values("verdict")[:1])
    return answers.annotate(verdict=Coalesce(newest, Value("")))


def readable(user: Any, pk: int) -> Annotation:
    """An answer of full labeling, for leads and researchers who do not label it blind."""
    readers = (Membership.Role.LEAD, Membership.Role.RESEARCHER)
    full = Annotation.objects.filter(
        assignment__round__project__in=Project.objects.with_role(user, *readers),
        assignment__round__kind=Round.Kind.FULL,
    ).select_related("assignment__round__project", "assignment__conversation", "guideline")
    annotation = get_object_or_404(full.select_related("assignment__annotator"), pk=pk)
    conversation = annotation.assignment.conversation
    blindness.refuse(user, Conversation.objects.filter(pk=conversation.pk))
    looks.require_answers(user, conversation)
    return annotation


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
        send_back(current.assignment, by=by, reason=opinion.comment)
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
