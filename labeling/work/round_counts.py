"""How far rounds are, and with that the gate between calibration and full labeling."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from operator import attrgetter
from typing import Any, NamedTuple

from django.db.models import Count, F, QuerySet

from labeling.agreement.rules.calibration import ENOUGH, evidence
from labeling.domain.facts import Fact
from labeling.models import Round
from labeling.work import assignments
from labeling.work.models.assignments import ANSWERED


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
        Round.with_checks.filter(pk__in=[round_.pk for round_ in rows])
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
        round_.assignments.order_by("annotator__username")
        .values(username=F("annotator__username"))
        .annotate(assigned=Count("pk"), answered=Count("pk", filter=ANSWERED))
    )
    return [dict(row) for row in rows]


def seen_before(round_: Round) -> int:
    """How many of its conversations were in a calibration round before it, and so discussed."""
    earlier = round_.project.rounds.filter(kind=Round.Kind.CALIBRATION, number__lt=round_.number)
    again = round_.places.filter(conversation__rounds__in=earlier)
    return again.values("conversation").distinct().count()


class GateState(NamedTuple):
    """``state`` is open, locked, measuring or overridden; ``round`` is the one that says so.

    None as the round: no calibration round was opened yet.
    """

    state: str
    round: Any


class Decision(NamedTuple):
    """What the newest completed calibration round (None: there is none) does to the gate."""

    round: Any
    opens: bool

    @property
    def why_locked(self) -> Fact:
        if self.round is None or self.round.state != Round.State.PASSED:
            return Fact("round.gate_locked")
        shared, number = evidence(self.round.agreement), self.round.number
        return Fact(
            "round.gate_too_small",
            number=number,
            least_conversations=ENOUGH.conversations,
            least_units=ENOUGH.units,
            conversations=shared.conversations,
            units=ENOUGH.units if shared.units is None else shared.units,
        )


def decision(rounds: Iterable[Any]) -> Decision:
    """The newest completed calibration round decides."""
    completed = [
        round_
        for round_ in rounds
        if round_.kind == Round.Kind.CALIBRATION and round_.state != Round.State.OPEN
    ]
    newest = max(completed, key=attrgetter("number"), default=None)
    if newest is None or newest.state != Round.State.PASSED:
        return Decision(newest, False)
    return Decision(newest, evidence(newest.agreement).suffices)


def gate_of(newest_first: Iterable[Any]) -> GateState:
    """What the rounds of a project say of its gate."""
    rounds = list(newest_first)
    decided = decision(rounds)
    if decided.opens:
        return GateState("open", decided.round)
    since = decided.round.number if decided.round else 0
    for round_ in rounds:
        if round_.override_reason and round_.number > since:
            return GateState("overridden", round_)
    for round_ in rounds:
        if round_.kind == Round.Kind.CALIBRATION and round_.state == Round.State.OPEN:
            return GateState("measuring", round_)
    return GateState("locked", decided.round)
