"""People are tried on chosen conversations before they work, or a lead lets them in by a reason.

The qualification test is held to gold, and opens all work. Calibration of newcomers is held to what
conversations of closed rounds came to, and opens full labeling of its layers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from labeling.agreement.matching.similarity import Ruler
from labeling.core import events, projects
from labeling.core.rules.reasons import reason_in
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.gold.rules.gold_checks import mean
from labeling.models import Admission, Assignment, GoldCheck, Project, Qualification, Round
from labeling.screening import check_turns, newcomers
from labeling.screening.newcomers import LayerResult, Outcomes
from labeling.work import admission, assignments
from labeling.work.admission import ADMITTED
from labeling.work.annotations import try_again

State = Qualification.State
TEST, CALIBRATION = Qualification.Kind.TEST, Qualification.Kind.CALIBRATION
COMES_FIRST = ("", State.TRYING, State.BETWEEN)  # "" before its begin
DONE = Q(annotation__status__in=["submitted", "skipped"])
SLACK = 1e-9  # a mean of floats may fall a hair below what it is
Results = Mapping[str, LayerResult]


class TryImpossible(RuleError, code="try_impossible"):
    """A test or calibration cannot be begun, or not again."""


class AdmissionImpossible(RuleError, code="admission_impossible"):
    """There is nothing to let the person in to, or the reason is missing."""


class Test:
    """The test is held to gold; see :data:`KINDS`."""

    __test__ = False  # not a test class of pytest
    purpose = Assignment.Purpose.QUALIFICATION
    verb = "qualification"
    no_reason = "qualification.no_waiver_reason"

    def check(self, row: Qualification) -> None:
        project = row.project
        plan = check_turns.plan_of(project)
        if not plan.test or row.user not in assignments.annotators(project):
            raise TryImpossible("qualification.no_test")
        if row.state not in COMES_FIRST:
            leads = admission.leads_of(project)
            raise TryImpossible("qualification.over", project=project.name, leads=leads)

    def choose(self, row: Qualification) -> Mapping[int, Outcomes]:
        """Of gold, in an order that is the same for everybody and known to nobody."""
        project, user = row.project, row.user
        gold = check_turns.with_gold(project)
        had = Assignment.given_to(user).filter(purpose=self.purpose, round__project=project)
        again = set(gold.filter(pk__in=had.values("conversation")).values_list("pk", flat=True))
        new = check_turns.unknown_to(user, gold).values_list("pk", flat=True)
        order = sorted({*again, *new}, key=lambda pk: check_turns.draw("test", project.pk, pk))
        fair = (pk for pk in order if pk in again or not check_turns.made_by(user, project, pk))
        chosen = list(islice(fair, check_turns.plan_of(project).test_on))
        if not chosen:
            leads = admission.leads_of(project)
            raise TryImpossible("qualification.nothing_left", leads=leads)
        return {pk: {} for pk in chosen}

    def measure(self, row: Qualification, ruler: Ruler) -> Results:
        return {}

    def judge(self, row: Qualification, results: Results) -> tuple[State, dict[str, Any]]:
        """If nothing could be compared, it is not passed."""
        row.value = mean(check.value for check in newest(parts_of(row.user, row.project, TEST)))
        bar = check_turns.plan_of(row.project).pass_at - SLACK
        passed = row.value is not None and row.value >= bar
        return State.PASSED if passed else State.BETWEEN, {"value": row.value}

    def let_in(self, row: Qualification, by: User, reason: str) -> None:
        if row.state in ADMITTED:
            raise AdmissionImpossible(
                "qualification.nothing_to_waive", user=row.user.get_username()
            )
        row.reason, row.waived_by = reason, by
        _end(row, State.WAIVED)
        _record("waived", row, by=by, reason=reason)


class Calibration:
    """Newcomers are held to what was settled; see :data:`KINDS`."""

    purpose = Assignment.Purpose.CALIBRATION
    verb = "calibration"
    no_reason = "calibration.no_reason"

    def check(self, row: Qualification) -> None:
        project, leads = row.project, admission.leads_of(row.project)
        layers = admission.not_calibrated_on(project, row.user)
        if not layers or row.user not in assignments.annotators(project):
            raise TryImpossible("calibration.nothing_to_do", project=project.name)
        if row.state == State.FAILED:
            raise TryImpossible("calibration.over", project=project.name, leads=leads)
        if newcomers.has_read(row.user, project):
            raise TryImpossible("calibration.reads_labels", leads=leads)

    def choose(self, row: Qualification) -> Mapping[int, Outcomes]:
        project, wanted = row.project, check_turns.plan_of(row.project).calibrate_on
        layers = admission.not_calibrated_on(project, row.user)
        chosen = newcomers.choose(project, row.user, layers, wanted)
        if len(chosen) < wanted:
            leads = admission.leads_of(project)
            raise TryImpossible(
                "calibration.too_few", settled=len(chosen), wanted=wanted, leads=leads
            )
        return chosen

    def measure(self, row: Qualification, ruler: Ruler) -> Results:
        return newcomers.compared(row, parts_of(row.user, row.project, CALIBRATION), ruler)

    def judge(self, row: Qualification, results: Results) -> tuple[State, dict[str, Any]]:
        """Somebody who might read labels meanwhile has not labeled blind. A lead decides."""
        project, user = row.project, row.user
        if newcomers.has_read(user, project):
            reason = Fact("calibration.has_read")
            layers = admission.not_calibrated_on(project, user)
            row.layers = {layer: newcomers.without_figure(project, reason) for layer in layers}
            return State.FAILED, {}
        row.layers = dict(results)
        how = {
            layer: Admission.How.CALIBRATED
            if result["outcome"] == "passed"
            else Admission.How.UNMEASURED
            for layer, result in results.items()
        }
        outcomes = {result["outcome"] for result in results.values()}
        if "passed" not in outcomes or outcomes - {"passed", "not_measured"}:
            return State.BETWEEN, {}
        admission.admit(project, user, how)
        return State.PASSED, {}

    def let_in(self, row: Qualification, by: User, reason: str) -> None:
        """Full labeling without calibration. Gold has the person and the reason."""
        project, user, name = row.project, row.user, row.user.get_username()
        layers = admission.not_calibrated_on(project, user)
        if not layers or user not in assignments.annotators(project):
            raise AdmissionImpossible("calibration.nothing_to_let_in", user=name)
        how = dict.fromkeys(layers, Admission.How.LET_IN)
        admission.admit(project, user, how, reason=reason, let_in_by=by)
        if row.state == State.TRYING:
            _end(row, State.WAIVED)
        said = {"user": name, "layers": layers, "reason": reason}
        events.record("admission.let_in", project, project=project, actor=by, **said)


KINDS: dict[str, Test | Calibration] = {TEST: Test(), CALIBRATION: Calibration()}
"""``check`` refuses who may not be tried now, ``choose`` has the conversations of the next try with
what is kept to hold it to, ``measure`` the figures that take long; ``judge`` says in which state it
ends if tries are left, and what its event says besides."""


# --- tries ----------------------------------------------------------------------------------------


def row_of(project: Project, user: User, kind: str) -> Qualification:
    """How far the user is; not stored, and without a state, before the begin."""
    known = Qualification.objects.filter(project=project, user=user, kind=kind).first()
    return known or Qualification(project=project, user=user, kind=kind, tries=0, state="")


def parts_of(user: User, project: Project, kind: str) -> QuerySet[Assignment]:
    """The conversations of the user's current or last try, in order."""
    parts = Assignment.given_to(user).filter(
        purpose=KINDS[kind].purpose, round__project=project, slot__isnull=False
    )
    return parts.order_by("position")


