"""The tabs under a run's answer: each is an address, and is read only when it is open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Count
from django.http import HttpRequest

from evaluation.layers import GoldLayer, gold_layer
from evaluation.layers.breakdown import tables_in
from evaluation.metrics.registry import METRICS, Metric
from evaluation.models import Aggregate, RatingPanel, Run
from evaluation.services.run import baselines, gates, results
from evaluation.views import present
from evaluation.views.answers import answers_context
from evaluation.views.plots import scores_plot
from evaluation.views.repetitions import repetitions_of
from evaluation.views.run_cases import ADDRESSED, table_of
from labeling.domain.facts import Fact
from labeling.services import blindness
from labeling.translation import lazy as _

Aggregates = dict[str, Aggregate]
BASELINES = 20
FIRST = 3  # figures of a group that are shown before the rest is unfolded


class Tab(NamedTuple):
    name: str
    title: str
    n: int | None = None


class Figures(NamedTuple):
    """One group of metrics: the first are shown, the rest is folded."""

    title: str
    first: list[present.SummaryRow]
    rest: list[present.SummaryRow]


def tabs_of(run: Run, aggregates: Aggregates, *, n_cases: int) -> list[Tab]:
    """Those that have something to show."""
    tabs = [
        Tab("summary", _("Summary")) if aggregates else None,
        Tab("cases", _("Cases"), n_cases),
        Tab("slices", _("Slices")) if slices_of(aggregates) else None,
        Tab("curves", _("Curves")) if aggregates else None,
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
    name: str,
    request: HttpRequest,
    run: Run,
    *,
    aggregates: Aggregates,
    primary: Metric,
    n_cases: int,
) -> dict[str, Any]:
    """What the open tab shows."""
    match name:
        case "summary":
            failures = reasons_of_failures(run, request.user) if run.n_failed else []  # type: ignore[attr-defined]
            return {**summary(run, aggregates), **_standing(run), "failures": failures}
        case "cases":
            return table_of(request, run, primary=primary, total=n_cases)
        case "slices":
            return {"groups": slices_of(aggregates)}
        case "curves":
            return {
                **curves(run, aggregates),
                "scores_plot": scores_plot(run, aggregates),
            }
        case "repetitions":
            return repetitions_of(request, run, primary)
        case "funnel":
            return funnel_of(run, aggregates)
        case "answers":
            return answers_context(run, aggregates)
        case _:
            return {}


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
    shown = [present.summary_row(row) for row in aggregates.values()]
    rows = [line for line in shown if not line.metric.diagnostic]
    groups = present.grouped(layer, rows)
    relevance = _detail(aggregates, "inference_relevance")
    micro = (row.detail["micro"] for row in aggregates.values() if "micro" in row.detail)
    return {
        "summary": rows,
        "figures": [
            Figures(group.title, group.rows[:FIRST], group.rows[FIRST:]) for group in groups
        ],
        "groups_of_metrics": groups,
        "undefined": [line for line in rows if line.row.n_undefined and line.row.reason],
        "n_undefined": max((line.row.n_undefined for line in rows), default=0),
        "floor_names": list(dict.fromkeys(floor.name for line in rows for floor in line.floors)),
        "by_chance": any(line.row.chance is not None for line in rows),
        "by_people": any(line.people for line in rows),
        "by_empty": any(line.n_empty for line in rows),
        "without_people": [line for line in rows if line.no_people],
        "diagnostics": [
            line for line in shown if line.metric.diagnostic and line.row.reason not in layer.off
        ],
        "micro": next(micro, None),
        "basis": relevance.get("basis"),
        "nothing": relevance.get("nothing"),
        "remarks": results.remarks(run, list(aggregates.values())),
    }


def _detail(aggregates: Aggregates, metric: str) -> dict[str, Any]:
    return aggregates[metric].detail if metric in aggregates else {}


# --- slices, curves, funnel -----------------------------------------------------------------------


def slices_of(aggregates: Aggregates) -> list[present.ShownSlice]:
    """The main figure by groups of cases or of labels."""
    tables = (table for row in aggregates.values() for table in tables_in(row.detail))
    return [present.slice_of(table) for table in tables]


def curves(run: Run, aggregates: Aggregates) -> dict[str, Any]:
    curve = _detail(aggregates, "requirement_f1").get("curve", [])
    return {
        "reliability": present.reliability_plot(aggregates),
        "curve": present.threshold_plot(curve, run.spec.matching.threshold),
    }


def funnel_of(run: Run, aggregates: Aggregates) -> dict[str, Any]:
    """Where evidence was lost, in the layers that cite messages."""
    detail = _headline_detail(run, aggregates)
    if "funnel" not in detail:
        return {}
    reranking = detail.get("reranking")
    known = "reranking" in detail  # runs that were scored before have none
    return {
        "funnel": present.funnel_rows(
            detail["funnel"], drops=not known or bool(reranking and reranking["dropped"])
        ),
        "reranking": reranking,
        "lost_ranks": present.band_rows(
            detail.get("lost_ranks", []), never=detail["funnel"].get("never_retrieved", 0)
        ),
        "untraced": detail.get("untraced", {}),  # runs that were scored before have none
        "unscorable": detail["unscorable"],
        "returned_mean": present.figure(detail["returned_mean"], 1),
    }


def _headline_detail(run: Run, aggregates: Aggregates) -> dict[str, Any]:
    layer: GoldLayer = gold_layer(run.release.layer)
    return _detail(aggregates, layer.headline[0])


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
    choice = baselines.choice_on(run.release_id, run.split)
    return {
        "limits": [(METRICS[name], limit) for name, limit in limits.items() if name in METRICS],
        "max_drop": max_drop,
        "last": last,
        "strict": last is not None and gates.is_strict(last),
        "outdated": None if last else newest,
        "checks": [present.gate_check(check) for check in gates.checks_of(last)] if last else [],
        "failed": len(gates.failed(last)) if last else 0,
        "baselines": _with_chosen(others, choice),
        "baseline": last.baseline_id if last else choice and choice.run_id,
    }


def _with_chosen(others: Any, choice: baselines.Choice | None) -> list[Run]:
    """The newest runs on the same cases, and the chosen baseline, however old it is."""
    newest: list[Run] = list(others[:BASELINES])
    if choice is None or choice.run_id in {run.pk for run in newest}:
        return newest
    return [*others.filter(pk=choice.run_id), *newest]


def aggregates_of(run: Run) -> Aggregates:
    return {row.metric: row for row in results.aggregates_of(run)}
