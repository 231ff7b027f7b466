"""Figures, badges and plots as the templates show them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.utils.formats import number_format

from evaluation.layers import GoldLayer
from evaluation.layers.breakdown import Breakdown
from evaluation.metrics.gate import JUDGED, Check
from evaluation.metrics.registry import METRICS, Metric, metrics_for
from evaluation.metrics.trace import RankBand
from evaluation.metrics.yardsticks import StoredFigure, Yardsticks
from evaluation.models import Aggregate, CaseRun, Score
from evaluation.services.run.comparisons import Compared
from evaluation.services.run.conclusions import badge, conclusion
from evaluation.services.run.repetitions import Reduced, Repetitions
from labeling.domain.facts import Fact, StoredFact
from labeling.domain.numbers import decimals_apart
from labeling.templatetags.figures import exact
from labeling.templatetags.figures import figure as decimals
from labeling.translation import lazy as _
from labeling.words import words, words_of

BADGES = {
    "queued": "",
    "running": "info",
    "answering": "info",
    "judging": "info",
    "scoring": "info",
    "finished": "ok",
    "paused": "warn",
    "cancelled": "",
    "failed": "bad",
    "done": "ok",
}

SIZE = 240  # of a plot's square, in its own units
MARGIN = 36


class Cell(NamedTuple):
    text: str
    title: str = ""
    kind: str = ""


class Dot(NamedTuple):
    x: float
    y: float
    radius: float
    title: str


class Line(NamedTuple):
    name: str
    title: str
    points: str


class Floor(NamedTuple):
    """A trivial pipeline on the same cases."""

    name: str
    text: str
    interval: str
    n: int


class TriesRow(NamedTuple):
    """What k tries reach, each with its interval for new conversations."""

    k: int
    best: str
    worst: str
    one_right: str
    all_right: str
    n: int


class People(NamedTuple):
    """People and the run against gold without each person's labels, on the same cases."""

    people: str
    people_interval: str
    run: str
    difference: str
    difference_interval: str
    n: int
    above: bool
    by_person: list[tuple[str, str, str, int]]


class Skill(NamedTuple):
    """In percent, with the three figures behind it and their ``places`` on a bar of 100."""

    text: str
    interval: str
    floor: str
    n: int
    at_floor: str
    at_run: str
    at_ceiling: str
    places: tuple[float, float, float]


class End(NamedTuple):
    """What one end of the picture of a figure stands for; ``name`` is that of a pipeline."""

    title: str
    name: str
    text: str


class Picture(NamedTuple):
    """The primary figure on one line of 100 units: from the floor to people where both are known,
    else over the scale of the metric. An interval that goes far beyond is cut; its figures are not.
    Of an unknown place there is no mark."""

    start: float
    stop: float
    at: float
    low: float | None
    high: float | None
    floors: list[float]
    left: End
    right: End


class SummaryRow(NamedTuple):
    """One metric of a run, with what it is worth next to floors and people."""

    metric: Metric
    row: Aggregate
    figure: str
    interval: str
    spread: list[str]
    floors: list[Floor]
    people: People | None
    no_people: str
    skill: Skill | None
    no_skill: str
    n_empty: int
    without_empty: str
    without_empty_interval: str
    chance: str
    over_chance: str


class MetricGroup(NamedTuple):
    """Metrics about the same thing; without a title where a layer names none."""

    title: str
    rows: list[SummaryRow]


class SliceRow(NamedTuple):
    """One group; ``why`` says why there is no figure, or no interval."""

    group: str
    mean: str
    interval: str
    n: int
    why: str


class ShownSlice(NamedTuple):
    title: str
    measure: str
    unit: str
    rows: list[SliceRow]
    is_old: bool
    """Scored before groups had intervals."""


@dataclass(frozen=True)
class FunnelRow:
    """One fate of the expected messages with its share."""

    fate: str
    title: str
    meaning: str
    count: int
    percent: float


@dataclass(frozen=True)
class BandRow:
    """How many lost messages were at these ranks, and the length of the bar in percent."""

    ranks: str
    count: int
    percent: float


class BinTable(NamedTuple):
    title: str
    rows: list[dict[str, Any]]
    digits: int


class BinnedFigure(NamedTuple):
    """ECE or MCE over either kind of bins, each with its interval."""

    metric: Metric
    width: str
    width_chance: str
    mass: str
    mass_chance: str


