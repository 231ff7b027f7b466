"""What a gold release can show: in words, as a chart and as a table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from evaluation.models import selected
from evaluation.services.run import planning
from evaluation.services.run.planning import Plan, figure
from labeling.templatetags.figures import exact
from labeling.views.gold import release_of

WIDTH, HEIGHT = 340, 230
LEFT, RIGHT, TOP, BOTTOM = 44, 330, 28, 180
POINTS = 40
FEWEST = 3
"""With fewer conversations almost nothing can be shown."""

TALLEST = 2.5
"""How many times the effect of now the chart reaches."""


class Tick(NamedTuple):
    at: float
    text: str


class Row(NamedTuple):
    """A row of the table, and of the text behind the chart."""

    conversations: int
    effect: str
    is_now: bool


@dataclass(frozen=True, slots=True)
class Chart:
    """Effect against number of conversations, in the coordinates of the drawing."""

    line: str
    now_x: float
    now_y: float
    reach_y: float | None
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = RIGHT
    top: int = TOP
    bottom: int = BOTTOM


@require_GET
def release_planning(request: HttpRequest, slug: str, name: str, version: int) -> HttpResponse:
    """A part of the pages of gold."""
    release = release_of(request.user, slug, name, version)
    plan = planning.plan(release, split=selected(request.GET.get("split", "")))
    context = {
        "release": release,
        "plan": plan,
        "said": planning.sentences(plan) if plan else [],
        "chart": chart(plan) if plan else None,
        "rows": rows(plan) if plan else [],
    }
    return render(request, "evaluation/_gold_planning.html", context)


def chart(plan: Plan) -> Chart | None:
    """None where nothing can be shown with the conversations there are."""
    now = plan.effect
    if now is None:
        return None
    most = _most(plan)
    counts = sorted({_count(step / POINTS, most) for step in range(POINTS + 1)})
    pairs = [(count, plan.effect_with(count)) for count in counts]
    shown = [(count, effect) for count, effect in pairs if effect and effect <= TALLEST * now]
    tallest = max(effect for _, effect in shown)
    reach = plan.primary.reach

    def x(count: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * (count - FEWEST) / (most - FEWEST), 1)

    def y(effect: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * effect / tallest, 1)

    return Chart(
        line=" ".join(f"{x(count)},{y(effect)}" for count, effect in shown),
        now_x=x(plan.conversations),
        now_y=y(now),
        reach_y=y(reach) if reach is not None and reach <= tallest else None,
        x_ticks=[Tick(x(count), f"{count:g}") for count in _ticks(most) if count >= FEWEST],
        y_ticks=[Tick(y(effect), exact(effect)) for effect in _ticks(tallest)],
    )


def rows(plan: Plan) -> list[Row]:
    """Now, with more of them, and with as many as the difference of interest takes."""
    if plan.basis is None:
        return []
    now = plan.conversations
    counts = {now, now + 10, 2 * now, 3 * now, 5 * now} | ({plan.needed} if plan.needed else set())
    rows = []
    for count in sorted(counts):
        effect = plan.effect_with(count)
        if effect is not None:
            rows.append(Row(count, figure(effect), count == now))
    return rows


def _most(plan: Plan) -> int:
    """The right end: where the difference of interest is reached, if that is not far away."""
    now = max(plan.conversations, FEWEST + 1)
    return min(max(2 * now, plan.needed or 0), 6 * now)


def _count(share: float, most: int) -> int:
    """Denser where the curve is steep."""
    return round(FEWEST + (most - FEWEST) * share**2)


def _ticks(most: float) -> list[float]:
    """At most six round numbers up to there."""
    power = 10.0 ** math.floor(math.log10(most))
    step = next(part * power for part in (0.2, 0.5, 1, 2) if most / (part * power) <= 6)
    return [round(number * step, 10) for number in range(1, math.floor(most / step) + 1)]
