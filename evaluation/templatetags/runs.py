"""What runs need from those who launched them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import template
from django.db.models import Exists, F, OuterRef, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluation.models import Run
from labeling.models import GoldRelease
from labeling.overview.views.needs import Need

register = template.Library()

RECENT = timedelta(days=2)
SHOWN = 5


@register.simple_tag
def run_needs(user: Any) -> list[Need]:
    """Runs of the user that failed or finished lately, or whose gold has a newer version."""
    newer = GoldRelease.objects.filter(
        project=OuterRef("release__project"),
        name=OuterRef("release__name"),
        layer=OuterRef("release__layer"),
        version__gt=OuterRef("release__version"),
    )
    carried = Run.objects.filter(carried_from=OuterRef("pk"))
    since = timezone.now() - RECENT
    mine = (
        Run.objects.visible_to(user)
        .filter(requested_by=user)
        .annotate(is_stale=Exists(newer) & ~Exists(carried))
        .filter(
            Q(failure__isnull=False, created_at__gt=since)
            | Q(scored_at__gt=since)
            | Q(is_stale=True, scored_at__isnull=False)
        )
    )
    rows = mine.select_related("release").only(
        *("pipeline", "failure", "scored_at", "release__name", "release__version")
    )
    shown = list(rows.order_by(F("pk").desc())[:SHOWN])
    finished = [run for run in shown if run.failure is None and not run.is_stale]
    lines = [_need(run) for run in shown if run not in finished]
    if len(finished) == 1:
        text = _("Run {number} ({pipeline}) has finished").format(
            number=finished[0].pk, pipeline=finished[0].pipeline
        )
        lines.append(Need(47, text, _("Read it"), finished[0].get_absolute_url()))
    elif finished:
        text = _("{n} runs have finished lately").format(n=len(finished))
        lines.append(Need(47, text, _("See them"), reverse("runs")))
    return lines


@register.simple_tag
def sorted_needs(*parts: Any) -> list[Need]:
    """What waits of several kinds, the most urgent first."""
    lines = [need for part in parts for need in part or ()]
    return sorted(lines, key=lambda need: need.rank)


def _need(run: Any) -> Need:
    named = {"number": run.pk, "pipeline": run.pipeline, "gold": str(run.release)}
    url = run.get_absolute_url()
    if run.failure is not None:
        return Need(15, _("Run {number} ({pipeline}) failed").format(**named), _("See why"), url)
    text = _("Run {number} ({pipeline}) was compared with {gold}, and there is newer gold")
    return Need(46, text.format(**named), _("Score it on the new gold"), url)
