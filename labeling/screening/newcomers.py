"""Newcomers calibrate before full labeling, or are let in by a lead's reason.

They label conversations of closed rounds without seeing what others labeled, and are compared
with what these came to: by the figures, and against the thresholds, of a calibration round.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, TypedDict

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from labeling.agreement import agreement, conversations
from labeling.agreement.matching.matchers import Rules, texts_of
from labeling.agreement.matching.similarity import Ruler
from labeling.agreement.rules.agreement import Agreement, Outcome, Statistic
from labeling.core import events, projects
from labeling.core.rules.reasons import reason_in
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact, StoredFact
from labeling.models import (
    Admission,
    Annotation,
    Assignment,
    Event,
    Membership,
    Project,
    Qualification,
    Round,
)
from labeling.schema import LAYERS
from labeling.schema.labels import Payload
from labeling.screening import check_turns, qualification
from labeling.screening.qualification import DONE
from labeling.settling import merges, settling
from labeling.work import admission, assignments

PURPOSE = Assignment.Purpose.CALIBRATION
KIND = Qualification.Kind.CALIBRATION
State = Qualification.State
How = Admission.How
ENDED_WELL = (State.PASSED, State.WAIVED)
READERS = (Membership.Role.LEAD, Membership.Role.RESEARCHER)
Outcomes = dict[str, Payload]
"""By layer, what one conversation came to."""

SETTLED = ""
"""Stands for a name where a newcomer is compared with what a conversation came to."""

LOOKED_AT = 50
"""Conversations of a round whose outcome is looked up at a time."""


class CalibrationImpossible(RuleError):
    """The newcomer cannot calibrate now."""

    code = "calibration_impossible"


class AdmissionImpossible(RuleError):
    """There is nothing to let the person in to, or the reason is missing."""

    code = "admission_impossible"


class LayerResult(TypedDict):
    """What the gate says of a newcomer on one layer; ``reason`` where there is no figure."""

    outcome: Outcome
    measure: str
    value: float | None
    threshold: float
    reason: StoredFact | None
    f1: float | None
    f1_threshold: float | None


# --- the newcomer's own work ----------------------------------------------------------------------


def parts_of(user: User, project: Project) -> QuerySet[Assignment]:
    """The conversations of the user's current or last calibration, in order."""
    return qualification.of(user, project, PURPOSE)


def begin(project: Project, user: User) -> Qualification:
    """Begin to calibrate, or try again on other conversations; what has begun continues."""
    layers = admission.not_calibrated_on(project, user)
    if not layers or user not in assignments.annotators(project):
        raise CalibrationImpossible("calibration.nothing_to_do", project=project.name)
    tried = Qualification.objects.filter(project=project, user=user, kind=KIND).first()
    leads = admission.leads_of(project)
    if tried is not None and tried.state == State.FAILED:
        raise CalibrationImpossible("calibration.over", project=project.name, leads=leads)
    if has_read(user, project):
        raise CalibrationImpossible("calibration.reads_labels", leads=leads)
    if tried is not None and _goes_on(tried):
        return tried
    wanted = check_turns.plan_of(project).calibrate_on
    chosen = _choose(project, user, layers, wanted)  # before anything is locked: it reads a lot
    if len(chosen) < wanted:
        raise CalibrationImpossible(
            "calibration.too_few", settled=len(chosen), wanted=wanted, leads=leads
        )
    return _begin(project, user, chosen)


def _goes_on(tried: Qualification) -> bool:
    """Whether there is something left to answer or to measure in it."""
    return tried.state == State.TRYING and parts_of(tried.user, tried.project).exists()


def has_read(user: User, project: Project) -> bool:
    """Whether the user may read labels of others here, or once might: roles come and go."""
    if check_turns.reads_gold(user, project):
        return True
    lost = Q(verb="member.changed", data__before__in=READERS)
    lost |= Q(verb="member.removed", data__role__in=READERS)
    return Event.objects.filter(lost, project=project, data__user=user.get_username()).exists()


