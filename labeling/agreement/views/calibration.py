"""Calibration as a whole: where it stands, and how the rounds went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from labeling.agreement.rules.agreement import Agreement, read_agreement
from labeling.agreement.rules.calibration import ENOUGH, passes_within
from labeling.agreement.rules.intervals import TRUE_FIGURES
from labeling.agreement.views.gate import gates
from labeling.core import access
from labeling.models import Project, Round
from labeling.schema import LAYERS
from labeling.schema.layers import Layer
from labeling.translation import lazy as _
from labeling.work.round_counts import count_work, decision, seen_before


class Step(NamedTuple):
    """What has to be done next, who is waited for, and where."""

    title: str
    who: str = ""
    url: str = ""


@require_GET
def calibration(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    rounds = _rounds(project)
    closed = [round_ for round_ in rounds if round_.agreement]
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
        "rows": [(round_, read_agreement(round_.agreement)) for round_ in closed],
        "last_closed": closed[-1] if closed else None,
        "layers": _layers_of(closed[-1]) if closed else [],
        "failed": failed,
        "discussed": seen_before(closed[-1]) if closed else 0,
    }
    return render(request, "labeling/calibration.html", context)


def _rounds(project: Project) -> list[Any]:
    """The calibration rounds, oldest first."""
    rounds = project.rounds.filter(kind=Round.Kind.CALIBRATION)
    rounds = rounds.select_related("guideline", "project").defer("guideline__body")
    counted = list(rounds.order_by("number"))
    count_work(counted)
    return counted


def _layers_of(closed: Any) -> list[tuple[Layer, Agreement]]:
    """In the order of the gate."""
    stored = closed.agreement.get("layers") or {}
    return [
        (layer, read_agreement(stored[name])) for name, layer in LAYERS.items() if name in stored
    ]


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
