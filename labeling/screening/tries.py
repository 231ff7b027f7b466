"""A qualification test before any work, and who is let in to full labeling by a reason.

The test is held to gold, on chosen conversations.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from labeling.core import events, projects
from labeling.core.rules.reasons import reason_in
from labeling.domain.errors import RuleError
from labeling.gold.rules.gold_checks import mean
from labeling.models import Admission, Assignment, GoldCheck, Project, Qualification, Round
from labeling.screening import check_turns
from labeling.work import admission, assignments
from labeling.work.admission import ADMITTED, TEST
from labeling.work.annotations import try_again

State = Qualification.State
COMES_FIRST = ("", State.TRYING, State.BETWEEN)  # "" before its begin
DONE = Q(annotation__status__in=["submitted", "skipped"])
SLACK = 1e-9  # a mean of floats may fall a hair below what it is


class TryImpossible(RuleError, code="try_impossible"):
    """The test cannot be begun, or not again."""


class AdmissionImpossible(RuleError, code="admission_impossible"):
    """There is nothing to let the person in to, or the reason is missing."""


# --- tries ----------------------------------------------------------------------------------------


def row_of(project: Project, user: User) -> Qualification:
    """How far the user is; not stored, and without a state, before the begin."""
    known = Qualification.objects.filter(project=project, user=user).first()
    return known or Qualification(project=project, user=user, tries=0, state="")


def parts_of(user: User, project: Project) -> QuerySet[Assignment]:
    """The conversations of the user's current or last try, in order."""
    parts = Assignment.given_to(user).filter(
        purpose=TEST, round__project=project, slot__isnull=False
    )
    return parts.order_by("position")


def begin(project: Project, user: User) -> Qualification:
    """Begin, or try again; a try that has begun continues."""
    row = row_of(project, user)
    if not check_turns.plan_of(project).test or user not in assignments.annotators(project):
        raise TryImpossible("qualification.no_test")
    if row.state not in COMES_FIRST:
        leads = admission.leads_of(project)
        raise TryImpossible("qualification.over", project=project.name, leads=leads)
    if _goes_on(row):
        return row
    return _begin(row, _chosen(project, user))  # before anything is locked: it may read a lot


def _chosen(project: Project, user: User) -> list[int]:
    """Of gold, in an order that is the same for everybody and known to nobody."""
    gold = check_turns.with_gold(project)
    had = Assignment.given_to(user).filter(purpose=TEST, round__project=project)
    again = set(gold.filter(pk__in=had.values("conversation")).values_list("pk", flat=True))
    new = check_turns.unknown_to(user, gold).values_list("pk", flat=True)
    order = sorted({*again, *new}, key=lambda pk: check_turns.draw("test", project.pk, pk))
    fair = (pk for pk in order if pk in again or not check_turns.made_by(user, project, pk))
    chosen = list(islice(fair, check_turns.plan_of(project).test_on))
    if not chosen:
        raise TryImpossible("qualification.nothing_left", leads=admission.leads_of(project))
    return chosen


def _goes_on(row: Qualification) -> bool:
    """Whether there is something left to answer or to measure in it."""
    return row.state == State.TRYING and parts_of(row.user, row.project).exists()


@transaction.atomic
def _begin(seen: Qualification, chosen: Sequence[int]) -> Qualification:
    project, user = seen.project, seen.user
    projects.lock(project)
    row = row_of(project, user)
    if row.state != seen.state or row.tries != seen.tries or _goes_on(row):
        return row  # another page was quicker
    if row.state != State.TRYING or not row.tries:
        row.tries += 1
    row.state = State.TRYING
    row.save()
    parts_of(user, project).update(slot=None)
    round_ = _round_of(project)
    for position, pk in enumerate(chosen):
        part, _ = Assignment.checks.update_or_create(
            round=round_,
            conversation_id=pk,
            annotator=user,
            defaults={"purpose": TEST, "slot": 0, "position": position},
        )
        try_again(part)
    _record("begun", row, by=user, tries=row.tries)
    return row


def _round_of(project: Project) -> Round:
    """The round that holds a project's tests; not for labeling, and so numbered 0."""
    guideline = project.guidelines.first()
    if guideline is None:
        raise TryImpossible("qualification.no_guidelines")
    round_, _ = Round.with_checks.update_or_create(
        project=project,
        number=0,
        kind=Round.Kind.QUALIFYING,
        defaults={
            "guideline": guideline,
            "open_fields": project.open_fields,
            "overlap": 1,
        },
    )
    return round_