@transaction.atomic
def _begin(project: Project, user: User, chosen: Mapping[int, Outcomes]) -> Qualification:
    projects.lock(project)
    tried = Qualification.objects.filter(project=project, user=user, kind=KIND).first()
    if tried is not None and (tried.state == State.FAILED or _goes_on(tried)):
        return tried  # another page was quicker
    tried = tried or Qualification(project=project, user=user, kind=KIND, tries=0)
    if tried.state in ENDED_WELL:  # for other layers: their tries are counted by themselves
        tried.tries = 0
    if tried.state != State.TRYING or not tried.tries:
        tried.tries += 1
    tried.state = State.TRYING
    tried.outcomes = dict(chosen)
    tried.save()
    parts_of(user, project).update(slot=None)
    round_ = qualification.round_of(project)
    Assignment.objects.bulk_create(
        Assignment(
            round=round_,
            conversation_id=pk,
            annotator=user,
            purpose=PURPOSE,
            slot=0,
            position=position,
        )
        for position, pk in enumerate(chosen)
    )
    _record("calibration.begun", tried, by=user)
    return tried


def _choose(
    project: Project, user: User, layers: Sequence[str], wanted: int
) -> dict[int, Outcomes]:
    """Settled conversations that the user never had, and what they came to.

    Those with labels on more layers come first.
    """
    settled: dict[int, int] = {}
    right: dict[int, Outcomes] = {}
    for ids in _closed(project, user):
        for pk, by_layer in outcomes(project, layers, ids).items():
            if not check_turns.made_by(user, project, pk):
                used = (bool(by_layer[layer].get(LAYERS[layer].key)) for layer in layers)
                settled[pk] = sum(used)
                right[pk] = by_layer
        if len(settled) >= wanted and sum(map(bool, settled.values())) >= wanted:
            break
    return {pk: right[pk] for pk in sorted(settled, key=lambda pk: -settled[pk])[:wanted]}


def _closed(project: Project, user: User) -> Iterator[list[int]]:
    """Conversations of closed rounds, passed calibration first, in an order of the user's.

    None of rounds in which the user answered anything: their discussions show every label.
    """
    closed = project.rounds.exclude(state=Round.State.OPEN)
    ranked = sorted(closed, key=lambda round_: (round_.state != Round.State.PASSED, -round_.number))
    open_rounds = project.rounds.filter(state=Round.State.OPEN)
    discussed = Assignment.objects.answered_by(user).order_by().values("round")
    for round_ in ranked:
        here = project.conversations.filter(rounds=round_).exclude(rounds__in=open_rounds)
        here = here.exclude(rounds__in=discussed)
        ids = check_turns.unknown_to(user, here).values_list("pk", flat=True)
        order = sorted(ids, key=lambda pk: check_turns.draw("calibrate", user.pk, pk))
        for start in range(0, len(order), LOOKED_AT):
            yield order[start : start + LOOKED_AT]


def held_to(part: Assignment) -> Outcomes:
    """By layer, what the conversation had come to when the user began to calibrate on it."""
    tried = Qualification.objects.get(
        project=part.round.project_id, user=part.annotator_id, kind=KIND
    )
    kept: Outcomes = tried.outcomes.get(str(part.conversation_id), {})
    return kept


def outcomes(
    project: Project, layers: Sequence[str], among: Collection[int]
) -> dict[int, Outcomes]:
    """What those conversations came to that are settled on all the layers."""
    found: dict[int, Outcomes] = {pk: {} for pk in among}
    for layer in layers:
        needed = [*LAYERS[layer].needs, layer]

        def fitting(part: Collection[int], needed: list[str] = needed) -> settling.Fits:
            return merges.fitting(project, needed, among=part)

        for conversation, outcome in settling.outcomes_of_project(
            project, layer, fitting=fitting, among=among
        ):
            if not isinstance(outcome, Fact):
                found[conversation.pk][layer] = {**outcome.base_payload, **outcome.payload}
    return {pk: by_layer for pk, by_layer in found.items() if len(by_layer) == len(layers)}


# --- the verdict ----------------------------------------------------------------------------------


def decide(project: Project, user: User, *, ruler: Ruler) -> None:
    """Once every conversation is answered and scored, say what the gate says."""
    tried = Qualification.objects.filter(project=project, user=user, kind=KIND)
    running = tried.filter(state=State.TRYING).first()
    parts = parts_of(user, project)
    if running is None or not parts.exists() or not qualification.all_scored(parts):
        return
    results = _compared(running, ruler)
    with transaction.atomic():
        projects.lock(project)
        locked = tried.filter(state=State.TRYING, decided_at=running.decided_at).first()
        if locked is None:
            return
        if has_read(user, project):
            _end_for_reader(locked)
        else:
            _store(locked, results, check_turns.plan_of(project).tries)


