"""What waits for a rater, for pages that are not about runs."""

from __future__ import annotations

from typing import Any

from django import template

from evaluation.models import RatingPanel, RatingSample

register = template.Library()


@register.simple_tag
def ratings_waiting(user: Any) -> int:
    """How many open ratings the user has not finished."""
    if not RatingSample.objects.filter(closed_at=None).exists():
        return 0
    return RatingPanel.objects.waiting_for(user).count()
