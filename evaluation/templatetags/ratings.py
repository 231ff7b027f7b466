"""What waits for a judge, for pages that are not about runs."""

from __future__ import annotations

from typing import Any

from django import template
from django.db.models import Count, F, IntegerField, OuterRef, Subquery
from django.db.models.functions import Coalesce

from evaluation.models import Rating, RatingPanel

register = template.Library()


@register.simple_tag
def ratings_waiting(user: Any) -> int:
    """How many open ratings the user has not finished."""
    if not RatingPanel.objects.filter(closed_at=None).exists():
        return 0
    own = Rating.objects.filter(case__run=OuterRef("run"), judge=user).order_by()
    counted = own.values("case__run").annotate(n=Count("pk")).values("n")
    mine = Coalesce(Subquery(counted, output_field=IntegerField()), 0)
    panels = RatingPanel.objects.to_rate_by(user).filter(closed_at=None)
    return panels.annotate(mine=mine).filter(mine__lt=F("n_labels")).count()
