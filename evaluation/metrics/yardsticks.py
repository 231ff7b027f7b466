"""What a run's figure is worth: next to trivial pipelines, people, and cases with empty gold."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.metric import Metric, Share
from evaluation.metrics.summary import by_cluster, figure
from labeling.domain.facts import Fact, StoredFact
from labeling.domain.uncertainty import Estimate, difference, excludes_zero, ratio, skill

NO_FLOOR = Fact("yardstick.no_floor")
NO_PEOPLE = Fact("yardstick.too_few_people")
NO_SHARED_CASE = Fact("yardstick.no_shared_case")
ONE_CONVERSATION = Fact("yardstick.one_conversation")
FLOOR_IS_CEILING = Fact("yardstick.floor_is_ceiling")

ByPerson = Mapping[str, Share]
"""What a case adds against gold made without each person's labels."""


class StoredFigure(TypedDict):
    """A figure with its interval for new conversations, and the cases behind it."""

    mean: float
    ci_low: float | None
    ci_high: float | None
    n: int
    conversations: int


class EmptyGold(TypedDict):
    """Cases whose gold is empty, and the figure of the others; ``None`` if there are none."""

    n_empty: int
    share: float
    without: StoredFigure | None


class StoredDifference(TypedDict):
    mean: float
    ci_low: float | None
    ci_high: float | None
    p_value: float | None


class NextToPeople(TypedDict):
    """Run and people against the same gold, on the same cases."""

    run: StoredFigure
    people: StoredFigure
    difference: StoredDifference
    above: bool
    """A main metric is better than people, by an interval that excludes 0."""


class Skill(TypedDict):
    """(run − floor)/(ceiling − floor), the three on the same cases against the same gold."""

    floor: str
    mean: float
    ci_low: float
    ci_high: float
    n: int
    conversations: int
    at_floor: float
    at_run: float
    at_ceiling: float


class Yardsticks(TypedDict, total=False):
    """What is stored next to an aggregate. A reason says why a part is missing."""

    empty_gold: EmptyGold
    floors: dict[str, StoredFigure]
    people: NextToPeople
    no_people: StoredFact
    skill: Skill
    no_skill: StoredFact


@dataclass(frozen=True, slots=True)
class Measured:
    """One system by one metric, case by case; ``None`` is undefined."""

    shares: Sequence[Share | None]
    by_person: Sequence[ByPerson]


class Cases(NamedTuple):
    """What the cases of a run have in common, whatever is measured."""

    clusters: Sequence[Hashable]
    is_empty: Sequence[bool]
    """Whether gold has no label."""


def measure(
    metric: Metric,
    cases: Cases,
    run: Measured,
    floors: Mapping[str, Measured],
    people: Sequence[ByPerson],
    *,
    reference: str | None,
    is_tested: bool = True,
) -> Yardsticks:
    """Everything that belongs next to the figure of one metric.

    Parameters
    ----------
    metric
        One that each case has a value of.
    cases
        Aligned with what follows.
    run, floors
        What they score against gold, and against gold made without each person's labels.
    people
        What each person's own labels score against gold made without them.
    reference
        The floor from which skill is counted where people are above none of them; else it is the
        highest that they are above.
    is_tested
        Whether the metric is a main one: of what only explains nothing is concluded.

    Examples
    --------
    >>> f1 = Metric("f1", 1, frozenset(), "F1", "")
    >>> cases = Cases(clusters="abcd", is_empty=[False, False, False, True])
    >>> def of(*values):
    ...     by_person = [{"ana": Share(value, 1)} for value in values]
    ...     return Measured([Share(value, 1) for value in values], by_person)
    >>> people = of(0.8, 0.9, 0.7, 0.8).by_person
    >>> floors = {"nothing": of(0.0, 0.1, 0.0, 0.1)}
    >>> run = of(0.4, 0.5, 0.3, 0.5)
    >>> seen = measure(f1, cases, run, floors, people, reference="nothing")
    >>> seen["people"]["above"], round(seen["people"]["difference"]["mean"], 3)
    (False, -0.375)
    >>> round(seen["skill"]["mean"], 3), seen["empty_gold"]["n_empty"]
    (0.5, 1)
    """
    side = _Side(metric, cases, run, people)
    beside: Yardsticks = {}
    if metric.scope == "case":
        beside["empty_gold"] = side.empty_gold()
    known = {name: side.figure_of(floor.shares) for name, floor in floors.items()}
    beside["floors"] = {name: row for name, row in known.items() if row is not None}
    next_to = side.next_to_people(is_tested=is_tested)
    if isinstance(next_to, Fact):
        return without_people(beside, next_to)
    beside["people"] = next_to
    name = side.highest_floor(floors) or reference or ""
    reached = side.skill(name, floors.get(name))
    if isinstance(reached, Fact):
        beside["no_skill"] = reached.as_json()
    else:
        beside["skill"] = reached
    return beside


def without_people(beside: Yardsticks, why: Fact) -> Yardsticks:
    """The same where nothing is known of people, with its reason."""
    return {**beside, "no_people": why.as_json(), "no_skill": why.as_json()}


