"""The test of newcomers: conversations with gold that come before all other work."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from labeling.core import events, projects
from labeling.core.rules.reasons import reason_in
from labeling.domain.errors import RuleError
from labeling.gold.rules.gold_checks import mean
from labeling.models import (
    Assignment,
    GoldCheck,
    Membership,
    Project,
    Qualification,
    Round,
)
from labeling.screening import check_turns
from labeling.work.admission import ADMITTED, annotated_by, leads_by_project, leads_of, with_pause
from labeling.work.annotations import try_again

PURPOSE = Assignment.Purpose.QUALIFICATION
State = Qualification.State
TEST = Qualification.Kind.TEST
COMES_FIRST = ("", State.TRYING, State.BETWEEN)  # "" before its begin
DONE = Q(annotation__status__in=["submitted", "skipped"])
SLACK = 1e-9  # a mean of floats may fall a hair below what it is


class TestImpossible(RuleError):
    """The qualification test cannot be begun, or not again."""

    code = "test_impossible"
    __test__ = False  # not a test class of pytest


class WaiverImpossible(RuleError):
    """There is nothing to waive, or the reason is missing."""

    code = "waiver_impossible"


def of(user: User, project: Project, purpose: str = PURPOSE) -> QuerySet[Assignment]:
    """The parts of the user's test, or of their current or last calibration, in order."""
    parts = Assignment.with_checks.given_to(user).filter(
        purpose=purpose, round__project=project, slot__isnull=False
    )
    return parts.order_by("position")


class QualificationStatus(NamedTuple):
    """Whether somebody may work in one project, for their first page."""

    project: Project
    state: str  # "paused", a state of the test, or "" before its begin
    value: float | None
    tries_left: int
    parts: int
    done: int
    leads: str


def statuses(user: User) -> list[QualificationStatus]:
    """Projects with a test, and those that have paused the user."""
    mine = (
        with_pause(annotated_by(user), user)
        .annotate(paused=F("pause__pk"))
        .select_related("check_plan")
    )
    projects = list(
        mine.filter(Q(check_plan__test=True) | Q(paused__isnull=False)).order_by("name")
    )
    if not projects:
        return []
    tried = Qualification.objects.filter(user=user, project__in=projects, kind=TEST)
    known = {test.project_id: test for test in tried}
    done, leads = counts(projects, PURPOSE, annotator=user), leads_by_project(projects)
    found = []
    for project in projects:
        test = known.get(project.pk) or Qualification(tries=0, state="")
        answered, parts = done.get((project.pk, user.pk), (0, 0))
        found.append(
            QualificationStatus(
                project=project,
                state="paused" if project.paused else test.state,
                value=test.value,
                tries_left=max(project.check_plan.tries - test.tries, 0),
                parts=parts,
                done=answered,
                leads=leads[project.pk],
            )
        )
    return found


def counts(
    of_projects: Collection[Project], purpose: str, **only: Any
) -> dict[tuple[int, int], tuple[int, int]]:
    """By project and person, how many conversations are answered, and of how many."""
    parts = Assignment.with_checks.filter(
        purpose=purpose, round__project__in=of_projects, slot__isnull=False, **only
    )
    counted = parts.order_by().values_list("round__project", "annotator")
    rows = counted.annotate(done=Count("pk", filter=DONE), parts=Count("pk"))
    return {(project, user): (done, n) for project, user, done, n in rows}


@transaction.atomic
def begin(project: Project, user: User) -> Qualification:
    """Begin the test or the next try; a try that has begun continues."""
    projects.lock(project)
    plan = check_turns.plan_of(project)
    annotates = project.memberships.filter(user=user, role=Membership.Role.ANNOTATOR)
    if not plan.test or not annotates.exists():
        raise TestImpossible("qualification.no_test")
    test = Qualification.objects.filter(project=project, user=user, kind=TEST).first()
    if test is None:
        test = Qualification(project=project, user=user)
    elif test.state == State.BETWEEN:
        test.tries += 1
    elif test.state != State.TRYING:
        raise TestImpossible("qualification.over", project=project.name, leads=leads_of(project))
    is_new = test.pk is None or test.state == State.BETWEEN
    test.state = State.TRYING
    test.save()
    if is_new:
        _hand_out(project, user)
        _record("qualification.begun", test, by=user, tries=test.tries)
    return test


