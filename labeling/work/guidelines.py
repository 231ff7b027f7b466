"""Guidelines: every change is a new version, because labels name the version they follow.

Labels that were made under an older version are looked at again: they still hold, or they have
to be made again.
"""

from __future__ import annotations

from collections.abc import Collection

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from labeling.core import events
from labeling.core.rules.reasons import reason_in
from labeling.domain.canonical import with_line_feeds
from labeling.domain.errors import RuleError, StaleVersion
from labeling.domain.msgids import msgid
from labeling.models import (
    Annotation,
    Disagreement,
    Guideline,
    GuidelineCheck,
    GuidelineReason,
    Project,
    Round,
)
from labeling.work import annotations as answers
from labeling.work import blindness, locking

MOST_TO_ANSWER = 50


class GuidelineUnchanged(RuleError, code="guideline_unchanged"):
    """The text equals the newest version."""


class NotSuperseded(RuleError, code="not_superseded"):
    """The labels follow the newest version, or were checked against it before."""


@transaction.atomic
def add_version(
    *,
    project: Project,
    body: str,
    summary: str,
    by: User | None,
    base_version: int,
    because: Collection[Disagreement] = (),
) -> Guideline:
    """Write the next version. ``base_version`` is the newest one that the writer has seen.

    ``because`` are the disagreements that it answers.
    """
    body = with_line_feeds(body).strip() + "\n"  # browsers send CRLF
    newest = project.guidelines.first()
    number = newest.version if newest else 0
    if number != base_version:
        raise _stale(base_version, number)
    if newest and newest.body == body:
        raise GuidelineUnchanged(
            msgid("This is the text of version {number}: nothing was changed."), number=number
        )
    try:
        with transaction.atomic():
            added = Guideline.objects.create(
                project=project,
                version=number + 1,
                body=body,
                summary=summary.strip(),
                created_by=by,
            )
    except IntegrityError:
        raise _stale(base_version, number + 1) from None
    GuidelineReason.objects.bulk_create(
        GuidelineReason(guideline=added, disagreement=row) for row in because
    )
    events.record(
        "guideline.added", added, project=project, actor=by, version=added.version, summary=summary
    )
    return added


def superseded(project: Project, newest: Guideline) -> QuerySet[Annotation]:
    """Submitted labels that were made under an older version, checked or not.

    Those of an open calibration round are left out: nobody sees them before it has closed.
    """
    blind = Q(
        assignment__round__kind=Round.Kind.CALIBRATION,
        assignment__round__state=Round.State.OPEN,
    )
    older = list(project.guidelines.filter(version__lt=newest.version).values_list("pk", flat=True))
    return Annotation.objects.filter(
        assignment__round__project=project,
        status=Annotation.Status.SUBMITTED,
        guideline__in=older,  # none, and nothing is asked
    ).exclude(blind)


def named_in_disagreements(project: Project) -> QuerySet[Disagreement]:
    """The disagreements because of which the guidelines change."""
    return Disagreement.objects.filter(
        round__project=project, outcome=Disagreement.Outcome.GUIDELINE
    )


def to_answer(
    project: Project, by: User, besides: Disagreement | None = None
) -> list[Disagreement]:
    """Those that no version has answered yet, the newest decisions first, and ``besides``.

    Decisions on conversations that the writer labels blind now are left out.
    """
    rows = named_in_disagreements(project).filter(answers=None)
    rows = rows.exclude(conversation__in=blindness.again(by))
    newest = rows.select_related("conversation", "round").order_by("-decided_at")[:MOST_TO_ANSWER]
    open_ones = list(newest)
    return [besides, *open_ones] if besides and besides not in open_ones else open_ones


@transaction.atomic
def check(
    annotation: Annotation, newest: Guideline, *, stands: bool, note: str, by: User
) -> GuidelineCheck:
    """Say whether labels of an older version hold under the newest one.

    Labels that do not hold go back to their annotator, to be made under the newest version, unless
    they are locked; then only the check says that they have to be labeled again.
    """
    note = reason_in(note)
    if not stands and not note:
        raise answers.ReasonMissing("annotation.no_return_reason")
    if not superseded(newest.project, newest).filter(pk=annotation.pk).exists():
        raise NotSuperseded(msgid("These labels follow the newest version already."))
    try:
        with transaction.atomic():
            check_ = GuidelineCheck.objects.create(
                annotation=annotation,
                guideline=newest,
                stands=stands,
                note=note,
                checked_by=by,
            )
    except IntegrityError:
        raise NotSuperseded(msgid("Somebody checked these labels in the meantime.")) from None
    assignment = annotation.assignment
    is_locked = locking.why_locked(annotation, assignment.round) or locking.is_in_gold(annotation)
    if not stands and not is_locked:
        answers.send_back(assignment, by=by, reason=note)
        Annotation.objects.filter(pk=annotation.pk).update(guideline=newest)
    events.record(
        "guideline.checked",
        check_,
        project=newest.project,
        actor=by,
        conversation=assignment.conversation.external_id,
        annotator=assignment.annotator.get_username(),
        version=newest.version,
        found="stands" if stands else "outdated",
    )
    return check_


def _stale(base_version: int, current: int) -> StaleVersion:
    return StaleVersion(
        msgid(
            "Version {current} was written in the meantime. Compare it with your "
            "text, then save again."
        ),
        current=current,
        details={"base_version": base_version, "current_version": current},
    )