def figure(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else number_format(f"{value:z.{digits}f}", digits)


def signed(value: float | None) -> str:
    """A difference, with its sign also where it is a gain."""
    return "–" if value is None else number_format(f"{value:+z.3f}", 3)


def signed_interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{signed(low)} – {signed(high)}"


def compared(value: float | None, limit: float) -> tuple[str, str]:
    """Both with the decimals that show which of them is the larger one."""
    digits = decimals_apart(value, limit, 3)
    return figure(value, digits), figure(limit, digits)


def of_scale(metric: Metric, value: float | None) -> str:
    """The figure with the end of its scale, where that is not 1."""
    text = figure(value)
    return text if value is None or metric.upper == 1 else f"{text} / {exact(metric.upper)}"


def with_interval(metric: Metric, row: Aggregate | None) -> str:
    """``0.271 [0.120 – 0.450]``; the figure alone where a single conversation is behind it."""
    if row is None or row.ci_low is None:
        return of_scale(metric, row.mean if row else None)
    return f"{of_scale(metric, row.mean)} [{interval(row)}]"


def interval(row: Aggregate) -> str:
    return between(row.ci_low, row.ci_high)


def between(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{figure(low)} – {figure(high)}"


class GateCheck(NamedTuple):
    """One check of the gate, as texts."""

    title: str
    what: str
    verdict: str
    passed: bool
    value: str
    limit: str
    interval: str
    chance: float | None
    """Of a threshold: how probable it is that the true figure passes, in percent."""
    reason: str


KINDS = {
    "threshold": _("threshold"),
    "coverage": _("cases with a value"),
    "drift": _("change since the baseline"),
    "gain": _("gain since the baseline"),
    "drop": _("drop since the baseline"),
    "same": _("no change since the baseline"),
}


def gate_check(check: Check) -> GateCheck:
    metric = METRICS.get(check.metric)
    size = abs(check.value) if check.change and check.value else check.value
    value, limit = compared(size, check.limit)
    sign = "≥" if check.at_least else "≤"
    return GateCheck(
        title=metric.title if metric else check.metric,
        what=KINDS[check.change or check.kind],
        verdict=words(Fact(f"comparison.{check.verdict}")) if check.verdict else "",
        passed=check.passed,
        value=value,
        limit="–" if check.change in ("gain", "same") else f"{sign} {limit}",
        interval=between(check.ci_low, check.ci_high),
        chance=None if check.chance is None else 100 * check.chance,
        reason=words_of(check.reason),
    )


def reached_by_tries(repeated: Repetitions) -> list[TriesRow]:
    return [
        TriesRow(
            k=row.k,
            best=_reduced(row.best),
            worst=_reduced(row.worst),
            one_right=_reduced(row.one_right),
            all_right=_reduced(row.all_right),
            n=row.n,
        )
        for row in repeated.rows
    ]


def _reduced(value: Reduced) -> str:
    ends = between(value.ci_low, value.ci_high)
    return figure(value.mean) if ends == "–" else f"{figure(value.mean)} [{ends}]"


def slice_of(table: Breakdown) -> ShownSlice:
    """Runs that were scored before have no intervals here."""
    return ShownSlice(
        table["title"],
        table["measure"],
        table["unit"],
        [
            SliceRow(
                row["group"],
                figure(row["mean"]),
                between(row.get("ci_low"), row.get("ci_high")),
                row["n"],
                _said(row.get("reason")),
            )
            for row in table["rows"]
        ],
        is_old=any("ci_low" not in row for row in table["rows"]),
    )


def summary_row(row: Aggregate) -> SummaryRow:
    stored: Yardsticks = row.yardsticks
    empty = stored.get("empty_gold")
    without = empty["without"] if empty else None
    return SummaryRow(
        metric=METRICS[row.metric],
        row=row,
        figure=figure(row.mean),
        interval=interval(row),
        spread=[figure(getattr(row, name)) for name in ("median", "std", "min", "max")],
        floors=[
            Floor(name, figure(floor["mean"]), _interval_of(floor), floor["n"])
            for name, floor in stored.get("floors", {}).items()
        ],
        people=_people(stored),
        no_people=_said(stored.get("no_people")),
        skill=_skill(METRICS[row.metric], stored),
        no_skill=_said(stored.get("no_skill")),
        n_empty=empty["n_empty"] if empty else 0,
        without_empty=figure(without["mean"]) if without else "–",
        without_empty_interval=_interval_of(without) if without else "–",
        chance=figure(row.chance),
        over_chance=figure(row.over_chance),
    )


def grouped(layer: GoldLayer, rows: Sequence[SummaryRow]) -> list[MetricGroup]:
    """By what the metrics are about, as the layer says; what it does not name comes last."""
    by_id = {row.metric.id: row for row in rows}
    groups = [
        MetricGroup(title, [by_id.pop(name) for name in names if name in by_id])
        for title, names in layer.groups
    ]
    judged = [by_id.pop(name) for name in list(by_id) if name in JUDGED]
    rest = MetricGroup(_("Other") if groups else "", list(by_id.values()))
    answers = MetricGroup(_("Judged answers, 0 to 10"), judged)
    return [group for group in (*groups, answers, rest) if group.rows]


def _people(stored: Yardsticks) -> People | None:
    beside = stored.get("people")
    if beside is None:
        return None
    apart = beside["difference"]
    return People(
        people=figure(beside["people"]["mean"]),
        people_interval=_interval_of(beside["people"]),
        run=figure(beside["run"]["mean"]),
        difference=signed(apart["mean"]),
        difference_interval=between(apart["ci_low"], apart["ci_high"]),
        n=beside["people"]["n"],
        above=beside["above"],
        by_person=[
            (row["person"], figure(row["people"]), figure(row["run"]), row["n"])
            for row in beside["by_person"]
        ],
    )


def _skill(metric: Metric, stored: Yardsticks) -> Skill | None:
    reached = stored.get("skill")
    if reached is None:
        return None
    ends = (reached["ci_low"], reached["ci_high"])
    span = metric.upper - metric.lower
    at = (reached["at_floor"], reached["at_run"], reached["at_ceiling"])
    floor, run, ceiling = (
        round(100 * min(1.0, max(0.0, (value - metric.lower) / span)), 1) for value in at
    )
    return Skill(
        text=_percent(reached["mean"]),
        interval=" – ".join(map(_percent, ends)),
        floor=reached["floor"],
        n=reached["n"],
        at_floor=figure(at[0]),
        at_run=figure(at[1]),
        at_ceiling=figure(at[2]),
        places=(floor, run, ceiling),
    )


def picture_of(line: SummaryRow) -> Picture | None:
    """The skill as METRICS.md defines it: every mark is measured on the same cases."""
    reached = line.row.yardsticks.get("skill")
    if line.skill is not None and reached is not None:
        ends = [_near_scale(reached[mark]) for mark in ("mean", "ci_low", "ci_high")]
        place = _placed(min(0.0, *ends), max(1.0, *ends))
        at, low, high = map(place, ends)
        return Picture(
            start=place(0.0),
            stop=place(1.0),
            at=at,
            low=low,
            high=high,
            floors=[],
            left=End(_("Floor"), line.skill.floor, line.skill.at_floor),
            right=End(_("People"), "", line.skill.at_ceiling),
        )
    metric, row = line.metric, line.row
    if row.mean is None or not math.isfinite(metric.upper - metric.lower):
        return None
    place = _placed(metric.lower, metric.upper)
    floors = row.yardsticks.get("floors", {}).values()
    return Picture(
        start=0.0,
        stop=100.0,
        at=place(row.mean),
        low=None if row.ci_low is None else place(row.ci_low),
        high=None if row.ci_high is None else place(row.ci_high),
        floors=[place(floor["mean"]) for floor in floors if floor["mean"] is not None],
        left=End("", "", exact(metric.lower)),
        right=End("", "", exact(metric.upper)),
    )


def _near_scale(skill: float) -> float:
    """At most a quarter of the way beyond floor and people: they are what the picture is about."""
    return min(1.25, max(-0.25, skill))


def _placed(low: float, high: float) -> Callable[[float], float]:
    """Places on a line of 100 units."""
    return lambda value: round(100 * (value - low) / (high - low), 2)


def _percent(share: float) -> str:
    return number_format(f"{100 * share:z.0f}", 0)


def _interval_of(stored: StoredFigure) -> str:
    return between(stored["ci_low"], stored["ci_high"])


def _said(reason: StoredFact | None) -> str:
    return words(Fact.from_json(reason)) if reason else ""


class ShownFailure(NamedTuple):
    """Why a case had failed before it was tried again."""

    at: datetime | None
    error_class: str
    attempts: int
    why: str


def earlier_failures(case: CaseRun) -> list[ShownFailure]:
    return [
        ShownFailure(
            datetime.fromisoformat(row["at"]) if row["at"] else None,
            row["error_class"],
            row["attempts"],
            words_of(row["error"]),
        )
        for row in case.earlier_failures
    ]


def score_cell(score: Score | None, *, failed: bool) -> Cell:
    if failed:
        return Cell(figure(score.value) if score else "–", _("The pipeline failed"), "failed")
    if score is None:
        return Cell("–", _("Not scored yet"), "undefined")
    if score.value is None:
        return Cell("–", words(score.reason) if score.reason else "", "undefined")
    return Cell(figure(score.value))


def as_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def steps_of(output: Mapping[str, Any] | None) -> list[str]:
    """What the pipeline says it did, as JSON; nothing looked at the shape before."""
    steps = (output or {}).get("steps")
    return [as_json(step) for step in steps] if isinstance(steps, list) else []


def case_columns(layer: GoldLayer, *, answered: bool = False) -> list[Metric]:
    """The metrics of a table of cases."""
    answers = metrics_for("answers") if answered else []
    if layer.columns:
        added = [metric for metric in metrics_for(layer.name) if metric.compute]
        return [*(METRICS[name] for name in layer.columns), *added, *answers]
    return [metric for metric in metrics_for(layer.name) if metric.per_case] + answers


FATES = {
    "found": (_("Found"), _("returned in the answer")),
    "not_selected": (_("Not selected"), _("ranked, but left out of the answer")),
    "lost_in_reranking": (_("Lost in re-ranking"), _("a candidate that the ranking dropped")),
    "never_retrieved": (_("Never retrieved"), _("no candidate at any point")),
}


def funnel_rows(counts: dict[str, int], *, drops: bool) -> list[FunnelRow]:
    """Each fate of the expected messages with its share; empty if no trace was kept.

    A re-ranking that drops nothing cannot lose anything, so it has no row.
    """
    total = sum(counts.values())
    if not total:
        return []
    return [
        FunnelRow(fate, title, meaning, counts[fate], round(100 * counts[fate] / total, 1))
        for fate, (title, meaning) in FATES.items()
        if drops or fate != "lost_in_reranking"
    ]


FAR = 51
"""Ranks from here on are one row: so far down no answer is looked for."""


def band_rows(bands: Iterable[RankBand], *, never: int) -> list[BandRow]:
    """At which rank expected messages were that are not in the answer; the last had none.

    The longest bar is the largest count.
    """
    near = {(band["first"], band["last"]): band["count"] for band in bands}
    if not near:
        return []
    counts = {
        f"{first}–{last}": count
        for (first, last), count in near.items()
        if last is not None and last < FAR
    }
    counts[f"{FAR}+"] = sum(count for (first, _last), count in near.items() if first >= FAR)
    counts["never"] = never
    most = max(counts.values()) or 1
    return [
        BandRow(_("never a candidate") if key == "never" else key, n, round(100 * n / most, 1))
        for key, n in counts.items()
    ]


def counts_plot(counts: Sequence[int], metric: Metric, *, mean: float | None) -> dict[str, Any]:
    """How many cases are in each part of a metric's scale, as upright bars."""
    most, parts, span = max(counts) or 1, len(counts), metric.upper - metric.lower
    ends = [metric.lower + span * at / parts for at in range(parts + 1)]
    rows: list[dict[str, Any]] = [
        {"from": low, "to": high, "from_text": exact(low), "to_text": exact(high), "n": n}
        for low, high, n in zip(ends[:-1], ends[1:], counts, strict=True)
    ]
    axes = _axes([0, 0.25, 0.5, 0.75, 1])
    for tick, share in zip(axes["x_ticks"], (0, 0.25, 0.5, 0.75, 1), strict=True):
        tick["label"] = exact(metric.lower + span * share)
    axes["y_ticks"] = [{"at": _y(0), "label": "0"}, {"at": _y(1), "label": exact(most)}]
    return {
        "metric": metric,
        "rows": rows,
        "bars": [
            {
                "x": _x(at / parts) + 1,
                "y": _y(row["n"] / most),
                "width": round(SIZE / parts - 2, 1),
                "height": round(SIZE * row["n"] / most, 1),
                "title": f"{row['from_text']} – {row['to_text']}: {row['n']}",
            }
            for at, row in enumerate(rows)
        ],
        "mean_x": None if mean is None else _x((mean - metric.lower) / span),
        **axes,
    }


def reliability_plot(aggregates: Mapping[str, Aggregate]) -> dict[str, Any] | None:
    """Share correct against stated confidence; a dot's area grows with its predictions."""
    detail = aggregates["ece"].detail if "ece" in aggregates else {}
    mass = detail.get("equal_mass", {})  # runs that were scored before have none
    used, even = _used(detail.get("bins", [])), _used(mass.get("bins", []))
    if not used:
        return None
    return {
        "dots": _dots(used),
        "path": _curve_of(used),
        "mass_path": _curve_of(even),
        "gaps": [
            {"x": _x(row["confidence"]), "y1": _y(row["confidence"]), "y2": _y(row["accuracy"])}
            for row in used
        ],
        "tables": [BinTable(_("Bins of equal width"), used, 1)]
        + ([BinTable(_("Bins of equal mass"), even, 3)] if even else []),
        "figures": _binned_figures(aggregates, mass) if even else [],
        "diagonal": {"x1": _x(0), "y1": _y(0), "x2": _x(1), "y2": _y(1)},
        **_axes([0, 0.25, 0.5, 0.75, 1]),
    }


def _used(bins: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row | {"gap": abs(row["confidence"] - row["accuracy"])} for row in bins if row["count"]]


def _dots(used: list[dict[str, Any]]) -> list[Dot]:
    most = max(row["count"] for row in used)
    title = _("Confidence {value}, correct {value2}, {count} predictions")
    return [
        Dot(
            _x(row["confidence"]),
            _y(row["accuracy"]),
            round(3 + 9 * (row["count"] / most) ** 0.5, 1),
            title.format(
                value=decimals(row["confidence"]),
                value2=decimals(row["accuracy"]),
                count=row["count"],
            ),
        )
        for row in used
    ]


def _curve_of(used: list[dict[str, Any]]) -> str:
    return _points([(row["confidence"], row["accuracy"]) for row in used])


def _binned_figures(
    aggregates: Mapping[str, Aggregate], mass: Mapping[str, Any]
) -> list[BinnedFigure]:
    return [
        BinnedFigure(
            metric=METRICS[name],
            width=figure(aggregates[name].mean),
            width_chance=figure(aggregates[name].chance),
            mass=figure(mass[name]["value"]),
            mass_chance=figure(mass[name].get("chance")),
        )
        for name in ("ece", "mce")
        if name in aggregates
    ]


def threshold_plot(rows: list[dict[str, Any]], chosen: float) -> dict[str, Any] | None:
    """Micro recall, precision and F1 over the similarity threshold."""
    if not rows:
        return None
    names = {"recall": _("Recall"), "precision": _("Precision"), "f1": "F1"}
    lines = [
        Line(name, title, _points([(_stretched(row["threshold"]), row[name]) for row in rows]))
        for name, title in names.items()
    ]
    return {
        "lines": lines,
        "chosen": {"x": _x(_stretched(chosen)), "value": chosen},
        "rows": rows,
        **_axes([0, 0.2, 0.4, 0.6, 0.8, 1], stretched=True),
    }


def _axes(shares: list[float], *, stretched: bool = False) -> dict[str, Any]:
    return {
        "view_box": f"0 0 {SIZE + 2 * MARGIN} {SIZE + 2 * MARGIN}",
        "frame": {"x": MARGIN, "y": MARGIN, "size": SIZE},
        "x_ticks": [
            {"at": _x(share), "label": exact(0.5 + share / 2 if stretched else share)}
            for share in shares
        ],
        "y_ticks": [{"at": _y(share), "label": exact(share)} for share in shares],
        "right": MARGIN + SIZE,
        "bottom": MARGIN + SIZE,
        "middle": MARGIN + SIZE / 2,
        "left_label": MARGIN - 6,
        "bottom_label": MARGIN + SIZE + 14,
        "bottom_name": MARGIN + SIZE + 30,
        "top_name": MARGIN - 12,
    }


def _stretched(threshold: float) -> float:
    """The curve's thresholds, 0.5 to 1, over the whole width."""
    return max(0.0, min(1.0, (threshold - 0.5) / 0.5))


def _x(share: float) -> float:
    return round(MARGIN + SIZE * share, 1)


def _y(share: float) -> float:
    return round(MARGIN + SIZE * (1 - share), 1)


def _points(pairs: list[tuple[float, float]]) -> str:
    return " ".join(f"{_x(x)},{_y(y)}" for x, y in pairs)


COLORS = {"better": "ok", "worse": "bad", "undecided": "warn", "not_measurable": "warn"}


class Told(NamedTuple):
    """A verdict by one metric."""

    badge: str
    color: str
    sentences: list[str]


def told(compared: Compared) -> list[Told]:
    """What the primary metric says, and every other main one that became worse."""
    return [
        Told(
            words(badge(row)),
            COLORS.get(row.verdict, ""),
            [words(fact) for fact in conclusion(row, compared)],
        )
        for row in compared.telling
    ]
