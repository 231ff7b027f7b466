"""A metric by groups of cases or of labels, as it is stored with the aggregate of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import fsum
from typing import TypedDict

from evaluation.layers.base import NOT_SAID, Example, GoldLayer, Scored
from evaluation.metrics.alignment import AlignmentRow
from labeling.domain.exchange.importing import DIFFICULTIES


class Group(TypedDict):
    """The mean of one group, and how many cases or labels are in it."""

    group: str
    mean: float | None
    n: int


class Breakdown(TypedDict):
    """One table: a measure by group, with the unit that ``n`` counts."""

    title: str
    measure: str
    unit: str
    rows: list[Group]


def by_case(cases: Iterable[Scored], metric: str, group: Callable[[Example], str]) -> list[Group]:
    """Mean of ``metric`` and number of cases in each group; undefined cases are left out."""
    pairs = [(group(case.example), case.values[metric].value) for case in cases]
    groups = rows((name, value) for name, value in pairs if value is not None)
    return sorted(groups, key=_rank)


def by_label(cases: Iterable[Scored], metric: str, field: str) -> list[Group]:
    """Share of the gold labels that were matched, by a field of theirs.

    ``metric`` is the one whose detail holds the alignment.
    """
    return rows(
        (str(label.get(field) or NOT_SAID), float(position in matched))
        for case in cases
        for matched in [_matched(case, metric)]
        for position, label in enumerate(case.example.gold)
    )


def standard(
    layer: GoldLayer,
    cases: Sequence[Scored],
    *,
    title: str,
    metric: str,
    labels: Breakdown | None = None,
) -> list[Breakdown]:
    """By difficulty, by domain and, where ``labels`` are given, by what they were grouped by."""
    tables: list[Breakdown] = [
        {
            "title": name,
            "measure": title,
            "unit": "Cases",
            "rows": by_case(cases, metric, lambda example, name=name: layer.slices(example)[name]),  # type: ignore[misc]
        }
        for name in ("Difficulty", "Domain")
    ]
    return [*tables, labels] if labels else tables


def rows(pairs: Iterable[tuple[str, float]]) -> list[Group]:
    """Mean and number of the values of each group, in the order of the groups' names."""
    groups: dict[str, list[float]] = defaultdict(list)
    for name, value in pairs:
        groups[name].append(value)
    return [
        {"group": name, "mean": mean(values), "n": len(values)}
        for name, values in sorted(groups.items())
    ]


def _rank(row: Group) -> int:
    """Difficulties from easy to hard; everything else stays as it is."""
    return DIFFICULTIES.index(row["group"]) if row["group"] in DIFFICULTIES else len(DIFFICULTIES)


def mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None


def recall_by(cases: Sequence[Scored], metric: str, field: str, title: str) -> Breakdown:
    groups = by_label(cases, metric, field)
    return {"title": title, "measure": "Recall", "unit": "Gold labels", "rows": groups}


def _matched(case: Scored, metric: str) -> set[int]:
    """Positions of the gold labels that were matched; none of a failed case."""
    if case.failed:
        return set()
    alignment: list[AlignmentRow] = case.values[metric].detail["alignment"]
    return {row["gold"] for row in alignment if row["matched"] and row["gold"] is not None}
