"""The plots of a run as files: a picture that can be read anywhere, and its figures as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, F, FloatField, Value
from django.db.models.functions import Cast, Floor, Least
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from evaluation.layers import gold_layer
from evaluation.metrics.registry import Metric
from evaluation.models import Aggregate, Run, Score
from evaluation.services.run import results
from evaluation.services.run.primary_metrics import primary_of
from evaluation.views import present
from evaluation.views.answers import over_runs
from evaluation.views.opening import opened_run
from labeling.domain.csv_cells import csv_line
from labeling.translation import lazy, translated

FORMS = ("svg", "csv")
BINS = 10
WIDTH, HEIGHT = 312, 358
"""Of a square plot with its title and caption."""
LINE = 18  # of the legend
TINY = 1e-9  # 0.7 times ten is a little more or less than seven


class PlotFile(NamedTuple):
    """One plot: what draws it, its legend as pairs of class and text, and its table."""

    plot: Any
    legend: Sequence[tuple[str, str]]
    head: Sequence[str]
    rows: Iterable[Sequence[Any]]


@require_GET
def run_plot(request: HttpRequest, pk: int, name: str, form: str) -> HttpResponse:
    file = plot_file(opened_run(request, pk), name, form)
    if file is None:
        raise Http404
    return file


def plot_file(run: Run, name: str, form: str) -> HttpResponse | None:
    """None: the run has no such plot."""
    if name not in PLOTS or form not in FORMS:
        return None
    aggregates = {row.metric: row for row in results.aggregates_of(run)}
    drawn = PLOTS[name](run, aggregates)
    if drawn is None:
        return None
    response = _table(drawn) if form == "csv" else _picture(run, name, drawn)
    response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-{name}.{form}"'
    return response


def _picture(run: Run, name: str, drawn: PlotFile) -> HttpResponse:
    context = {
        "run": run,
        "plot": drawn.plot,
        "template": f"evaluation/plots/{name}.html",
        "title": translated(PLOT_TITLES[name]),
        "caption": _("Run {pk}: {pipeline} on {gold}").format(
            pk=run.pk, pipeline=run.pipeline, gold=run.release
        ),
        "width": WIDTH,
        "height": HEIGHT + LINE * len(drawn.legend) + 4,
        "legend": [
            {"css": css, "title": title, "y": HEIGHT + LINE * at}
            for at, (css, title) in enumerate(drawn.legend)
        ],
    }
    drawing = render_to_string("evaluation/plots/file.svg", context)
    return HttpResponse(drawing, content_type="image/svg+xml")


def _table(drawn: PlotFile) -> HttpResponse:
    """Files keep English, and numbers with a point."""
    text = "".join(map(csv_line, [drawn.head, *drawn.rows]))
    return HttpResponse(text, content_type="text/csv; charset=utf-8")


# --- the distribution of case scores --------------------------------------------------------------


def scores_plot(run: Run, aggregates: dict[str, Aggregate]) -> dict[str, Any]:
    """How many cases have which value of the primary metric, counted by the database."""
    metric = primary_of(run.release.project, run.release.layer).metric
    row = aggregates.get(metric.id)
    plot = present.counts_plot(_counted(run, metric), metric, mean=row.mean if row else None)
    return plot | {"undefined": row.n_undefined if row else 0}


def _counted(run: Run, metric: Metric) -> list[int]:
    span = metric.upper - metric.lower
    place = (F("value") - Value(metric.lower)) * Value(BINS / span) + Value(TINY)
    scores = Score.objects.filter(
        case__run=run, metric=metric.id, metric_version=metric.version, value__isnull=False
    )
    part = Least(Floor(Cast(place, FloatField())), Value(float(BINS - 1)))
    counted = scores.order_by().annotate(part=part).values_list("part").annotate(n=Count("pk"))
    by_part = {int(at): n for at, n in counted}
    return [by_part.get(at, 0) for at in range(BINS)]


# --- the files ------------------------------------------------------------------------------------


def _scores(run: Run, aggregates: dict[str, Aggregate]) -> PlotFile | None:
    plot = scores_plot(run, aggregates)
    rows = [(row["from"], row["to"], row["n"]) for row in plot["rows"]]
    return PlotFile(plot, [], ("from", "to", "cases"), rows)


def _reliability(run: Run, aggregates: dict[str, Aggregate]) -> PlotFile | None:
    plot = present.reliability_plot(aggregates)
    if plot is None:
        return None
    names = ("lower", "upper", "count", "confidence", "accuracy")
    rows = [
        (kind, *(row[name] for name in names))
        for kind, table in zip(("width", "mass"), plot["tables"], strict=False)
        for row in table.rows
    ]
    titles = [table.title for table in plot["tables"]]
    legend = list(zip(("f1", "recall"), map(translated, titles), strict=False))
    return PlotFile(plot, legend, ("bins", *names), rows)


def _threshold(run: Run, aggregates: dict[str, Aggregate]) -> PlotFile | None:
    curve = (
        aggregates["requirement_f1"].detail.get("curve") if "requirement_f1" in aggregates else None
    )
    plot = present.threshold_plot(curve or [], run.spec.matching.threshold)
    if plot is None:
        return None
    names = ("threshold", "matches", "recall", "precision", "f1")
    legend = [(line.name, translated(line.title)) for line in plot["lines"]]
    return PlotFile(plot, legend, names, [[row[name] for name in names] for row in plot["rows"]])


def _ranks(run: Run, aggregates: dict[str, Aggregate]) -> PlotFile | None:
    primary = gold_layer(run.release.layer).primary
    detail = aggregates[primary].detail if primary in aggregates else {}
    if "funnel" not in detail:
        return None
    never = detail["funnel"].get("never_retrieved", 0)
    bands = present.band_rows(detail.get("lost_ranks", []), never=never)
    plot = present.bars_plot(bands) if bands else None
    return PlotFile(plot, [], ("ranks", "messages"), [(row.key, row.count) for row in bands])


def _runs(run: Run, aggregates: dict[str, Aggregate]) -> PlotFile | None:
    plot = over_runs(run)
    if plot is None:
        return None
    metrics: list[Metric] = plot["metrics"]
    legend = [
        (f"over-{at}", translated(metric.title)) for at, metric in enumerate(metrics, start=1)
    ]
    rows = [
        [
            row["run"],
            row["pipeline"],
            row["name"],
            *(row["means"].get(metric.id) for metric in metrics),
            *(row["interval"] or (None, None)),
        ]
        for row in plot["rows"]
    ]
    head = ("run", "pipeline", "name", *(metric.id for metric in metrics), "ci_low", "ci_high")
    return PlotFile(plot, legend, head, rows)


PLOTS: dict[str, Callable[[Run, dict[str, Aggregate]], PlotFile | None]] = {
    "scores": _scores,
    "reliability": _reliability,
    "threshold": _threshold,
    "ranks": _ranks,
    "runs": _runs,
}
PLOT_TITLES = {
    "scores": lazy("Spread over the cases"),
    "reliability": lazy("Reliability"),
    "threshold": lazy("Similarity threshold"),
    "ranks": lazy("Ranks of lost messages"),
    "runs": lazy("Over runs of these pipelines on the same cases"),
}
