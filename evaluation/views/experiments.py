"""The log of experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple, TypedDict

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from evaluation.access import require_reader
from evaluation.models import Run
from evaluation.models.runs import RunQuerySet
from evaluation.services import looks
from evaluation.services.run import experiments, lists, run_figures
from evaluation.services.run.experiments import ExperimentRow
from evaluation.services.run.lists import Asked, Primaries
from evaluation.services.run.run_figures import RunFigure
from evaluation.views import runs
from evaluation.views.present import between, figure
from evaluation.views.timeline import timeline
from labeling.domain.numbers import whole_number
from labeling.models import GoldRelease
from labeling.words import words

COLUMNS = {
    "launched": _("Date"),
    "gold": _("Gold"),
    "pipeline": _("Pipeline"),
    "primary": _("Primary metric"),
    "figures": _("Recall and precision by split"),
    "cases": _("Cases"),
    "changed": _("Changed"),
}
SORTED_BY = ("run", "gold", "pipeline", "primary")
CHOSEN = "experiment_columns"
"""Where the session keeps them: for one person and browser."""
SPLITS = ("train", "dev", "test", "open", "all")


@require_GET
def experiment_log(request: HttpRequest) -> HttpResponse:
    require_reader(request.user)
    asked = _asked(request)
    primary = lists.primaries(request.user)
    page = lists.page(_runs(request), asked, reader=request.user, primary=primary)
    log = experiments.rows_of(page.numbers, sealed=partial(looks.sealed_among, request.user))
    splits, beside = _run_splits(log), _beside(request, page.numbers, primary)
    by_name = _all(request).order_by("release__name").values_list("release__name", flat=True)
    names = list(by_name.distinct())
    kept = runs.columns_of(request, COLUMNS, kept_as=CHOSEN)
    columns = [name for name in COLUMNS if name in kept] or list(COLUMNS)
    chosen = request.GET.get("gold", "")
    drawn = names[0] if len(names) == 1 else chosen
    context: dict[str, Any] = {
        "rows": [_shown(row, splits, beside[row["experiment_id"]]) for row in log],
        "splits": splits,
        "names": names,
        "chosen": chosen,
        "columns": columns,
        "choices": [(name, title, name in columns) for name, title in COLUMNS.items()],
        "asked": asked,
        "heads": runs.heads_of(
            request, asked, {name: COLUMNS[name] for name in columns}, SORTED_BY
        ),
        "next": runs.address(request, before=page.following) if page.following else "",
        "first": runs.address(request, before=None) if asked.after is not None else "",
        "timeline": timeline(_all(request).filter(release__name=drawn), request.user),
    }
    return render(request, "evaluation/experiments.html", context)


def _asked(request: HttpRequest) -> Asked:
    sort = request.GET.get("sort", "")
    known = sort if sort.removeprefix("-") in SORTED_BY else ""
    return Asked(sort=known, after=whole_number(request.GET.get("before", "")))


@require_GET
def experiment_file(request: HttpRequest, form: str) -> HttpResponseBase:
    """The log as ``experiments.csv`` or ``experiments.json``."""
    require_reader(request.user)
    if form not in ("csv", "json"):
        raise Http404("The log comes as CSV or JSON.")
    log = _log(request)
    if form == "json":
        options = {"indent": 2, "ensure_ascii": False}
        response: HttpResponseBase = JsonResponse(log, safe=False, json_dumps_params=options)
    else:
        lines = experiments.csv_lines(log)
        response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="experiments.{form}"'
    return response


def _log(request: HttpRequest) -> list[ExperimentRow]:
    return experiments.rows(_runs(request), sealed=partial(looks.sealed_among, request.user))


def _all(request: HttpRequest) -> RunQuerySet:
    return Run.objects.visible_to(request.user).filter(scored_at__isnull=False)


def _runs(request: HttpRequest) -> RunQuerySet:
    name = request.GET.get("gold", "")
    return _all(request).filter(release__name=name) if name else _all(request)


def _run_splits(rows: Sequence[ExperimentRow]) -> list[str]:
    """Columns of dashes alone would push the others out of the page."""
    return [
        split for split in SPLITS if any(_run(row, split) or _hides(row, split) for row in rows)
    ]


def _hides(row: Mapping[str, Any], split: str) -> bool:
    return split == "test" and bool(row["sealed"])


def _run(row: Mapping[str, Any], split: str) -> bool:
    return (row[f"{split}_exact_recall"], row[f"{split}_precision"]) != (None, None)


class Figure(NamedTuple):
    text: str
    interval: str


class SplitFigures(NamedTuple):
    recall: Figure
    precision: Figure
    sealed: bool


class Beside(TypedDict):
    """What an experiment is next to the others."""

    primary: RunFigure
    """Of the metric by which the page sorts: the one that the project declares."""
    changed: list[str] | None
    """In words; None: nothing finished before it on this gold."""
    best_of: lists.Best | None
    """Of how many runs it has the best figure, alone or with others; None: it has not."""


class ShownExperiment(ExperimentRow, Beside):
    figures: list[SplitFigures]
    at: datetime


def _beside(request: HttpRequest, numbers: Sequence[int], primary: Primaries) -> dict[int, Beside]:
    documents = [f"release__{name}" for name in GoldRelease.DOCUMENTS]
    shown = Run.objects.filter(pk__in=numbers).select_related("release").defer("spec", *documents)
    loaded = list(shown)
    figures = run_figures.of_runs(loaded, request.user)
    changed = lists.changed(loaded)
    best = lists.highest(loaded, _all(request), reader=request.user, primary=primary)
    return {
        run.pk: {
            "primary": figure,
            "changed": None if (facts := changed[run.pk]) is None else [*map(words, facts)],
            "best_of": best.get(run.pk),
        }
        for run, figure in zip(loaded, figures, strict=True)
    }


def _shown(row: ExperimentRow, splits: Sequence[str], beside: Beside) -> ShownExperiment:
    figures, at = _figures(row, splits), datetime.fromisoformat(row["date"])
    return {**row, **beside, "figures": figures, "at": at}


def _figures(row: Mapping[str, Any], splits: Sequence[str]) -> list[SplitFigures]:
    """Recall and precision for each split, a dash where it was not run, and what is sealed."""
    return [
        SplitFigures(
            _with_interval(row, split, "exact_recall", "recall"),
            _with_interval(row, split, "precision", "precision"),
            _hides(row, split),
        )
        for split in splits
    ]


def _with_interval(row: Mapping[str, Any], split: str, figures: str, name: str) -> Figure:
    """A run has the interval of the whole: its parts have none."""
    value = row[f"{split}_{figures}"]
    ends = between(row[f"{name}_ci_low"], row[f"{name}_ci_high"])
    return Figure(figure(value), "" if split != row["split"] or ends == "–" else ends)
