"""The history of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from evaluation.access import require_reader
from evaluation.layers import GOLD_LAYERS
from evaluation.metrics.registry import METRICS
from evaluation.models import Aggregate, Run
from evaluation.services import looks
from evaluation.services.judging import judge_marks
from evaluation.views import present
from labeling.domain.numbers import whole_number
from labeling.models import GoldRelease
from pipelines.registry import PIPELINES

PAGE_SIZE = 25
MINE = 5  # runs on the home page
OF_ANSWERS = ("faithfulness", "relevance", "completeness", "correctness")
SHOWN = {metric for layer in GOLD_LAYERS.values() for metric in layer.headline} | {*OF_ANSWERS}


class RunRow(NamedTuple):
    """A run in a list: its main figures, and the mark of the judge if all figures share it."""

    run: Run
    badge: str
    figures: list[tuple[str, str, str]]
    mark: str
    sealed: bool
    """Whether its figures wait for the reader to say why they look at test results."""


@require_GET
def run_list(request: HttpRequest) -> HttpResponse:
    require_reader(request.user)
    releases = GoldRelease.objects.visible_to(request.user).only("name", "version")
    filters = {name: _asked(request, name) for name in ("pipeline", "release", "status")}
    page, following = _page(Run.objects.visible_to(request.user), filters, request)
    context = {
        "runs": _rows(page, request.user),
        "next": following,
        "filters": filters,
        "filtered": any(filters.values()),
        "older_than": request.GET.get("before", ""),
        "pipelines": sorted(PIPELINES),
        "releases": [str(release) for release in releases],
        "statuses": Run.Status.choices,
    }
    return render(request, "evaluation/runs.html", context)


@require_GET
def runs_mine(request: HttpRequest) -> HttpResponse:
    """The reader's own newest runs, as a part of the home page."""
    require_reader(request.user)
    mine = Run.objects.visible_to(request.user).filter(requested_by=request.user.pk)
    rows = _rows(list(_light(mine.with_progress())[:MINE]), request.user)
    return render(request, "evaluation/_runs_mine.html", {"runs": rows})


def _asked(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "")


def _page(runs: Any, filters: dict[str, str], request: HttpRequest) -> tuple[list[Run], int | None]:
    """The newest runs, or those older than ``before``; and where the next page starts."""
    name, _, version = filters["release"].partition("@")
    if filters["pipeline"]:
        runs = runs.filter(pipeline=filters["pipeline"])
    if filters["release"]:
        wanted = whole_number(version) or 0
        runs = runs.filter(release__name=name, release__version=wanted)
    before = whole_number(request.GET.get("before", ""))
    if before is not None:
        runs = runs.filter(pk__lt=before)
    runs = runs.with_progress()
    if filters["status"]:
        runs = runs.filter(state=filters["status"])
    loaded = list(_light(runs)[: PAGE_SIZE + 1])
    more = len(loaded) > PAGE_SIZE
    return loaded[:PAGE_SIZE], loaded[PAGE_SIZE - 1].pk if more else None


def _light(runs: Any) -> Any:
    """With what a row shows and nothing heavy."""
    shown = Aggregate.objects.filter(metric__in=SHOWN).defer("detail", "yardsticks")
    return (
        runs.select_related("release", "requested_by")
        .with_synthetic()
        .defer("spec", "config", "release__header", "release__agreement", "release__left_out")
        .prefetch_related(Prefetch("aggregates", shown))
    )


def _rows(runs: list[Run], reader: Any) -> list[RunRow]:
    marks = judge_marks.of_runs([run.pk for run in runs])
    sealed = looks.sealed_among(reader, runs)
    return [_row(run, marks, sealed=run.pk in sealed) for run in runs]


def _row(run: Run, marks: Mapping[judge_marks.Figure, str], *, sealed: bool) -> RunRow:
    if sealed:
        return RunRow(run, present.BADGES[run.status], [], "", sealed=True)
    rows = {row.metric: row for row in run.aggregates.all()}
    answered = [name for name in OF_ANSWERS if name in rows]
    metrics = [*GOLD_LAYERS[run.release.layer].headline, *answered]
    own = {name: marks.get(judge_marks.Figure(run.pk, name), "") for name in metrics}
    alike = {mark for mark in own.values() if mark}
    return RunRow(
        run=run,
        badge=present.BADGES[run.status],
        figures=[
            (
                METRICS[name].title,
                present.with_interval(METRICS[name], rows.get(name)),
                own[name] if len(alike) > 1 else "",
            )
            for name in metrics
        ],
        mark=next(iter(alike)) if len(alike) == 1 else "",
        sealed=False,
    )
