"""Figures of judges, as their reader writes them."""

from __future__ import annotations

from django import template
from django.utils.formats import number_format

register = template.Library()


@register.filter
def signed(value: float | None) -> str:
    """With its sign, which says who gives more: ``{{ certificate.bias|signed }}``."""
    if value is None:
        return "–"
    rounded = round(value, 2) + 0.0  # −0 becomes 0
    sign = "+" if rounded > 0 else "−" if rounded < 0 else ""
    return sign + number_format(abs(rounded), decimal_pos=2)
