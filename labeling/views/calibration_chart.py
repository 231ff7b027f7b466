"""Where the points and lines of the history chart stand. The page draws it as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import NamedTuple

from django.utils.translation import gettext as _

from labeling.templatetags.figures import figure

HEIGHT, TOP, BOTTOM, LEFT, RIGHT = 260, 16, 36, 44, 16
STEP = 96  # width of one round
NARROWEST = 340
STRIDE = 0.25  # between two lines of the scale


class Reading(NamedTuple):
    """The gate's figure after one calibration round, with its 95 % interval."""

    number: int
    value: float | None
    low: float | None
    high: float | None
    threshold: float
    passed: bool


class Tick(NamedTuple):
    y: str
    text: str


class Point(NamedTuple):
    """``x``, and the heights as text; ``y`` None where κ is undefined."""

    reading: Reading
    x: str
    left: str
    right: str
    y: str | None
    low: str | None
    high: str | None
    threshold: str


class Chart(NamedTuple):
    width: int
    height: int
    left: int
    right: int
    bottom: int
    ticks: list[Tick]
    points: list[Point]
    line: str
    summary: str


def chart(readings: Sequence[Reading]) -> Chart:
    lowest = min(low for one in readings for low in (one.value, one.low, 0.0) if low is not None)
    bottom = floor(lowest / STRIDE) * STRIDE
    width = max(NARROWEST, LEFT + RIGHT + STEP * len(readings))
    step = (width - LEFT - RIGHT) / len(readings)
    points = [_point(one, LEFT + step * at, step, bottom) for at, one in enumerate(readings)]
    return Chart(
        width=width,
        height=HEIGHT,
        left=LEFT,
        right=width - RIGHT,
        bottom=HEIGHT - BOTTOM,
        ticks=_ticks(bottom),
        points=points,
        line=" ".join(f"{point.x},{point.y}" for point in points if point.y),
        summary="; ".join(map(_sentence, readings)),
    )


def _point(reading: Reading, start: float, step: float, bottom: float) -> Point:
    return Point(
        reading,
        x=f"{start + step / 2:.1f}",
        left=f"{start:.1f}",
        right=f"{start + step:.1f}",
        y=_height(reading.value, bottom),
        low=_height(reading.low, bottom),
        high=_height(reading.high, bottom),
        threshold=_height(reading.threshold, bottom) or "",
    )


def _height(value: float | None, bottom: float) -> str | None:
    if value is None:
        return None
    share = (max(value, bottom) - bottom) / (1 - bottom)
    return f"{HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP):.1f}"


def _ticks(bottom: float) -> list[Tick]:
    values = [bottom + STRIDE * at for at in range(round((1 - bottom) / STRIDE) + 1)]
    return [Tick(_height(value, bottom) or "", figure(value)) for value in values]


def _sentence(one: Reading) -> str:
    verdict = "passed" if one.passed else _("not passed")
    if one.value is None:
        return _("round {number}: no κ, {verdict}").format(number=one.number, verdict=verdict)
    span = (
        _(" ({figure} to {figure2})").format(figure=figure(one.low), figure2=figure(one.high))
        if one.low is not None
        else ""
    )
    return _("round {number}: κ {figure}{span}, {verdict}").format(
        number=one.number, figure=figure(one.value), span=span, verdict=verdict
    )
