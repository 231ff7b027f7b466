"""Who may get work: everybody, unless they must pass a test or calibrate first, or are paused."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import FilteredRelation, Q, QuerySet
from django.utils import timezone

from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.models import (
    Admission,
    Assignment,
    CheckPlan,
    Membership,
    Pause,
    Project,
    Qualification,
    Round,
)

State = Qualification.State
ADMITTED = (State.PASSED, State.WAIVED)
CALIBRATED = (Admission.How.ROUND, Admission.How.CALIBRATED)
TEST = Assignment.Purpose.QUALIFICATION
"""What people may label before they may do anything else."""


class NotQualified(RuleError, code="not_qualified"):
    """The user must pass the project's test first."""


class Paused(RuleError, code="paused"):
    """Too many hidden checks were missed: a lead has to look at it."""


class NotCalibrated(RuleError, code="not_calibrated"):
    """Full labeling waits until the user has calibrated, or a lead lets them in."""


class Shut(NamedTuple):
    """The projects that give the user no work: at all, or no full labeling."""

    whole: list[int]
    full: list[int]

    def __bool__(self) -> bool:
        return bool(self.whole or self.full)

    @property
    def all(self) -> list[int]:
        return [*self.whole, *self.full]


def annotated_by(user: User) -> QuerySet[Project]:
    role = Membership.Role.ANNOTATOR
    return Project.objects.filter(memberships__user=user, memberships__role=role)


def with_pause(projects: QuerySet[Project], user: User) -> QuerySet[Any]:
    """With the ``pause`` of the user that runs there."""
    running = Q(pauses__user=user, pauses__lifted_at=None)
    return projects.annotate(pause=FilteredRelation("pauses", condition=running))


def shut_to(user: User) -> Shut:
    """The projects that give the user nothing but their test, or no full labeling."""
    return shut(user, annotated_by(user).order_by().values_list("pk", "layers", "check_plan__test"))


def is_shut(user: User, round_: Round) -> bool:
    """Whether the user, who annotates there, begins nothing in the round now."""
    project = round_.project
    plan = CheckPlan.objects.filter(project=project).order_by()
    test = next(iter(plan.values_list("test", flat=True)), None)
    is_full = round_.kind == Round.Kind.FULL
    return bool(shut(user, [(project.pk, project.layers if is_full else [], test)]))


def shut(user: User, projects: Iterable[tuple[int, Sequence[str], bool | None]]) -> Shut:
    """Of these projects, each with its layers and whether it has a test; None: it checks nobody."""
    rows = list(projects)
    checking = {pk: test for pk, _, test in rows if test is not None}
    barred = _paused(user, checking) if checking else set()
    if any(checking.values()):
        barred |= {pk for pk, test in checking.items() if test} - _passed_test(user)
    layers = {pk: names for pk, names, _ in rows if names and pk not in barred}
    return Shut([pk for pk, _, _ in rows if pk in barred], _not_calibrated(user, layers))


def _paused(user: User, projects: Collection[int]) -> set[int]:
    running = Pause.objects.filter(user=user, project__in=projects, lifted_at=None).order_by()
    return set(running.values_list("project", flat=True))


def _passed_test(user: User) -> set[int]:
    tests = Qualification.objects.filter(user=user, state__in=ADMITTED)
    return set(tests.order_by().values_list("project", flat=True))


def _not_calibrated(user: User, layers: Mapping[int, Sequence[str]]) -> list[int]:
    """A layer that the project no longer labels is nothing to calibrate on."""
    if not layers:
        return []
    admissions = Admission.objects.filter(project__in=layers).order_by()
    rows = list(admissions.values_list("project", "layer", "how", "user"))
    passed = {(project, layer) for project, layer, how, _ in rows if how == Admission.How.ROUND}
    passed -= {(project, layer) for project, layer, _, person in rows if person == user.pk}
    return [pk for pk, names in layers.items() if any((pk, layer) in passed for layer in names)]


# --- calibration, layer by layer ------------------------------------------------------------------


def calibrated_layers(project: Project) -> list[str]:
    """The layers on which a calibration round of the project has passed."""
    passed = project.admissions.filter(how=Admission.How.ROUND).order_by()
    known = set(passed.values_list("layer", flat=True).distinct())
    return [layer for layer in project.layers if layer in known]


def not_calibrated_on(project: Project, user: User) -> list[str]:
    """The layers that keep the user from full labeling."""
    theirs = set(project.admissions.filter(user=user).values_list("layer", flat=True))
    return [layer for layer in calibrated_layers(project) if layer not in theirs]


def admit_those_who_calibrated(passed: Round, layers: Collection[str]) -> None:
    """Everybody who submitted in a passed calibration round, on the layers that were measured."""
    submitted = passed.assignments.filter(annotation__status="submitted").order_by()
    for user in User.objects.filter(pk__in=submitted.values("annotator")):
        admit(passed.project, user, dict.fromkeys(layers, Admission.How.ROUND), passed)


def admit(
    project: Project,
    user: User,
    layers: Mapping[str, Admission.How],
    passed: Round | None = None,
    **let_in: Any,
) -> None:
    """From now on, by layer. Somebody who was let in before is calibrated from now on."""
    now = timezone.now()
    calibrated = {layer for layer, how in layers.items() if how in CALIBRATED}
    Admission.objects.bulk_create(
        [
            Admission(
                project=project,
                user=user,
                layer=layer,
                how=how,
                round=passed,
                calibrated_at=now if layer in calibrated else None,
                **let_in,
            )
            for layer, how in layers.items()
        ],
        ignore_conflicts=True,
    )
    known = project.admissions.filter(user=user, layer__in=calibrated, calibrated_at=None)
    known.update(calibrated_at=now)


def not_begun_in(shut: Shut) -> Q:
    """Work of these projects that must wait. Work already begun may be finished."""
    waits = Q(round__project__in=shut.whole)
    waits |= Q(round__project__in=shut.full, round__kind=Round.Kind.FULL)
    return waits & Q(annotation__isnull=True) & ~Q(purpose=TEST)


def refuse_unless_admitted(assignment: Assignment) -> None:
    """Called before an answer is begun; tests are open to everybody who has one."""
    if assignment.purpose == TEST:
        return
    if is_shut(assignment.annotator, assignment.round):
        raise why_shut(assignment.annotator, [assignment.round.project_id])


def why_shut(user: User, shut: Sequence[int]) -> RuleError:
    """What to do about the first of these projects."""
    project = Project.objects.filter(pk__in=shut).order_by("pk")[0]
    if Pause.objects.filter(project=project, user=user, lifted_at__isnull=True).exists():
        return Paused("admission.paused", project=project.name, leads=leads_of(project))
    test = Qualification.objects.filter(project=project, user=user).first()
    if CheckPlan.objects.filter(project=project, test=True).exists() and (
        test is None or test.state not in ADMITTED
    ):
        return NotQualified(_about_test(project, test))
    return NotCalibrated(not_calibrated_in(project))


def not_calibrated_in(project: Project) -> Fact:
    """What somebody does who may not do full labeling there yet."""
    return Fact("admission.not_calibrated", project=project.name, leads=leads_of(project))


def _about_test(project: Project, tried: Qualification | None) -> Fact:
    if tried is None:
        return Fact("admission.test_first", project=project.name)
    if tried.state == State.BETWEEN:
        return Fact("admission.test_not_passed", project=project.name)
    if tried.state == State.FAILED:
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
