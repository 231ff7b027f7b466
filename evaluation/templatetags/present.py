"""How figures are written: on pages, in reports, in the admin and on the command line.

Templates, tables and commands hand over what holds the figures (a row of a run, a comparison, a
check, a stored figure), and these say how it reads. Numbers are those of the language in use;
undefined is a dash and never 0.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django import template
from django.utils.dateparse import parse_datetime
from django.utils.formats import number_format
from django.utils.translation import ngettext

from evaluation.layers import GoldLayer
from evaluation.metrics.gate import JUDGED, Check
from evaluation.metrics.registry import METRICS, Metric, metrics_for
from evaluation.models import Aggregate, Score
from evaluation.services.run.changes import value_text
from evaluation.services.run.comparisons import Compared, MetricComparison
from evaluation.services.run.conclusions import badge, conclusion
from labeling.domain.facts import Fact
from labeling.domain.numbers import decimals_apart
from labeling.templatetags.figures import UNDEFINED, exact
from labeling.translation import lazy as _
from labeling.translation import translated
from labeling.words import words, words_of

register = template.Library()

DECIMALS = 3

BADGES = {
    "running": "info",
    "answering": "info",
    "judging": "info",
    "scoring": "info",
    "finished": "ok",
    "paused": "warn",
    "failed": "bad",
    "done": "ok",
}
"""The colors of states."""

COLORS = {
    "better": "ok",
    "worse": "bad",
    "undecided": "warn",
    "not_measurable": "warn",
    "regression": "bad",
    "improvement": "ok",
}
"""Of verdicts, and of what became of a case."""

OUTCOMES = {
    "regression": _("Regressions"),
    "improvement": _("Improvements"),
    "tie": _("Ties"),
    "undefined": _("Undefined"),
}

CHECKS = {
    "threshold": _("threshold"),
    "coverage": _("cases with a value"),
    "drift": _("change since the baseline"),
    "gain": _("gain since the baseline"),
    "drop": _("drop since the baseline"),
    "same": _("no change since the baseline"),
}

register.filter("exact", exact)
register.filter("value_text", value_text)


# --- numbers --------------------------------------------------------------------------------------


@register.filter
def figure(value: float | str | None, decimals: int = DECIMALS) -> str:
    """``0.271``. A template hands over "" for what is not there."""
    if value is None or value == "":
        return UNDEFINED
    return number_format(f"{value:z.{decimals}f}", decimals)


@register.filter
def signed(value: float | str | None, decimals: int = DECIMALS) -> str:
    """A difference, with its sign also where it is a gain."""
    if value is None or value == "":
        return UNDEFINED
    return number_format(f"{value:+z.{decimals}f}", decimals)


@register.filter
def against(value: float | None, limit: float) -> str:
    """With the decimals that show on which side of the limit it is."""
    return figure(value, decimals_apart(value, limit, DECIMALS))


@register.filter
def p_value(value: float | None) -> str:
    return figure(value, 4)


@register.filter
def share(value: float) -> str:
    """In percent, without the sign for it."""
    return number_format(f"{100 * value:z.0f}", 0)


@register.filter
def scaled(value: float | None, metric: Metric) -> str:
    """The figure with the end of its scale, where that is not 1."""
    text = figure(value)
    return text if value is None or metric.upper == 1 else f"{text} / {exact(metric.upper)}"


@register.filter
def judged(score: float | None) -> str:
    """On the scale of judges: ``8.000 / 10``."""
    return scaled(score, metrics_for("answers")[0])


@register.filter
def moment(text: str | None) -> Any:
    """A stored time, for the filter ``date``."""
    return parse_datetime(text) if text else None


# --- what has an interval -------------------------------------------------------------------------


def _ends(of: Any) -> tuple[float, float] | None:
    get = of.get if isinstance(of, Mapping) else lambda name: getattr(of, name, None)
    low, high = get("ci_low"), get("ci_high")
    return None if low is None or high is None else (low, high)


@register.filter
def interval(of: Any) -> str:
    """``0.120 – 0.450``, of whatever holds ``ci_low`` and ``ci_high``."""
    return " – ".join(map(figure, ends)) if (ends := _ends(of)) else UNDEFINED


@register.filter
def signed_interval(of: Any) -> str:
    """Of a difference."""
    return " – ".join(map(signed, ends)) if (ends := _ends(of)) else UNDEFINED


@register.filter
def share_interval(of: Any) -> str:
    return " – ".join(map(share, ends)) if (ends := _ends(of)) else UNDEFINED


@register.filter
def with_interval(of: Any) -> str:
    """``0.271 [0.120 – 0.450]``; the figure alone where a single conversation is behind it."""
    text = figure(of["mean"] if isinstance(of, Mapping) else of.mean)
    return f"{text} [{interval(of)}]" if _ends(of) else text


# --- metrics and verdicts -------------------------------------------------------------------------


@register.filter
def metric(name: str) -> Metric | None:
    return METRICS.get(name)


@register.filter
def metric_title(name: str) -> str:
    return translated(METRICS[name].title) if name in METRICS else name


@register.filter
def arrow(metric: Metric) -> str:
    return "↑" if metric.direction == "higher" else "↓"


@register.filter
def bound(metric: Metric) -> str:
    """On which side of a threshold its figure has to be."""
    return "≥" if metric.direction == "higher" else "≤"


@register.filter
def color(state: str) -> str:
    """The class of a badge: of a verdict, an outcome, or the state of a run or case."""
    return COLORS.get(state) or BADGES.get(state, "")


@register.filter
def stated(state: str) -> str:
    """The state of a run as people read it; what is stored keeps its spelling."""
    return _("canceled") if state == "cancelled" else translated(state)


@register.filter
def verdict(code: str | None) -> str:
    return words(Fact(f"comparison.{code}")) if code else ""


@register.filter
def outcome(code: str) -> str:
    return str(OUTCOMES[code])


@register.filter
def averaged(row: MetricComparison) -> str:
    """Over what the figure of a comparison is a mean."""
    if row.metric.scope == "micro":
        return str(_("micro average"))
    n = row.comparison.n
    text = ngettext("mean of {n} case", "mean of {n} cases", n)
    return text.format(n=number_format(n, force_grouping=True))


class Told(NamedTuple):
    """A verdict by one metric."""

    badge: str
    color: str
    sentences: list[str]


@register.filter
def told(compared: Compared) -> list[Told]:
    """What the primary metric says, and every other main one that became worse."""
    return [
        Told(
            words(badge(row)),
            color(row.verdict),
            [words(fact) for fact in conclusion(row, compared)],
        )
        for row in compared.telling
    ]


# --- checks of a gate -----------------------------------------------------------------------------


@register.filter
def asked_for(check: Check) -> str:
    return str(CHECKS[check.change or check.kind])


def _size(check: Check) -> float | None:
    return abs(check.value) if check.change and check.value is not None else check.value


@register.filter
def measured(check: Check) -> str:
    return against(_size(check), check.limit)


@register.filter
def limited(check: Check) -> str:
    """The limit with the decimals of the value; of what became no worse there is none."""
    if check.change in ("gain", "same"):
        return UNDEFINED
    size = _size(check)
    limit = figure(check.limit) if size is None else against(check.limit, size)
    return f"{'≥' if check.at_least else '≤'} {limit}"


# --- rows of a run --------------------------------------------------------------------------------


class Cell(NamedTuple):
    """``title`` is why a value is missing; ``more`` is said in small letters."""

    text: str
    title: str = ""
    kind: str = ""
    more: str = ""


def _skill(row: Aggregate) -> Cell:
    reached = row.yardsticks.get("skill")
    if not reached:
        return Cell(UNDEFINED, _why(row, "no_skill"))
    return Cell(f"{share(reached['mean'])} % [{share_interval(reached)}]")


def _people(row: Aggregate) -> Cell:
    """Of people and of the run on the cases that three or more people labeled."""
    beside = row.yardsticks.get("people")
    if not beside:
        return Cell(UNDEFINED, _why(row, "no_people"))
    above, run = " !" if beside["above"] else "", with_interval(beside["run"])
    text = f"{figure(beside['people']['mean'])} (n {beside['people']['n']}){above}"
    more = f"[{interval(beside['people'])}], " + _("run {run}").format(run=run)
    return Cell(text, _("above people?") if above else "", more=more)


def _floors(row: Aggregate) -> Cell:
    """What pipelines reach that do not try."""
    floors = row.yardsticks.get("floors", {})
    said = [
        (f"{figure(floor['mean'])} ({name})", interval(floor)) for name, floor in floors.items()
    ]
    if not said:
        return Cell(UNDEFINED)
    others = (f"{text} [{ends}]" for text, ends in said[1:])
    return Cell(said[0][0], more="; ".join([f"[{said[0][1]}]", *others]))


def _why(row: Aggregate, name: str) -> str:
    why = row.yardsticks.get(name)
    return words_of(why) if why else ""


class Column(NamedTuple):
    title: str
    cell: Callable[[Aggregate], Cell]
    is_used: Callable[[Aggregate], Any] = lambda row: True
    """A column is left out that no row uses."""


COLUMNS = {
    "mean": Column(_("Figure"), lambda row: Cell(figure(row.mean), words_of(row.reason), "main")),
    "interval": Column(_("95 % interval"), lambda row: Cell(interval(row))),
    "median": Column(_("Median"), lambda row: Cell(figure(row.median))),
    "std": Column(_("Std"), lambda row: Cell(figure(row.std))),
    "n": Column("n", lambda row: Cell(str(row.n))),
    "n_undefined": Column(_("Undefined"), lambda row: Cell(str(row.n_undefined))),
    "n_failed": Column(
        _("Failed"), lambda row: Cell(str(row.n_failed), kind="failed" if row.n_failed else "")
    ),
    "chance": Column(
        _("Chance"), lambda row: Cell(figure(row.chance)), lambda row: row.chance is not None
    ),
    "over_chance": Column(
        _("Over chance"),
        lambda row: Cell(figure(row.over_chance)),
        lambda row: row.chance is not None,
    ),
    "floors": Column(_("Floor"), _floors, lambda row: row.yardsticks.get("floors")),
    "people": Column(_("People"), _people, lambda row: "people" in row.yardsticks),
    "skill": Column(_("Skill"), _skill, lambda row: "people" in row.yardsticks),
}
"""Of every table of figures: of the page of a run, of its report, and of the command line."""


class FigureTable(NamedTuple):
    heads: list[str]
    groups: list[tuple[str, list[tuple[Aggregate, list[Cell]]]]]


def figure_table(groups: Sequence[Group], names: Iterable[str]) -> FigureTable:
    rows = [row for group in groups for row in group.rows]
    columns = [COLUMNS[name] for name in names if any(map(COLUMNS[name].is_used, rows))]
    return FigureTable(
        [str(column.title) for column in columns],
        [
            (group.title, [(row, [column.cell(row) for column in columns]) for row in group.rows])
            for group in groups
        ],
    )


class Group(NamedTuple):
    """Metrics about the same thing; without a title where a layer names none."""

    title: str
    rows: list[Aggregate]


def grouped(layer: GoldLayer, rows: Sequence[Aggregate]) -> list[Group]:
    """By what the metrics are about, as the layer says; what it does not name comes last."""
    by_id = {row.metric: row for row in rows}
    groups = [
        Group(title, [by_id.pop(name) for name in names if name in by_id])
        for title, names in layer.groups
    ]
    judged = [by_id.pop(name) for name in list(by_id) if name in JUDGED]
    rest = Group(_("Other") if groups else "", list(by_id.values()))
    answers = Group(_("Judged answers, 0 to 10"), judged)
    return [group for group in (*groups, answers, rest) if group.rows]


def case_columns(layer: GoldLayer, *, answered: bool = False) -> list[Metric]:
    """The metrics of a table of cases."""
    answers = metrics_for("answers") if answered else []
    if layer.columns:
        added = [each for each in metrics_for(layer.name) if each.compute]
        return [*(METRICS[name] for name in layer.columns), *added, *answers]
    return [each for each in metrics_for(layer.name) if each.per_case] + answers


def score_cell(score: Score | None, *, failed: bool) -> Cell:
    if failed:
        return Cell(figure(score.value) if score else UNDEFINED, _("The pipeline failed"), "failed")
    if score is None:
        return Cell(UNDEFINED, _("Not scored yet"), "undefined")
    if score.value is None:
        return Cell(UNDEFINED, words(score.reason) if score.reason else "", "undefined")
    return Cell(figure(score.value))


def as_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def steps_of(output: Mapping[str, Any] | None) -> list[str]:
    """What the pipeline says it did, as JSON; nothing looked at the shape before."""
    steps = (output or {}).get("steps")
    return [as_json(step) for step in steps] if isinstance(steps, list) else []
