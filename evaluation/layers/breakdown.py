"""A metric by groups of cases or of labels, as it is stored with the aggregate of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple, TypedDict

from evaluation.layers.base import NOT_SAID, Example, GoldLayer, Scored
from evaluation.metrics.alignment import AlignmentRow
from evaluation.metrics.metric import Share
from evaluation.metrics.registry import METRICS
from evaluation.metrics.summary import by_cluster, contribution
from evaluation.metrics.yardsticks import ONE_CONVERSATION
from labeling.conversations.rules.importing import DIFFICULTIES
from labeling.domain.facts import Fact, StoredFact
from labeling.domain.msgids import msgid
from labeling.domain.uncertainty import ratio

NO_VALUE = Fact("breakdown.no_value")

TOGETHER = {"by_evidence": msgid("Expected messages"), "by_category": msgid("Category")}
"""Tables that memory layers store under separate names."""


class Group(TypedDict):
    """The figure of one group with its interval for new conversations."""

    group: str
    mean: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    """Cases or labels with a value."""
    conversations: int
    reason: StoredFact | None
    """Why there is no figure, or no interval."""


class Breakdown(TypedDict):
    """One table: a measure by group, with the unit that ``n`` counts."""

    title: str
    measure: str
    unit: str
    rows: list[Group]


class Counted(NamedTuple):
    """What one case or label of a group adds to its sums; ``None``: it has no value."""

    group: str
    share: Share | None
    conversation: Hashable


def tables_in(detail: Mapping[str, Any]) -> list[Breakdown]:
    """The tables that were stored with an aggregate; a single group is left out."""
    tables: list[Breakdown] = list(detail.get("breakdowns", []))
    for name, title in TOGETHER.items():
        groups = detail.get(name, [])
        tables.append({"title": title, "measure": "Recall", "unit": "Cases", "rows": groups})
    return [table for table in tables if len(table["rows"]) > 1]


def by_case(cases: Iterable[Scored], metric: str, group: Callable[[Example], str]) -> list[Group]:
    """The figure of ``metric`` over the cases of each group, as a run has it over all of them."""
    known = METRICS[metric]
    counted = (
        Counted(
            group(case.example),
            contribution(known, case.values[metric], failed=case.failed_at(metric)),
            case.cluster,
        )
        for case in cases
    )
    return sorted(rows(counted, lower=known.lower, upper=known.upper), key=_rank)


def by_label(cases: Iterable[Scored], metric: str, field: str) -> list[Group]:
    """Share of the gold labels that were matched, by a field of theirs.

    ``metric`` is the one whose detail holds the alignment.
    """
    return rows(
        Counted(
            str(label.get(field) or NOT_SAID), Share(float(position in matched), 1.0), case.cluster
        )
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


def rows(counted: Iterable[Counted], *, lower: float = 0.0, upper: float = 1.0) -> list[Group]:
    """The figure of each group, in the order of the groups' names."""
    groups: dict[str, list[Counted]] = defaultdict(list)
    for each in counted:
        groups[each.group].append(each)
    return [_row(name, groups[name], lower, upper) for name in sorted(groups)]


def _row(name: str, counted: Sequence[Counted], lower: float, upper: float) -> Group:
    shares = [each.share for each in counted]
    totals = by_cluster(shares, [each.conversation for each in counted])
    estimate = ratio(totals, lower=lower, upper=upper)
    if estimate is None:
        reason: Fact | None = NO_VALUE
    else:
        reason = ONE_CONVERSATION if estimate.low is None else None
    return {
        "group": name,
        "mean": estimate.value if estimate else None,
        "ci_low": estimate.low if estimate else None,
        "ci_high": estimate.high if estimate else None,
        "n": sum(share is not None for share in shares),
        "conversations": estimate.conversations if estimate else 0,
        "reason": reason.as_json() if reason else None,
    }


def _rank(row: Group) -> int:
    """Difficulties from easy to hard; everything else stays as it is."""
    return DIFFICULTIES.index(row["group"]) if row["group"] in DIFFICULTIES else len(DIFFICULTIES)


def mean(values: Sequence[float | None]) -> float | None:
    """Of those that are defined."""
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None


def recall_by(cases: Sequence[Scored], metric: str, field: str, title: str) -> Breakdown:
    groups = by_label(cases, metric, field)
    return {"title": title, "measure": "Recall", "unit": "Gold labels", "rows": groups}


def _matched(case: Scored, metric: str) -> set[int]:
    """Positions of the gold labels that were matched; none of a failed case."""
    if case.failed:
        return set()
    alignment: list[AlignmentRow] = case.values[metric].detail["alignment"]
    return {row["gold"] for row in alignment if row["matched"] and row["gold"] is not None}
