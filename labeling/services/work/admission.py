"""Who may get work: everybody, unless they must pass a test first or a lead has to look."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.models import Assignment, Membership, Pause, Project, Qualification, Round
from labeling.services.statements import Prepared

State = Qualification.State
ADMITTED = (State.PASSED, State.WAIVED)


class NotQualified(RuleError):
    """The user must pass the project's test first."""

    code = "not_qualified"


class Paused(RuleError):
    """Too many hidden checks were missed: a lead has to look at it."""

    code = "paused"


def shut_to(user: User) -> list[int]:
    """The projects that give the user no work except their test."""
    return _SHUT.rows(user.pk)


def _shut(user: User | int) -> QuerySet[Project]:
    here = {"project": OuterRef("pk"), "user": user}
    paused = Exists(Pause.objects.filter(**here, lifted_at__isnull=True))
    admitted = Exists(Qualification.objects.filter(**here, state__in=ADMITTED))
    mine = Project.objects.filter(
        memberships__user=user, memberships__role=Membership.Role.ANNOTATOR
    )
    return mine.filter(paused | (Q(check_plan__test=True) & ~admitted)).order_by("pk")


_SHUT = Prepared(lambda user: _shut(user).values_list("pk", flat=True))
_SHUT_HERE = Prepared(
    lambda user, project: _shut(user).filter(pk=project).order_by().values_list("pk", flat=True)
)


def is_shut(user: User, round_: Round) -> bool:
    """Whether the user gets no work of the round now."""
    return bool(_SHUT_HERE.rows(user.pk, round_.project_id))


def not_begun_in(shut: Sequence[int]) -> Q:
    """Work of these projects that must wait. Work already begun may be finished."""
    waits = Q(round__project__in=shut, annotation__isnull=True)
    return waits & ~Q(purpose=Assignment.Purpose.QUALIFICATION)


def refuse_unless_admitted(assignment: Assignment) -> None:
    """Called before an answer is begun; the test itself is open to everybody who has it."""
    if assignment.purpose == Assignment.Purpose.QUALIFICATION:
        return
    project = assignment.round.project_id
    if _SHUT_HERE.rows(assignment.annotator_id, project):
        raise why_shut(assignment.annotator, [project])


def why_shut(user: User, shut: Sequence[int]) -> RuleError:
    """What to do about the first of these projects."""
    project = Project.objects.filter(pk__in=shut).order_by("pk")[0]
    if Pause.objects.filter(project=project, user=user, lifted_at__isnull=True).exists():
        return Paused("admission.paused", project=project.name, leads=leads_of(project))
    test = Qualification.objects.filter(project=project, user=user).first()
    return NotQualified(_what_to_do(project, test))


def _what_to_do(project: Project, test: Qualification | None) -> Fact:
    if test is None:
        return Fact("admission.test_first", project=project.name)
    if test.state == State.BETWEEN:
        return Fact("admission.test_not_passed", project=project.name)
    if test.state == State.FAILED:
        return Fact("admission.test_failed", project=project.name, leads=leads_of(project))
    return Fact("admission.test_unfinished", project=project.name)


def leads_of(project: Project) -> str:
    """The names of the project's leads, for messages that say whom to ask."""
    return leads_by_project([project])[project.pk]


def leads_by_project(projects: Collection[Project]) -> dict[int, str]:
    """The same for several projects, in one query."""
    led = Membership.objects.filter(project__in=projects, role=Membership.Role.LEAD)
    names: dict[int, list[str]] = {project.pk: [] for project in projects}
    for pk, name in led.order_by("user__username").values_list("project", "user__username"):
        names[pk].append(name)
    return {pk: " / ".join(leads) or "admin" for pk, leads in names.items()}