def decide(project: Project, user: User) -> None:
    """Once every part of a try is answered and scored, say whether it is passed.

    If nothing could be compared, it is not.
    """
    with transaction.atomic():
        projects.lock(project)  # or its plan may change
        row, parts = row_of(project, user), parts_of(user, project)
        if not _goes_on(row) or not _all_scored(parts):
            return
        plan = check_turns.plan_of(project)
        row.value = mean(check.value for check in newest(parts))
        passed = row.value is not None and row.value >= plan.pass_at - SLACK
        failed = State.FAILED if row.tries >= plan.tries else State.BETWEEN
        _end(row, State.PASSED if passed else failed)
        _record("passed" if passed else "failed", row, tries=row.tries, value=row.value)


def _all_scored(parts: QuerySet[Assignment]) -> bool:
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


def _end(row: Qualification, state: State) -> None:
    row.state, row.decided_at = state, timezone.now()
    row.save()


def _record(what: str, row: Qualification, *, by: User | None = None, **data: Any) -> None:
    user = row.user.get_username()
    events.record(f"qualification.{what}", row, project=row.project, actor=by, user=user, **data)


# --- what a lead decides --------------------------------------------------------------------------


@transaction.atomic
def waive(project: Project, user: User, *, by: User, reason: str) -> None:
    """Work without the test. The reason is stored, and shown in the audit log."""
    if not (reason := reason_in(reason)):
        raise AdmissionImpossible("qualification.no_waiver_reason")
    projects.lock(project)
    row = row_of(project, user)
    if row.state in ADMITTED:
        raise AdmissionImpossible("qualification.nothing_to_waive", user=user.get_username())
    row.reason, row.waived_by = reason, by
    _end(row, State.WAIVED)
    _record("waived", row, by=by, reason=reason)
    parts_of(user, project).exclude(DONE).update(slot=None)


@transaction.atomic
def let_in(project: Project, user: User, *, by: User, reason: str) -> None:
    """Full labeling without calibration. Gold has the person and the reason."""
    if not (reason := reason_in(reason)):
        raise AdmissionImpossible("calibration.no_reason")
    projects.lock(project)
    name, layers = user.get_username(), admission.not_calibrated_on(project, user)
    if not layers or user not in assignments.annotators(project):
        raise AdmissionImpossible("calibration.nothing_to_let_in", user=name)
    how = dict.fromkeys(layers, Admission.How.LET_IN)
    admission.admit(project, user, how, reason=reason, let_in_by=by)
    said = {"user": name, "layers": layers, "reason": reason}
    events.record("admission.let_in", project, project=project, actor=by, **said)


# --- standing -------------------------------------------------------------------------------------


class Standing(NamedTuple):
    """Where somebody is in the test of a project."""

    project: Project
    row: Qualification
    done: int
    parts: int
    leads: str

    @property
    def state(self) -> str:
        """ "paused", "" before the begin, or a state of it."""
        return "paused" if getattr(self.project, "paused", None) else self.row.state

    @property
    def tries_left(self) -> int:
        return max(self.project.check_plan.tries - self.row.tries, 0)


def tests_of(user: User) -> list[Standing]:
    """In projects with a test, and in those that have paused the user."""
    mine = admission.with_pause(admission.annotated_by(user), user)
    mine = mine.annotate(paused=F("pause__pk")).select_related("check_plan")
    shown = list(mine.filter(Q(check_plan__test=True) | Q(paused__isnull=False)).order_by("name"))
    if not shown:
        return []
    tried = Qualification.objects.filter(project__in=shown, user=user)
    states = {row.project_id: row for row in tried}
    parts = Assignment.given_to(user).filter(
        purpose=TEST, round__project__in=shown, slot__isnull=False
    )
    counted = parts.order_by().values_list("round__project")
    rows = counted.annotate(done=Count("pk", filter=DONE), parts=Count("pk"))
    counts = {project: (done, n) for project, done, n in rows}
    leads = admission.leads_by_project(shown)
    return [
        Standing(
            project,
            states.get(project.pk) or Qualification(tries=0, state=""),
            *counts.get(project.pk, (0, 0)),
            leads[project.pk],
        )
        for project in shown
    ]


class Admitted(NamedTuple):
    """Whether somebody may do full labeling: the layers that keep them from it, and on what they
    were admitted, and how.
    """

    missing: list[str]
    rows: list[Admission]

    @property
    def let_in(self) -> Admission | None:
        """Why they work without having calibrated."""
        return next((row for row in self.rows if row.calibrated_at is None), None)


def admitted_in(project: Project, users: Collection[User]) -> dict[int, Admitted]:
    """By person; empty while no calibration round has passed."""
    layers = admission.calibrated_layers(project)
    if not layers:
        return {}
    known = project.admissions.filter(user__in=users, layer__in=layers)
    rows = list(known.select_related("let_in_by", "round"))
    theirs = {user.pk: [row for row in rows if row.user_id == user.pk] for user in users}
    return {
        pk: Admitted([layer for layer in layers if layer not in {row.layer for row in own}], own)
        for pk, own in theirs.items()
    }