def _end_for_reader(tried: Qualification) -> None:
    """Somebody who might read labels meanwhile has not labeled blind. A lead decides."""
    reason = Fact("calibration.has_read")
    layers = admission.not_calibrated_on(tried.project, tried.user)
    tried.layers = {layer: _without_figure(tried.project, reason) for layer in layers}
    tried.state, tried.decided_at = State.FAILED, timezone.now()
    tried.save()
    _record("calibration.failed", tried)


def _store(tried: Qualification, results: dict[str, LayerResult], most_tries: int) -> None:
    measured = [result for result in results.values() if result["outcome"] != "not_measured"]
    passed = bool(measured) and all(result["outcome"] == "passed" for result in measured)
    tried.layers = dict(results)
    tried.decided_at = timezone.now()
    if passed:
        tried.state = State.PASSED
        how = {
            layer: How.UNMEASURED if result["outcome"] == "not_measured" else How.CALIBRATED
            for layer, result in results.items()
        }
        admission.admit(tried.project, tried.user, how)
    else:
        tried.state = State.FAILED if tried.tries >= most_tries else State.BETWEEN
    tried.save()
    _record("calibration.passed" if passed else "calibration.failed", tried)


def _compared(tried: Qualification, ruler: Ruler) -> dict[str, LayerResult]:
    """By layer, the newcomer against what the conversations came to. A skip leaves no figure.

    The layers are those that the try began with: another one takes a separate try.
    """
    project, user = tried.project, tried.user
    parts = list(parts_of(user, project).select_related("conversation", "annotation"))
    kept: dict[str, Outcomes] = tried.outcomes
    settled = {int(pk): by_layer for pk, by_layer in kept.items()}
    layers = list(next(iter(settled.values()), {}))
    answered = [
        part
        for part in parts
        if part.annotation.status == Annotation.Status.SUBMITTED and part.conversation_id in settled
    ]
    if len(answered) < len(parts):
        reason = Fact("calibration.incomplete", answered=len(answered), parts=len(parts))
        return {layer: _without_figure(project, reason) for layer in layers}
    rules = Rules(ruler, projects.synonyms_of(project), project.match_threshold)
    return {
        layer: _result(_against(project, user, layer, answered, settled, rules), layer)
        for layer in layers
    }


def _against(
    project: Project,
    user: User,
    layer: str,
    answered: Sequence[Assignment],
    settled: Mapping[int, Mapping[str, Payload]],
    rules: Rules,
) -> Agreement:
    pairs = [
        (part, {SETTLED: settled[part.conversation_id][layer], user.username: _payload(part)})
        for part in answered
    ]
    rules.ruler.prime(
        text
        for _, payloads in pairs
        for payload in payloads.values()
        for name in (layer, *LAYERS[layer].needs)
        for text in texts_of(name, payload.get(LAYERS[name].key, []))
    )
    added = [
        conversations.added_by(
            layer,
            part.conversation.external_id,
            payloads,
            size=part.conversation.n_messages,
            rules=rules,
        )
        for part, payloads in pairs
    ]
    statistic: Statistic = "min"  # of one pair it is the mean, too
    bar: agreement.Bar = {"threshold": project.kappa_threshold, "statistic": statistic}
    return agreement.compare(layer, added, bar, label_f1_threshold=project.label_f1_threshold)


def _payload(part: Assignment) -> Payload:
    payload: Payload = part.annotation.payload
    return payload


def _result(figures: Agreement, layer: str) -> LayerResult:
    reason = figures.reasons.get("value")
    content = figures.content
    return {
        "outcome": figures.outcome,
        "measure": figures.measure,
        "value": figures.value,
        "threshold": figures.threshold,
        "reason": reason.as_json() if reason else None,
        "f1": content.value if content else None,
        "f1_threshold": content.threshold if content and content.threshold else None,
    }


