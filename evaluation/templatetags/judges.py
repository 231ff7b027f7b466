"""Figures and moments of judges, as their reader writes them."""

from __future__ import annotations

from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.formats import date_format, number_format

register = template.Library()


@register.filter
def signed(value: float | None) -> str:
    """With its sign, which says who gives more: ``{{ certificate.bias|signed }}``."""
    if value is None:
        return "–"
    rounded = round(value, 2) + 0.0  # −0 becomes 0
    sign = "+" if rounded > 0 else "−" if rounded < 0 else ""
    return sign + number_format(abs(rounded), decimal_pos=2)


@register.filter
def moment(iso: str) -> str:
    """A stored moment, in the time of the reader: ``{{ sample.drawn_at|moment }}``."""
    return date_format(timezone.localtime(datetime.fromisoformat(iso)), "j M Y H:i")