@dataclass(frozen=True, slots=True)
class _Side:
    """A run and people by one metric, case by case. What cannot be said is a reason."""

    metric: Metric
    cases: Cases
    run: Measured
    people: Sequence[ByPerson]

    def figure_of(self, shares: Sequence[Share | None]) -> StoredFigure | None:
        counted = [share for share in shares if share is not None]
        mean = figure(self.metric, counted)
        if mean is None:
            return None
        ends = {"lower": self.metric.lower, "upper": self.metric.upper}
        estimate = ratio(self._by_conversation(shares), **ends)
        return {
            "mean": mean,
            "ci_low": estimate.low if estimate else None,
            "ci_high": estimate.high if estimate else None,
            "n": len(counted),
            "conversations": estimate.conversations if estimate else 0,
        }

    def empty_gold(self) -> EmptyGold:
        rows = list(zip(self.run.shares, self.cases.is_empty, strict=True))
        n_empty = sum(share is not None and empty for share, empty in rows)
        others = [None if empty else share for share, empty in rows]
        return {
            "n_empty": n_empty,
            "share": n_empty / max(1, sum(share is not None for share, _ in rows)),
            "without": self.figure_of(others) if n_empty else None,
        }

    def next_to_people(self, *, is_tested: bool) -> NextToPeople | Fact:
        own, theirs = _on_shared(self.run.by_person, self.people)
        own_figure, people_figure = self.figure_of(own), self.figure_of(theirs)
        if own_figure is None or people_figure is None:
            return NO_SHARED_CASE if any(self.people) else NO_PEOPLE
        tables = self._by_conversation(theirs), self._by_conversation(own)
        estimate = difference(*tables, span=self._span)
        if estimate is None:  # nothing to divide by, in either
            return NO_SHARED_CASE
        gain = estimate.value if self.metric.direction == "higher" else -estimate.value
        return {
            "run": own_figure,
            "people": people_figure,
            "difference": _difference(estimate.within(self.metric.upper - self.metric.lower)),
            "above": is_tested and gain > 0 and excludes_zero(estimate),
        }

    def highest_floor(self, floors: Mapping[str, Measured]) -> str | None:
        """Of those that people are above: returning everything has the recall of nobody."""
        sign = 1 if self.metric.direction == "higher" else -1
        known: list[tuple[float, str]] = []
        for name, floor in floors.items():
            shared = _on_shared(floor.by_person, self.people, self.run.by_person)
            figures = map(self.figure_of, shared[:2])
            at_floor, at_people = (sign * row["mean"] if row else None for row in figures)
            if at_floor is not None and at_people is not None and at_floor < at_people:
                known.append((at_floor, name))
        return max(known, key=lambda row: row[0])[1] if known else None

    def skill(self, name: str, floor: Measured | None) -> Skill | Fact:
        if floor is None or not any(floor.by_person):
            return NO_FLOOR
        shared = _on_shared(self.run.by_person, floor.by_person, self.people)
        tables = [self._by_conversation(shares) for shares in shared]
        means = [row["mean"] for row in map(self.figure_of, shared) if row is not None]
        if len(means) < len(shared) or min(table[:, 1].sum() for table in tables) <= 0:
            return NO_SHARED_CASE
        estimate = skill(*tables, span=self._span)
        if estimate is None or estimate.low is None or estimate.high is None:
            return ONE_CONVERSATION if len(tables[0]) < 2 else FLOOR_IS_CEILING
        return {
            "floor": name,
            "mean": estimate.value,
            "ci_low": estimate.low,
            "ci_high": estimate.high,
            "n": sum(share is not None for share in shared[0]),
            "conversations": estimate.conversations,
            "at_run": means[0],
            "at_floor": means[1],
            "at_ceiling": means[2],
        }

    def _by_conversation(self, shares: Sequence[Share | None]) -> NDArray[np.float64]:
        return by_cluster(shares, self.cases.clusters)

    @property
    def _span(self) -> float:
        span = self.metric.upper - self.metric.lower
        return span if math.isfinite(span) else 1.0


def _on_shared(*systems: Sequence[ByPerson]) -> list[list[Share | None]]:
    """What each case adds in each system, where all have a value: the mean over the people."""
    result: list[list[Share | None]] = [[] for _ in systems]
    for rows in zip(*systems, strict=True):
        shared = sorted(set.intersection(*(set(row) for row in rows)))
        for shares, row in zip(result, rows, strict=True):
            shares.append(_mean([row[person] for person in shared]) if shared else None)
    return result


def _mean(shares: Sequence[Share]) -> Share:
    tops, bottoms = zip(*shares, strict=True)
    return Share(math.fsum(tops) / len(shares), math.fsum(bottoms) / len(shares))


def _difference(estimate: Estimate) -> StoredDifference:
    return {
        "mean": estimate.value,
        "ci_low": estimate.low,
        "ci_high": estimate.high,
        "p_value": estimate.p_value,
    }