def _hand_out(project: Project, user: User) -> None:
    chosen = project.check_conversations.filter(purpose=PURPOSE).order_by("pk")
    ids = list(chosen.values_list("conversation", flat=True))
    had = Assignment.with_checks.given_to(user).filter(purpose=PURPOSE, round__project=project)
    again = set(had.values_list("conversation", flat=True))
    new = check_turns.unknown_to(user, project.conversations.filter(pk__in=ids))
    fair = again | {
        pk for pk in new.values_list("pk", flat=True) if not check_turns.made_by(user, project, pk)
    }
    wanted = [pk for pk in ids if pk in fair]
    if not wanted:
        raise TestImpossible("qualification.nothing_left", leads=leads_of(project))
    had.exclude(conversation__in=wanted).update(slot=None)
    round_ = round_of(project)
    for position, pk in enumerate(wanted):
        part, _ = Assignment.with_checks.update_or_create(
            round=round_,
            conversation_id=pk,
            annotator=user,
            defaults={"purpose": PURPOSE, "slot": 0, "position": position},
        )
        try_again(part)


def round_of(project: Project) -> Round:
    """The round that holds a project's tests; not for labeling, and so numbered 0."""
    guideline = project.guidelines.first()
    if guideline is None:
        raise TestImpossible("qualification.no_guidelines")
    round_, _ = Round.with_checks.update_or_create(
        project=project,
        number=0,
        kind=Round.Kind.QUALIFYING,
        defaults={
            "guideline": guideline,
            "open_fields": project.open_fields,
            "overlap": 1,
            "skip_policy": Round.SkipPolicy.NEVER,
        },
    )
    return round_


@transaction.atomic
def decide(project: Project, user: User) -> None:
    """Once every part of a try is answered and scored, its mean says whether it is passed.

    If nothing could be compared, it is not.
    """
    projects.lock(project)  # or its plan may change
    tried = Qualification.objects.filter(project=project, user=user, kind=TEST, state=State.TRYING)
    test = tried.first()
    if test is None:
        return
    parts = of(user, project)
    if not all_scored(parts):
        return
    plan = check_turns.plan_of(project)
    test.value, test.decided_at = mean(check.value for check in newest(parts)), timezone.now()
    test.state = State.FAILED if test.tries >= plan.tries else State.BETWEEN
    if test.value is not None and test.value >= plan.pass_at - SLACK:
        test.state = State.PASSED
    test.save()
    verb = "qualification.passed" if test.state == State.PASSED else "qualification.failed"
    _record(verb, test, value=test.value, tries=test.tries)


def all_scored(parts: QuerySet[Assignment]) -> bool:
    """Whether every part is answered and compared."""
    scored = GoldCheck.objects.filter(
        assignment=OuterRef("pk"), version=OuterRef("annotation__version")
    )
    return not parts.exclude(DONE & Exists(scored)).exists()


def newest(parts: QuerySet[Assignment]) -> list[GoldCheck]:
    """The current results of these parts, in order."""
    rows = GoldCheck.objects.filter(
        assignment__in=parts, version=F("assignment__annotation__version")
    )
    related = rows.select_related("assignment__conversation")
    return list(related.order_by("assignment__position", "assignment"))


@transaction.atomic
def waive(project: Project, user: User, *, by: User, reason: str) -> Qualification:
    """Let somebody work without the test. The reason is stored, and shown in the audit log."""
    reason = reason_in(reason)
    if not reason:
        raise WaiverImpossible("qualification.no_waiver_reason")
    projects.lock(project)
    test = Qualification.objects.filter(project=project, user=user, kind=TEST).first()
    test = test or Qualification(project=project, user=user, tries=0)
    if test.state in ADMITTED:
        raise WaiverImpossible("qualification.nothing_to_waive", user=user.get_username())
    test.state, test.reason, test.waived_by = State.WAIVED, reason, by
    test.decided_at = timezone.now()
    test.save()
    of(user, project).exclude(DONE).update(slot=None)
    _record("qualification.waived", test, by=by, reason=reason)
    return test


def _record(verb: str, test: Qualification, *, by: User | None = None, **data: Any) -> None:
    events.record(verb, test, project=test.project, actor=by, user=test.user.get_username(), **data)
