"""The log of experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from evaluation.access import require_reader
from evaluation.models import Run
from evaluation.models.runs import RunQuerySet
from evaluation.services import looks
from evaluation.services.run import experiments
from evaluation.services.run.experiments import ExperimentRow
from evaluation.views.present import between, figure

SHOWN = 200  # on the page; the files hold all of them
SPLITS = ("train", "dev", "test", "open", "all")


@require_GET
def experiment_log(request: HttpRequest) -> HttpResponse:
    require_reader(request.user)
    log = _log(request)
    splits = _run_splits(log[-SHOWN:])
    rows = [_shown(row, splits) for row in reversed(log[-SHOWN:])]
    names = sorted(set(_all(request).values_list("release__name", flat=True)))
    context = {"rows": rows, "total": len(log), "splits": splits, "names": names}
    context["chosen"] = request.GET.get("gold", "")
    return render(request, "evaluation/experiments.html", context)


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


class ShownExperiment(ExperimentRow):
    figures: list[tuple[str, str, bool]]
    at: datetime


def _shown(row: ExperimentRow, splits: Sequence[str]) -> ShownExperiment:
    return {**row, "figures": _figures(row, splits), "at": datetime.fromisoformat(row["date"])}


def _figures(row: Mapping[str, Any], splits: Sequence[str]) -> list[tuple[str, str, bool]]:
    """Recall and precision for each split, a dash where it was not run, and what is sealed."""
    return [
        (
            _with_interval(row, split, "exact_recall", "recall"),
            _with_interval(row, split, "precision", "precision"),
            _hides(row, split),
        )
        for split in splits
    ]


def _with_interval(row: Mapping[str, Any], split: str, figures: str, name: str) -> str:
    """A run has the interval of the whole: its parts have none."""
    value = row[f"{split}_{figures}"]
    ends = between(row[f"{name}_ci_low"], row[f"{name}_ci_high"])
    return figure(value) if split != row["split"] or ends == "–" else f"{figure(value)} [{ends}]"