def _without_figure(project: Project, reason: Fact) -> LayerResult:
    return {
        "outcome": "failed",
        "measure": "kappa",
        "value": None,
        "threshold": project.kappa_threshold,
        "reason": reason.as_json(),
        "f1": None,
        "f1_threshold": None,
    }


def _record(verb: str, tried: Qualification, by: User | None = None) -> None:
    user = tried.user.get_username()
    events.record(verb, tried, project=tried.project, actor=by, user=user, tries=tried.tries)


# --- what a lead decides --------------------------------------------------------------------------


@transaction.atomic
def let_in(project: Project, user: User, *, by: User, reason: str) -> list[str]:
    """Full labeling without calibration; returns the layers. Gold has the person and the reason."""
    reason = reason_in(reason)
    if not reason:
        raise AdmissionImpossible("calibration.no_reason")
    projects.lock(project)
    layers = admission.not_calibrated_on(project, user)
    if not layers or user not in assignments.annotators(project):
        raise AdmissionImpossible("calibration.nothing_to_let_in", user=user.get_username())
    how = dict.fromkeys(layers, How.LET_IN)
    admission.admit(project, user, how, reason=reason, let_in_by=by)
    parts_of(user, project).exclude(DONE).update(slot=None)
    running = Qualification.objects.filter(
        project=project, user=user, kind=KIND, state=State.TRYING
    )
    running.update(state=State.WAIVED, decided_at=timezone.now())
    events.record(
        "admission.let_in",
        project,
        project=project,
        actor=by,
        user=user.get_username(),
        layers=layers,
        reason=reason,
    )
    return layers


@transaction.atomic
def allow_another_try(project: Project, user: User, *, by: User) -> bool:
    """After the last try; False when there is nothing to allow."""
    failed = Qualification.objects.filter(
        project=project, user=user, kind=KIND, state=State.FAILED
    ).first()
    if failed is None:
        return False
    failed.state = State.BETWEEN
    failed.save()
    _record("calibration.allowed", failed, by=by)
    return True


# --- standing -------------------------------------------------------------------------------------


class Standing(NamedTuple):
    """Where one annotator is: ``missing`` are the layers that keep them from full labeling.

    ``state`` is "" before calibrating has begun, else a state of it. ``rows`` say on what the
    person was admitted, and how.
    """

    user: User
    project: Project
    missing: list[str]
    rows: list[Admission]
    state: str
    tries: int
    done: int
    parts: int
    results: Mapping[str, LayerResult]

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


def by_person(project: Project) -> list[Standing]:
    """Of every annotator; empty while no calibration round has passed."""
    return _standings([project], assignments.annotators(project))


def of(user: User) -> list[Standing]:
    """In the projects where the user may not do full labeling yet."""
    shut = admission.shut_to(user).full
    if not shut:
        return []
    found = _standings(Project.objects.filter(pk__in=shut).order_by("name"), [user])
    return [standing for standing in found if standing.missing]


def in_project(project: Project, user: User) -> Standing | None:
    return next(iter(_standings([project], [user])), None)


def _standings(of_projects: Collection[Project], users: Collection[User]) -> list[Standing]:
    rows = list(
        Admission.objects.filter(project__in=of_projects).select_related("let_in_by", "round")
    )
    calibrated = {(row.project_id, row.layer) for row in rows if row.how == How.ROUND}
    tried = {
        (row.project_id, row.user_id): row
        for row in Qualification.objects.filter(project__in=of_projects, kind=KIND).defer(
            "outcomes"
        )
    }
    counts = qualification.counts(of_projects, PURPOSE)
    standings = []
    for project in of_projects:
        layers = [layer for layer in project.layers if (project.pk, layer) in calibrated]
        for user in users if layers else ():
            key = (project.pk, user.pk)
            theirs = [row for row in rows if (row.project_id, row.user_id) == key]
            known = {row.layer for row in theirs}
            own = tried.get(key)
            done, parts = counts.get(key, (0, 0))
            standings.append(
                Standing(
                    user=user,
                    project=project,
                    missing=[layer for layer in layers if layer not in known],
                    rows=[row for row in theirs if row.layer in layers],
                    state=own.state if own else "",
                    tries=own.tries if own else 0,
                    done=done,
                    parts=parts,
                    results=own.layers if own else {},
                )
            )
    return standings
