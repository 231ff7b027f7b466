"""The history of runs: filtered and sorted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from django.db.models import Prefetch
from django.db.models.fields.json import KT
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from evaluation.access import require_reader
from evaluation.forms import SPLITS
from evaluation.layers import GOLD_LAYERS
from evaluation.metrics.registry import METRICS, Metric
from evaluation.models import Aggregate, Run
from evaluation.models.runs import RunQuerySet
from evaluation.models.spec import model_label
from evaluation.services import looks
from evaluation.services.judging import certificates
from evaluation.services.launch import predictions
from evaluation.services.run import baselines, experiments, lists
from evaluation.services.run.lists import SORTS, Asked, Primaries, PrimaryOf
from evaluation.views.plots import timeline
from labeling.domain.numbers import whole_number
from labeling.models import GoldRelease
from labeling.words import words
from pipelines.registry import PIPELINES

OF_ANSWERS = ("faithfulness", "relevance", "completeness", "correctness")
SHOWN = {metric for layer in GOLD_LAYERS.values() for metric in layer.headline} | {*OF_ANSWERS}

COLUMNS = {
    "run": _("Run"),
    "pipeline": _("Pipeline and name"),
    "gold": _("Gold and split"),
    "cases": _("Status and cases"),
    "primary": _("Primary metric"),
    "figures": _("Other main metrics"),
    "changed": _("Changed"),
    "launched": _("Launched"),
}


class Head(NamedTuple):
    """The head of a column, and what a click on it sorts by; empty: it does not."""

    name: str
    title: Any
    sort: str = ""
    order: str = ""
    """``ascending`` or ``descending``, of the column by which the page is sorted."""


class ShownFigure(NamedTuple):
    metric: Metric
    row: Aggregate | None
    mark: str
    """Of its judge, where the figures of the run have different ones."""


class RunRow(NamedTuple):
    """A run in a list."""

    run: Run
    model: str
    primary: ShownFigure | None
    figures: list[ShownFigure]
    mark: str
    """Of the judge, if all judged figures share it."""
    sealed: bool
    """Whether its figures wait for the reader to say why they look at test results."""
    changed: list[str] | None
    """None: nothing finished before it on this gold."""
    is_baseline: bool
    """Whether somebody chose it as that of its gold and split."""


@require_GET
def run_list(request: HttpRequest) -> HttpResponse:
    require_reader(request.user)
    asked = _asked(request)
    visible, primary = Run.objects.with_unmeasured(request.user), lists.primaries(request.user)
    page = lists.page(visible, asked, reader=request.user, primary=primary)
    releases = GoldRelease.objects.visible_to(request.user).only("name", "version")
    names = {release.name for release in releases}
    gold = asked.release.rpartition("@")[0] or (names.pop() if len(names) == 1 else "")
    rows = _rows(page.numbers, request.user, primary)
    context = {
        "runs": rows,
        "comparable": any(row.run.is_measured and row.run.scored_at for row in rows),
        "heads": list(_heads(asked)),
        "next": page.following,
        "asked": asked,
        "gold": gold,
        "timeline": timeline(_measured(visible, gold), request.user) if gold else None,
        "pipelines": [(name, name) for name in (*sorted(PIPELINES), predictions.NAME)],
        "releases": [("none", _("without gold")), *((str(each), str(each)) for each in releases)],
        "splits": SPLITS,
        "statuses": Run.Status.choices,
    }
    return render(request, "evaluation/runs.html", context)


def _measured(visible: RunQuerySet, gold: str) -> RunQuerySet:
    return visible.filter(scored_at__isnull=False, release__name=gold)


def _asked(request: HttpRequest) -> Asked:
    names = ("pipeline", "release", "split", "status", "sort")
    texts = {name: request.GET.get(name, "") for name in names}
    return Asked(
        **texts,
        search=request.GET.get("q", "").strip(),
        mine="mine" in request.GET,
        after=whole_number(request.GET.get("before", "")),
    )


def _heads(asked: Asked) -> Iterator[Head]:
    sorted_by, descending = asked.sort.removeprefix("-"), asked.sort.startswith("-")
    if sorted_by not in SORTS:
        sorted_by, descending = "run", True
    for name, title in COLUMNS.items():
        if name == sorted_by:
            order = "descending" if descending else "ascending"
            yield Head(name, title, name if descending else f"-{name}", order)
        elif name in SORTS:
            yield Head(name, title, f"-{name}")  # the newest or the best first
        else:
            yield Head(name, title)


def _rows(numbers: Sequence[int], reader: Any, primary: Primaries) -> list[RunRow]:
    by_number = {run.pk: run for run in _light(Run.objects.filter(pk__in=numbers).with_progress())}
    runs = [by_number[number] for number in numbers if number in by_number]
    measured = [run for run in runs if run.is_measured]
    marks, sealed = certificates.marks(list(by_number)), looks.sealed_among(reader, runs)
    changed = lists.changed(measured)
    chosen = set(baselines.of_releases({run.gold_id for run in measured}).values())
    rows = []
    for run in runs:
        is_sealed, is_measured = run.pk in sealed, run.is_measured
        stored = {} if is_sealed else {row.metric: row for row in run.aggregates.all()}
        shown = [*GOLD_LAYERS[run.release.layer].headline] if is_measured and not is_sealed else []
        shown += [name for name in OF_ANSWERS if name in stored]
        own = {name: marks.get(certificates.Figure(run.pk, name), "") for name in shown}
        alike = {mark for mark in own.values() if mark}
        figures = {
            name: ShownFigure(METRICS[name], stored.get(name), mark if len(alike) > 1 else "")
            for name, mark in own.items()
        }
        main = (
            primary[PrimaryOf(run.release.project_id, run.release.layer)] if is_measured else None
        )
        changes = changed.get(run.pk)
        rows.append(
            RunRow(
                run=run,
                model=model_label(run.asked, run.asked_as),
                primary=figures.pop(main.id, None) if main and main.id in stored else None,
                figures=list(figures.values()) if stored else [],
                mark=next(iter(alike)) if len(alike) == 1 else "",
                sealed=is_sealed,
                changed=None if changes is None else [words(fact) for fact in changes],
                is_baseline=run.pk in chosen,
            )
        )
    return rows


def _light(runs: Any) -> Any:
    """With what a row shows and nothing heavy."""
    shown = Aggregate.objects.filter(metric__in=SHOWN).defer("detail", "yardsticks")
    documents = [f"release__{name}" for name in GoldRelease.DOCUMENTS]
    return (
        runs.select_related("release", "requested_by", "note")
        .with_synthetic()
        .annotate(asked=KT("spec__model__id"), asked_as=KT("spec__model__name"))
        .defer("spec", *documents)
        .prefetch_related(Prefetch("aggregates", shown))
    )


@require_GET
def experiment_file(request: HttpRequest) -> HttpResponseBase:
    """The log of experiments; ``gold`` names one gold."""
    require_reader(request.user)
    runs = Run.objects.visible_to(request.user).filter(scored_at__isnull=False)
    if name := request.GET.get("gold", ""):
        runs = runs.filter(release__name=name)
    return log_file(runs, request.user)


def log_file(runs: RunQuerySet, reader: Any) -> HttpResponseBase:
    lines = experiments.csv_lines(runs, sealed=partial(looks.sealed_among, reader))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="experiments.csv"'
    return response
