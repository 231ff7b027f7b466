"""What waits for somebody in a project: facts for the first page and the overview.

Everything is asked for all projects at once, so its queries do not grow with them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Exists, Max, OuterRef

from labeling.models import (
    Assignment,
    Conversation,
    Disagreement,
    Guideline,
    Measurement,
    Membership,
    Project,
    Reopening,
    Round,
)
from labeling.overview.progress import in_gold
from labeling.work.round_counts import counted, decision
from labeling.work.stages import with_stage

Stage = Conversation.Stage


@dataclass(frozen=True, slots=True)
class Discussion:
    """A calibration round that did not pass, and was not held again yet.

    ``total`` is None while a worker finds the disagreements; ``newest_guideline`` is the number of
    the project's newest version.
    """

    round: Round
    total: int | None
    decided: int
    newest_guideline: int

    @property
    def is_open(self) -> bool:
        return self.total is None or self.decided < self.total

    @property
    def left(self) -> int:
        return (self.total or 0) - self.decided

    @property
    def has_new_guideline(self) -> bool:
        return self.newest_guideline > self.round.guideline.version


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a project stands. ``passed`` is a calibration that full labeling may follow.

    ``counts`` are of conversations: ``in_work`` lack answers, ``settled`` have an outcome, and
    ``not_in_gold`` are those of them that are not frozen; ``reopened`` are items of gold.
    ``answered`` are open rounds of full labeling in which no answer is missing.
    """

    project: Project
    discussion: Discussion | None
    passed: Round | None
    answered: list[Round]
    counts: Mapping[str, int]
    has_rounds: bool


def waiting_discussions(user: User) -> list[Discussion]:
    """The discussions in which the user may take part as an annotator of the round."""
    mine = Assignment.objects.answered_by(user).filter(round=OuterRef("pk"))
    member = Membership.objects.filter(
        project=OuterRef("project"), user=user, role=Membership.Role.ANNOTATOR
    )
    failed = _not_held_again().filter(Exists(mine), Exists(member))
    return [discussion for discussion in _discussions(failed) if discussion.is_open]


def standings(projects: Collection[Project]) -> list[Standing]:
    """Of each project, in the same order."""
    own = {project.pk: project for project in projects}
    rounds = Round.objects.filter(project__in=own)
    discussions = {d.round.project_id: d for d in _discussions(_not_held_again(own))}
    answered = _answered(rounds.filter(state=Round.State.OPEN, kind=Round.Kind.FULL))
    held: dict[int, list[Round]] = defaultdict(list)
    for round_ in rounds.only("project", "number", "kind", "state", "agreement"):
        held[round_.project_id].append(round_)
    stages = _stages(own)
    in_gold = _in_gold(own)
    reopened = _by_project(
        Reopening.objects.filter(item__release__project__in=own).unsettled(),
        "item__release__project",
    )
    return [
        Standing(
            project=project,
            discussion=discussions.get(pk),
            passed=_to_follow(held[pk]),
            answered=answered[pk],
            counts=_counts(stages[pk], in_gold.get(pk, 0)) | {"reopened": reopened.get(pk, 0)},
            has_rounds=bool(held[pk]),
        )
        for pk, project in own.items()
    ]


def _counts(stages: Mapping[str, int], in_gold: int) -> dict[str, int]:
    settled = stages.get(Stage.LABELED, 0) + stages.get(Stage.DECIDED, 0)
    return {
        "conversations": sum(stages.values()),
        "unplanned": stages.get(Stage.UNPLANNED, 0),
        "in_work": stages.get(Stage.WAITING, 0) + stages.get(Stage.BEGUN, 0),
        "disputed": stages.get(Stage.DISPUTED, 0),
        "settled": settled,
        "not_in_gold": max(0, settled - in_gold),
    }


def _to_follow(rounds: Sequence[Round]) -> Round | None:
    """The calibration that opened full labeling, as long as there is none."""
    if any(round_.kind == Round.Kind.FULL for round_ in rounds):
        return None
    decided = decision(rounds)
    return decided.round if decided.opens else None


# --- parts ----------------------------------------------------------------------------------------


def _not_held_again(projects: Iterable[int] | None = None) -> Any:
    """Calibration rounds that did not pass, and that no other has followed."""
    followed = Round.objects.filter(
        project=OuterRef("project"),
        kind=Round.Kind.CALIBRATION,
        number__gt=OuterRef("number"),
    )
    failed = Round.objects.filter(
        ~Exists(followed), kind=Round.Kind.CALIBRATION, state=Round.State.FAILED
    )
    if projects is not None:
        failed = failed.filter(project__in=projects)
    return failed.select_related("project", "guideline").defer("guideline__body", "agreement")


def _discussions(failed: Any) -> list[Discussion]:
    rounds = list(failed.order_by("-closed_at"))
    if not rounds:
        return []
    measured = Measurement.objects.filter(round__in=rounds).order_by()
    totals: dict[int, dict[str, int]] = defaultdict(dict)
    for pk, layer, number in measured.values_list("round", "layer", "n_splits"):
        totals[pk][layer] = number
    decided: dict[int, dict[str, int]] = defaultdict(dict)
    rows = Disagreement.objects.filter(round__in=rounds).exclude(outcome="").order_by()
    for pk, layer, number in rows.values_list("round", "layer").annotate(n=Count("pk")):
        decided[pk][layer] = number
    newest = dict(
        Guideline.objects.filter(project__in={round_.project_id for round_ in rounds})
        .order_by()
        .values_list("project")
        .annotate(newest=Max("version"))
    )
    return [
        Discussion(
            round_,
            _sum_of(round_.project.layers, totals[round_.pk]),
            sum(decided[round_.pk].get(layer, 0) for layer in round_.project.layers),
            newest.get(round_.project_id, 0),
        )
        for round_ in rounds
    ]


def _sum_of(layers: Iterable[str], totals: Mapping[str, int]) -> int | None:
    numbers = [totals.get(layer) for layer in layers]
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _answered(opened: Any) -> dict[int, list[Round]]:
    """Of a pool every place has its answer: work that nobody has taken is nobody's."""
    by_project: dict[int, list[Round]] = defaultdict(list)
    for round_ in counted(opened.defer("agreement").order_by("number")):
        places = round_.n_conversations * round_.overlap
        if round_.n_done >= (places if round_.pool else round_.n_assigned) > 0:
            by_project[round_.project_id].append(round_)
    return by_project


def _stages(projects: Collection[int]) -> dict[int, dict[str, int]]:
    stages: dict[int, dict[str, int]] = defaultdict(dict)
    rows = with_stage(Conversation.objects.filter(project__in=projects)).order_by()
    for pk, stage, number in rows.values_list("project", "stage").annotate(n=Count("pk")):
        stages[pk][stage] = number
    return stages


def _in_gold(projects: Collection[int]) -> dict[int, int]:
    """Settled conversations in the newest releases that people labeled."""
    frozen = in_gold(projects).values("conversation")
    conversations = Conversation.objects.filter(project__in=projects, pk__in=frozen)
    settled = with_stage(conversations).filter(stage__in=[Stage.LABELED, Stage.DECIDED])
    return _by_project(settled, "project")


def _by_project(rows: Any, column: str) -> dict[int, int]:
    return dict(rows.order_by().values_list(column).annotate(n=Count("pk")))
