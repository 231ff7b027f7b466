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


class PersonRow(TypedDict):
    """One person and the run against gold made without this person's labels."""

    person: str
    people: float
    run: float
    n: int


class NextToPeople(TypedDict):
    """Run and people against the same gold, on the same cases."""

    run: StoredFigure
    people: StoredFigure
    difference: StoredDifference
    above: bool
    """A main metric is better than people, by an interval that excludes 0."""
    by_person: list[PersonRow]


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
    beside: Yardsticks = {}
    if metric.scope == "case":
        beside["empty_gold"] = _empty_gold(metric, cases, run)
    known = {name: _figure_of(metric, floor.shares, cases) for name, floor in floors.items()}
    beside["floors"] = {name: row for name, row in known.items() if row is not None}
    _next_to_people(beside, metric, cases, run, people, is_tested=is_tested)
    name = _highest_floor(metric, cases, run, floors, people) or reference
    _skill(beside, metric, cases, run, floors.get(name or ""), people, name)
    return beside


def without_people(beside: Yardsticks, why: Fact) -> Yardsticks:
    """The same where nothing is known of people, with its reason."""
    return {**beside, "no_people": why.as_json(), "no_skill": why.as_json()}


def _empty_gold(metric: Metric, cases: Cases, run: Measured) -> EmptyGold:
    defined = [share is not None for share in run.shares]
    n_empty = sum(has and empty for has, empty in zip(defined, cases.is_empty, strict=True))
    others = [
        None if empty else share for share, empty in zip(run.shares, cases.is_empty, strict=True)
    ]
    return {
        "n_empty": n_empty,
        "share": n_empty / max(1, sum(defined)),
        "without": _figure_of(metric, others, cases) if n_empty else None,
    }


def _next_to_people(
    beside: Yardsticks,
    metric: Metric,
    cases: Cases,
    run: Measured,
    people: Sequence[ByPerson],
    *,
    is_tested: bool,
) -> None:
    own, theirs = _on_shared(run.by_person, people)
    own_figure = _figure_of(metric, own, cases)
    people_figure = _figure_of(metric, theirs, cases)
    if own_figure is None or people_figure is None:
        beside["no_people"] = (NO_SHARED_CASE if any(people) else NO_PEOPLE).as_json()
        return
    estimate = difference(
        _by_conversation(theirs, cases), _by_conversation(own, cases), span=_span(metric)
    )
    if estimate is None:  # nothing to divide by, in either
        beside["no_people"] = NO_SHARED_CASE.as_json()
        return
    gain = estimate.value if metric.direction == "higher" else -estimate.value
    beside["people"] = {
        "run": own_figure,
        "people": people_figure,
        "difference": _difference(estimate.within(metric.upper - metric.lower)),
        "above": is_tested and gain > 0 and excludes_zero(estimate),
        "by_person": _by_person(metric, run.by_person, people),
    }


def _highest_floor(
    metric: Metric,
    cases: Cases,
    run: Measured,
    floors: Mapping[str, Measured],
    people: Sequence[ByPerson],
) -> str | None:
    """Of those that people are above: returning everything has the recall of nobody."""
    sign = 1 if metric.direction == "higher" else -1
    known: list[tuple[float, str]] = []
    for name, floor in floors.items():
        shared = _on_shared(floor.by_person, people, run.by_person)
        figures = [_figure_of(metric, shares, cases) for shares in shared[:2]]
        at_floor, at_people = (sign * row["mean"] if row else None for row in figures)
        if at_floor is not None and at_people is not None and at_floor < at_people:
            known.append((at_floor, name))
    return max(known, key=lambda row: row[0])[1] if known else None


def _skill(
    beside: Yardsticks,
    metric: Metric,
    cases: Cases,
    run: Measured,
    floor: Measured | None,
    people: Sequence[ByPerson],
    reference: str | None,
) -> None:
    if "no_people" in beside:
        beside["no_skill"] = beside["no_people"]
        return
    if floor is None or reference is None or not any(floor.by_person):
        beside["no_skill"] = NO_FLOOR.as_json()
        return
    at_run, at_floor, at_ceiling = _on_shared(run.by_person, floor.by_person, people)
    tables = [_by_conversation(shares, cases) for shares in (at_run, at_floor, at_ceiling)]
    figures = [_figure_of(metric, shares, cases) for shares in (at_run, at_floor, at_ceiling)]
    if any(row is None for row in figures) or min(table[:, 1].sum() for table in tables) <= 0:
        beside["no_skill"] = NO_SHARED_CASE.as_json()
        return
    estimate = skill(*tables, span=_span(metric))
    if estimate is None or estimate.low is None or estimate.high is None:
        lonely = len(tables[0]) < 2
        beside["no_skill"] = (ONE_CONVERSATION if lonely else FLOOR_IS_CEILING).as_json()
        return
    means = [row["mean"] for row in figures if row is not None]
    beside["skill"] = {
        "floor": reference,
        "mean": estimate.value,
        "ci_low": estimate.low,
        "ci_high": estimate.high,
        "n": sum(share is not None for share in at_run),
        "conversations": estimate.conversations,
        "at_run": means[0],
        "at_floor": means[1],
        "at_ceiling": means[2],
    }


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


def _by_person(
    metric: Metric, run: Sequence[ByPerson], people: Sequence[ByPerson]
) -> list[PersonRow]:
    rows: list[PersonRow] = []
    for person in sorted({name for row in people for name in row}):
        pairs = [
            (own[person], theirs[person])
            for own, theirs in zip(run, people, strict=True)
            if person in own and person in theirs
        ]
        own_figure = figure(metric, [own for own, _ in pairs])
        their_figure = figure(metric, [theirs for _, theirs in pairs])
        if own_figure is not None and their_figure is not None:
            rows.append(
                {"person": person, "people": their_figure, "run": own_figure, "n": len(pairs)}
            )
    return rows


def _figure_of(metric: Metric, shares: Sequence[Share | None], cases: Cases) -> StoredFigure | None:
    counted = [share for share in shares if share is not None]
    mean = figure(metric, counted)
    if mean is None:
        return None
    estimate = ratio(_by_conversation(shares, cases), lower=metric.lower, upper=metric.upper)
    return {
        "mean": mean,
        "ci_low": estimate.low if estimate else None,
        "ci_high": estimate.high if estimate else None,
        "n": len(counted),
        "conversations": estimate.conversations if estimate else 0,
    }


def _difference(estimate: Estimate) -> StoredDifference:
    return {
        "mean": estimate.value,
        "ci_low": estimate.low,
        "ci_high": estimate.high,
        "p_value": estimate.p_value,
    }


def _by_conversation(shares: Sequence[Share | None], cases: Cases) -> NDArray[np.float64]:
    return by_cluster(shares, cases.clusters)


def _span(metric: Metric) -> float:
    span = metric.upper - metric.lower
    return span if math.isfinite(span) else 1.0