def begin(project: Project, user: User, kind: str) -> Qualification:
    """Begin, or try again; a try that has begun continues."""
    row = row_of(project, user, kind)
    KINDS[kind].check(row)
    if _goes_on(row):
        return row
    return _begin(row, KINDS[kind].choose(row))  # before anything is locked: it may read a lot


def _goes_on(row: Qualification) -> bool:
    """Whether there is something left to answer or to measure in it."""
    return row.state == State.TRYING and parts_of(row.user, row.project, row.kind).exists()


@transaction.atomic
def _begin(seen: Qualification, chosen: Mapping[int, Outcomes]) -> Qualification:
    project, user, kind = seen.project, seen.user, seen.kind
    projects.lock(project)
    row = row_of(project, user, kind)
    if row.state != seen.state or row.tries != seen.tries or _goes_on(row):
        return row  # another page was quicker
    if row.state in ADMITTED:  # for other layers: their tries are counted by themselves
        row.tries = 0
    if row.state != State.TRYING or not row.tries:
        row.tries += 1
    row.state = State.TRYING
    row.outcomes = {pk: kept for pk, kept in chosen.items() if kept}
    row.save()
    parts_of(user, project, kind).update(slot=None)
    round_ = _round_of(project)
    for position, pk in enumerate(chosen):
        part, _ = Assignment.checks.update_or_create(
            round=round_,
            conversation_id=pk,
            annotator=user,
            defaults={"purpose": KINDS[kind].purpose, "slot": 0, "position": position},
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


def decide(project: Project, user: User, kind: str, *, ruler: Ruler) -> None:
    """Once every part of a try is answered and scored, say whether it is passed."""
    running, parts = row_of(project, user, kind), parts_of(user, project, kind)
    if not _goes_on(running) or not _all_scored(parts):
        return
    results = KINDS[kind].measure(running, ruler)
    with transaction.atomic():
        projects.lock(project)  # or its plan may change
        row = row_of(project, user, kind)
        if row.state != State.TRYING or row.decided_at != running.decided_at:
            return
        state, said = KINDS[kind].judge(row, results)
        if state == State.BETWEEN and row.tries >= check_turns.plan_of(project).tries:
            state = State.FAILED
        _end(row, state)
        _record("passed" if state == State.PASSED else "failed", row, tries=row.tries, **said)


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
    verb, user = f"{KINDS[row.kind].verb}.{what}", row.user.get_username()
    events.record(verb, row, project=row.project, actor=by, user=user, **data)


# --- what a lead decides --------------------------------------------------------------------------


@transaction.atomic
def let_in(project: Project, user: User, kind: str, *, by: User, reason: str) -> None:
    """Work without it. The reason is stored, and shown in the audit log."""
    reason = reason_in(reason)
    if not reason:
        raise AdmissionImpossible(KINDS[kind].no_reason)
    projects.lock(project)
    KINDS[kind].let_in(row_of(project, user, kind), by, reason)
    parts_of(user, project, kind).exclude(DONE).update(slot=None)


@transaction.atomic
def allow_another_try(project: Project, user: User, *, by: User) -> bool:
    """To calibrate, after the last try; False when there is nothing to allow."""
    row = row_of(project, user, CALIBRATION)
    if row.state != State.FAILED:
        return False
    row.state = State.BETWEEN
    row.save()
    _record("allowed", row, by=by, tries=row.tries)
    return True


# --- standing -------------------------------------------------------------------------------------


class Standing(NamedTuple):
    """Where one person is in a test or in calibrating.

    ``missing`` are the layers that keep them from full labeling, ``rows`` say on what they were
    admitted, and how.
    """

    user: User
    project: Project
    row: Qualification
    done: int
    parts: int
    missing: list[str]
    rows: list[Admission]
    leads: str = ""

    @property
    def state(self) -> str:
        """ "paused", "" before the begin, or a state of it."""
        return "paused" if getattr(self.project, "paused", None) else self.row.state

    @property
    def tries_left(self) -> int:
        return max(self.project.check_plan.tries - self.row.tries, 0)

    @property
    def is_in(self) -> bool:
        return not self.missing

    @property
    def is_waiting(self) -> bool:
        """All is answered; a worker measures it."""
        return self.state == State.TRYING and self.done == self.parts

    @property
    def let_in(self) -> Admission | None:
        """Why they work without having calibrated."""
        return next((row for row in self.rows if row.calibrated_at is None), None)


def tests_of(user: User) -> list[Standing]:
    """In projects with a test, and in those that have paused the user."""
    mine = admission.with_pause(admission.annotated_by(user), user)
    mine = mine.annotate(paused=F("pause__pk")).select_related("check_plan")
    shown = list(mine.filter(Q(check_plan__test=True) | Q(paused__isnull=False)).order_by("name"))
    return _standings(shown, [user], TEST) if shown else []


def calibrations_of(user: User) -> list[Standing]:
    """In the projects where the user may not do full labeling yet."""
    shut = admission.shut_to(user).full
    if not shut:
        return []
    found = _standings(Project.objects.filter(pk__in=shut).order_by("name"), [user], CALIBRATION)
    return [standing for standing in found if standing.missing]


def calibrations_in(project: Project, *users: User) -> list[Standing]:
    """Of these, else of every annotator; empty while no calibration round has passed."""
    return _standings([project], users or assignments.annotators(project), CALIBRATION)


def _standings(
    of_projects: Collection[Project], users: Collection[User], kind: str
) -> list[Standing]:
    admitted: list[Admission] = []
    if kind == CALIBRATION:
        known = Admission.objects.filter(project__in=of_projects)
        admitted = list(known.select_related("let_in_by", "round"))
    calibrated = {(row.project_id, row.layer) for row in admitted if row.how == "round"}
    tried = Qualification.objects.filter(project__in=of_projects, user__in=users, kind=kind)
    states = {(row.project_id, row.user_id): row for row in tried.defer("outcomes")}
    parts = Assignment.checks.filter(
        purpose=KINDS[kind].purpose,
        round__project__in=of_projects,
        annotator__in=users,
        slot__isnull=False,
    )
    counted = parts.order_by().values_list("round__project", "annotator")
    rows = counted.annotate(done=Count("pk", filter=DONE), parts=Count("pk"))
    counts = {(project, user): (done, n) for project, user, done, n in rows}
    leads = admission.leads_by_project(of_projects) if kind == TEST else {}
    standings = []
    for project in of_projects:
        layers = [layer for layer in project.layers if (project.pk, layer) in calibrated]
        for user in users if layers or kind == TEST else ():
            key = (project.pk, user.pk)
            theirs = [row for row in admitted if (row.project_id, row.user_id) == key]
            on = {row.layer for row in theirs}
            standings.append(
                Standing(
                    user,
                    project,
                    states.get(key) or Qualification(tries=0, state=""),
                    *counts.get(key, (0, 0)),
                    missing=[layer for layer in layers if layer not in on],
                    rows=[row for row in theirs if row.layer in layers],
                    leads=leads.get(project.pk, ""),
                )
            )
    return standings
