"""Figures as text of the language: two decimals, or as they were set; a dash where none is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from labeling.domain.numbers import decimals_apart

register = template.Library()

UNDEFINED = "–"
DECIMALS = 2


@register.filter
def figure(value: float | None, decimals: int = DECIMALS) -> str:
    """``0.61``, with a real minus sign; undefined is a dash and never 0."""
    if value is None:
        return UNDEFINED
    return number_format(f"{value:z.{decimals}f}", decimals).replace("-", "−")


@register.filter
def against(value: float | None, limit: float) -> str:
    """As a figure, with the decimals that show on which side of the limit it is: ``0.602``."""
    return figure(value, decimals_apart(value, limit, DECIMALS))


@register.filter
def exact(value: float) -> str:
    """``0.755``, every decimal of what somebody set and no more."""
    return number_format(f"{value:g}").replace("-", "−").replace("inf", "∞")


@register.filter
def interval(pair: Mapping[str, Any] | None) -> str:
    """The 95 % interval of a pair: ``0.48 to 0.73``."""
    if not pair or pair.get("ci_low") is None:
        return UNDEFINED
    return _("{low} to {high}").format(low=figure(pair["ci_low"]), high=figure(pair["ci_high"]))


@register.filter
def chance(value: float | str | None) -> str:
    """A probability in percent, never called certain: ``88 %``, ``> 99 %``.

    A template hands over "" for what rounds measured before do not have.
    """
    if value is None or isinstance(value, str):
        return UNDEFINED
    if value < 0.01 or value > 0.99:
        return "< 1 %" if value < 0.5 else "> 99 %"
    return f"{100 * value:.0f} %"


@register.filter
def percent(part: int, whole: int) -> int:
    """Whole percent, rounded down, so that only all of it is 100."""
    return 100 * part // whole if whole else 0
