"""Calibration as a whole: where it stands, and how the rounds went."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Any, NamedTuple

from django.db.models import Count, Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from labeling.agreement import agreement
from labeling.agreement.rules.agreement import Agreement, read_agreement
from labeling.agreement.rules.calibration import ENOUGH, passes_within, standings
from labeling.agreement.rules.intervals import TRUE_FIGURES
from labeling.agreement.views.gate import gates
from labeling.core import access
from labeling.models import EmptyLayer, Project, Round
from labeling.schema import LAYERS
from labeling.translation import lazy as _
from labeling.work.round_counts import count_work, decision, seen_before


class Step(NamedTuple):
    """What has to be done next, who is waited for, and where."""

    title: str
    who: str = ""
    url: str = ""


class Reading(NamedTuple):
    """The gate's figure after one calibration round, with its 95 % interval."""

    number: int
    value: float | None
    low: float | None
    high: float | None
    threshold: float
    passed: bool


@require_GET
def calibration(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    rounds = _rounds(project)
    closed = [round_ for round_ in rounds if round_.agreement]
    readings = [_reading(round_) for round_ in closed]
    latest = rounds[-1] if rounds else None
    failed = latest if latest and latest.state == Round.State.FAILED else None
    context = {
        "project": project,
        "may_write": access.leads(request.user, project),
        "gate": gates([project])[project.pk],
        "enough": ENOUGH,
        "passes": passes_within([round_.agreement for round_ in closed], TRUE_FIGURES[0]),
        "true": TRUE_FIGURES[0],
        "step": next_step(project, rounds),
        "rows": list(zip(closed, readings, strict=True)),
        "last_closed": closed[-1] if closed else None,
        "layers": _layer_results(closed[-1]) if closed else [],
        "standings": [
            (round_, standings(agreement.of_messages(round_.agreement)["pairs"]))
            for round_ in reversed(closed)
        ],
        "failed": failed,
        "discussed": seen_before(closed[-1]) if closed else 0,
    }
    return render(request, "labeling/calibration.html", context)


def _rounds(project: Project) -> list[Any]:
    """The calibration rounds, oldest first."""
    stated = Prefetch("empty_layers", EmptyLayer.objects.select_related("stated_by"))
    rounds = project.rounds.filter(kind=Round.Kind.CALIBRATION).prefetch_related(stated)
    rounds = rounds.select_related("guideline", "project").defer("guideline__body")
    counted = list(rounds.order_by("number"))
    count_work(counted)
    return counted


def _reading(measured: Any) -> Reading:
    figures = read_agreement(measured.agreement)
    low, high = _interval(figures)
    return Reading(
        number=measured.number,
        value=figures.value,
        low=low,
        high=high,
        threshold=figures.threshold,
        passed=figures.passed,
    )


def _interval(figures: Agreement) -> tuple[float | None, float | None]:
    """Of the gate's figure; in figures from before it was stored, that of the lowest pair."""
    if known := figures.intervals.get("value"):
        return known
    pairs = [pair for pair in figures.pairs if pair.kappa is not None]
    if figures.statistic != "min" or figures.value is None or not pairs:
        return None, None
    lowest = min(pairs, key=lambda pair: pair.kappa or 0.0)
    return lowest.ci_low, lowest.ci_high


class LayerResult(NamedTuple):
    """One layer of a closed calibration round.

    ``marked`` is the share of units that people mark; ``stated`` is what a lead has said of a layer
    that nobody used, and ``can_go``: the project still labels it.
    """

    name: str
    title: str
    figures: Agreement
    interval: tuple[float | None, float | None]
    clears: bool
    marked: float | None
    stated: EmptyLayer | None
    can_go: bool


def _layer_results(closed: Any) -> list[LayerResult]:
    """In the order of the gate."""
    stored = closed.agreement.get("layers") or {}
    stated = {row.layer: row for row in closed.empty_layers.all()}
    results = []
    for name in LAYERS:
        if name not in stored:
            continue
        figures = read_agreement(stored[name])
        shares = [pair.prevalence for pair in figures.pairs if pair.prevalence is not None]
        results.append(
            LayerResult(
                name=name,
                title=LAYERS[name].title,
                figures=figures,
                interval=_interval(figures),
                clears=figures.value is not None and figures.value > figures.threshold,
                marked=fsum(shares) / len(shares) if shares else None,
                stated=stated.get(name),
                can_go=name in closed.project.layers,
            )
        )
    return results


def next_step(project: Project, rounds: Sequence[Any]) -> Step | None:
    """On the way to full labeling; None once it is open. ``rounds`` are oldest first."""
    new = reverse("round-new", args=[project.slug])
    latest = rounds[-1] if rounds else None
    newest = project.guidelines.only("version").first()
    if newest is None:
        return Step(_("Write the guidelines"), url=reverse("guideline-new", args=[project.slug]))
    if latest is None:
        return Step(_("Open a calibration round"), url=new)
    if latest.state == Round.State.OPEN:
        return _to_label(latest)
    if decision(rounds).opens:
        is_open = project.rounds.filter(kind=Round.Kind.FULL).exists()
        return None if is_open else Step(_("Open full labeling"), url=new)
    if latest.state == Round.State.PASSED:
        return Step(_("Open a calibration round"), url=new)
    if newest.version > latest.guideline.version:
        again = f"{new}?fresh_after={latest.number}"
        return Step(_("Open the next calibration round"), url=again)
    talk = reverse("disagreements", args=[project.slug, latest.number])
    return Step(_("Discuss the disagreements"), url=talk)


def _to_label(latest: Any) -> Step:
    left = latest.assignments.exclude(annotation__status__in=["submitted", "skipped"])
    by_name = left.order_by("annotator__username").values_list("annotator__username")
    numbers = by_name.annotate(n=Count("pk"))
    who = [_("{name} ({n} left)").format(name=name, n=n) for name, n in numbers]
    title = _("Label it blind") if who else _("Measure agreement")
    return Step(title, ", ".join(who), latest.get_absolute_url())
