"""How far rounds are, and with that the gate between calibration and full labeling."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from django.db.models import Count, F, QuerySet

from labeling.models import Round
from labeling.models.assignments import ANSWERED
from labeling.services.work import assignments


def count_work(rounds: Collection[Any]) -> None:
    """Give each round ``n_assigned`` and ``n_done``, and both by status as ``work``."""
    counts = assignments.by_round(rounds)
    for round_ in rounds:
        round_.work = counts[round_.pk]
        round_.n_assigned = sum(round_.work.values())
        round_.n_done = round_.work["submitted"] + round_.work["skipped"]


def counted(rounds: QuerySet[Round]) -> list[Any]:
    """The same with ``n_conversations``, in three queries."""
    rows: list[Any] = list(rounds.select_related("guideline", "opened_by").defer("guideline__body"))
    count_work(rows)
    sizes = dict(
        Round.objects.with_checks()
        .filter(pk__in=[round_.pk for round_ in rows])
        .order_by()
        .values_list("pk")
        .annotate(n=Count("places"))
    )
    for round_ in rows:
        round_.n_conversations = sizes[round_.pk]
    return rows


def work_of_people(round_: Round) -> list[dict[str, Any]]:
    """All that may be seen of a blind round: who has answered how much."""
    rows = (
        round_.assignments.labelling()
        .order_by("annotator__username")
        .values(username=F("annotator__username"))
        .annotate(assigned=Count("pk"), answered=Count("pk", filter=ANSWERED))
    )
    return [dict(row) for row in rows]


class GateState(NamedTuple):
    """``state`` is open, locked, measuring or overridden; ``round`` is the one that says so.

    None as the round: no calibration round was opened yet.
    """

    state: str
    round: Any

    @property
    def is_open(self) -> bool:
        return self.state in ("open", "overridden")


def gate_of(newest_first: Iterable[Any]) -> GateState:
    """What the rounds of a project say of its gate."""
    rounds = list(newest_first)
    calibrations = [round_ for round_ in rounds if round_.kind == Round.Kind.CALIBRATION]
    passed = next((round_ for round_ in calibrations if round_.state == Round.State.PASSED), None)
    if passed is not None:
        return GateState("open", passed)
    overridden = next((round_ for round_ in rounds if round_.override_reason), None)
    if overridden is not None:
        return GateState("overridden", overridden)
    latest = calibrations[0] if calibrations else None
    is_open = latest is not None and latest.state == Round.State.OPEN
    return GateState("measuring" if is_open else "locked", latest)
