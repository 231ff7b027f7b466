"""The tabs under a run's answer: each is an address, and is read only when it is open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Count
from django.http import HttpRequest

from evaluation.layers import gold_layer
from evaluation.layers.breakdown import Breakdown, tables_in
from evaluation.metrics.registry import METRICS
from evaluation.models import Aggregate, RatingPanel, Run
from evaluation.services.run import baselines, gates, repetitions, results
from evaluation.services.run.primary_metrics import primary_of
from evaluation.templatetags import present
from evaluation.views import plots
from evaluation.views.answers import answers_context
from evaluation.views.compared_case import FATES
from evaluation.views.run_cases import ADDRESSED, table_of
from evaluation.views.unmeasured import adopting_project
from labeling.domain.facts import Fact
from labeling.translation import lazy as _
from labeling.work import blindness

Aggregates = dict[str, Aggregate]
BASELINES = 20
DIAGNOSED = ("mean", "interval", "n", "n_undefined", "n_failed")
FIGURES = (*DIAGNOSED, "chance", "over_chance", "people", "skill", "floors")
FIRST = 3  # figures of a group that are shown before the rest is unfolded


class Tab(NamedTuple):
    name: str
    title: str
    n: int | None = None


def tabs_of(run: Run, aggregates: Aggregates, *, n_cases: int) -> list[Tab]:
    """Those that have something to show."""
    tabs = [
        Tab("summary", _("Summary")) if aggregates else None,
        Tab("cases", _("Cases"), n_cases),
        Tab("slices", _("Slices")) if slices_of(aggregates) else None,
        Tab("curves", _("Curves")) if any(curves_of(aggregates).values()) else None,
        Tab("repetitions", _("Repetitions")) if aggregates and run.repetitions > 1 else None,
        Tab("funnel", _("Funnel")) if "funnel" in _headline_detail(run, aggregates) else None,
        Tab("answers", _("Answers")) if run.spec.has_answers else None,
        Tab("provenance", _("How it was run")),
    ]
    return [tab for tab in tabs if tab is not None]


def open_tab(request: HttpRequest, tabs: Sequence[Tab]) -> str:
    """The one that the address names, or that it says something of; else the first."""
    asked = request.GET.get("tab", "")
    if asked in {tab.name for tab in tabs}:
        return asked
    return "cases" if any(name in request.GET for name in ADDRESSED) else tabs[0].name


def content_of(
    name: str, request: HttpRequest, run: Run, *, aggregates: Aggregates, n_cases: int
) -> dict[str, Any]:
    """What the open tab shows."""
    if name == "cases":
        adoptable = {} if run.is_measured else {"adopter": adopting_project(request.user, run)}
        return {**table_of(request, run, total=n_cases), **adoptable}
    if name == "provenance":
        return {}
    primary = primary_of(run.release.project, run.spec.layer).metric
    match name:
        case "summary":
            failures = reasons_of_failures(run, request.user) if run.n_failed else []  # type: ignore[attr-defined]
            return {**summary(run, aggregates), **_standing(run), "failures": failures}
        case "slices":
            return {"groups": slices_of(aggregates)}
        case "curves":
            return curves_of(aggregates)
        case "repetitions":
            return {"primary": primary, "repeated": repetitions.of_run(run, primary)}
        case "funnel":
            return funnel_of(run, aggregates)
        case _:
            return answers_context(run, aggregates)


# --- summary --------------------------------------------------------------------------------------


def reasons_of_failures(run: Run, user: Any) -> list[tuple[Fact, int]]:
    """The commonest first; of no case whose conversation the reader labels blind."""
    failed = run.cases.filter(state="failed")
    seen = failed.exclude(item__conversation__in=blindness.again(user))
    rows = seen.values_list("error").annotate(n=Count("pk")).order_by("-n", "error")
    return list(rows[:FIRST])


def summary(run: Run, aggregates: Aggregates) -> dict[str, Any]:
    """All figures in groups, with the columns that they need, and the diagnostics apart."""
    layer = gold_layer(run.release.layer)
    rows, diagnostics = results.apart(layer, aggregates.values())
    groups = present.grouped(layer, rows)
    relevance = _detail(aggregates, "inference_relevance")
    micro = (row.detail["micro"] for row in aggregates.values() if "micro" in row.detail)
    return {
        "summary": rows,
        "undefined": [row for row in rows if row.n_undefined and row.reason],
        "table": present.figure_table(groups, FIGURES),
        "without_people": [row for row in rows if row.yardsticks.get("no_people")],
        "diagnostics": diagnostics
        and present.figure_table([present.Group("", diagnostics)], DIAGNOSED),
        "micro": next(micro, None),
        "basis": relevance.get("basis"),
        "nothing": relevance.get("nothing"),
        "remarks": results.remarks(run, list(aggregates.values())),
    }


def _detail(aggregates: Aggregates, metric: str) -> dict[str, Any]:
    return aggregates[metric].detail if metric in aggregates else {}


# --- slices, curves, funnel -----------------------------------------------------------------------


def slices_of(aggregates: Aggregates) -> list[Breakdown]:
    """The main figure by groups of cases or of labels."""
    return [table for row in aggregates.values() for table in tables_in(row.detail)]


def curves_of(aggregates: Aggregates) -> dict[str, Any]:
    return {
        "reliability": plots.reliability_plot(aggregates),
        "curve": _detail(aggregates, "requirement_f1").get("curve", []),
    }


class Bar(NamedTuple):
    """A row of a table with its count, and the length of its bar in percent."""

    title: str
    n: int
    percent: float
    name: str
    meaning: str


def funnel_rows(counts: dict[str, int], *, drops: bool) -> list[Bar]:
    """Each fate of the expected messages with its share; empty if no trace was kept.

    A re-ranking that drops nothing cannot lose anything, so it has no row.
    """
    total = sum(counts.values())
    if not total:
        return []
    return [
        Bar(title, counts[fate], round(100 * counts[fate] / total, 1), fate, meaning)
        for fate, (title, meaning) in FATES.items()
        if drops or fate != "lost_in_reranking"
    ]


def funnel_of(run: Run, aggregates: Aggregates) -> dict[str, Any]:
    """Where evidence was lost, in the layers that cite messages."""
    detail = _headline_detail(run, aggregates)
    if "funnel" not in detail:
        return {}
    reranking = detail.get("reranking")
    known = "reranking" in detail  # runs that were scored before have none
    return {
        "funnel": funnel_rows(
            detail["funnel"], drops=not known or bool(reranking and reranking["dropped"])
        ),
        "untraced": detail.get("untraced", {}),  # runs that were scored before have none
        "unscorable": detail["unscorable"],
        "returned_mean": present.figure(detail["returned_mean"], 1),
    }


def _headline_detail(run: Run, aggregates: Aggregates) -> dict[str, Any]:
    return _detail(aggregates, gold_layer(run.spec.layer).headline[0])


# --- gates and judges -----------------------------------------------------------------------------


def _standing(run: Run) -> dict[str, Any]:
    """Nothing while the run has no figures."""
    if run.scored_at is None:
        return {}
    layer = gold_layer(run.release.layer)
    return {
        "gate": _gate(run),
        "rated": layer.rated,
        "panel": RatingPanel.objects.filter(run=run).first() if layer.rated else None,
    }


def _gate(run: Run) -> dict[str, Any]:
    limits, max_drop = gates.settings_of(run)
    newest = gates.newest(run)
    last = newest if newest and gates.is_current(newest, run) else None
    others = Run.objects.beside(run).defer("spec", "config", "release__header")
    choice, newest_runs = baselines.choice_on(run.gold_id, run.split), list(others[:BASELINES])
    is_older = choice is not None and choice.run_id not in {each.pk for each in newest_runs}
    older = others.filter(pk=choice.run_id) if choice and is_older else ()
    return {
        "limits": [(METRICS[name], limit) for name, limit in limits.items() if name in METRICS],
        "max_drop": max_drop,
        "last": last,
        "strict": last is not None and gates.is_strict(last),
        "outdated": None if last else newest,
        "checks": gates.checks_of(last) if last else [],
        "failed": len(gates.failed(last)) if last else 0,
        # the newest runs on the same cases, and the chosen baseline, however old it is
        "baselines": [*older, *newest_runs],
        "baseline": last.baseline_id if last else choice and choice.run_id,
    }


def aggregates_of(run: Run) -> Aggregates:
    return {row.metric: row for row in results.aggregates_of(run)}
