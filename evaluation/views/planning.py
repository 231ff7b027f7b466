"""What a gold release can show: in words, as a chart and as a table."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from evaluation.models import selected
from evaluation.services.run import planning
from evaluation.services.run.planning import Plan
from evaluation.views.plots import planning_plot
from labeling.views.gold import release_of


@require_GET
def release_planning(request: HttpRequest, slug: str, name: str, version: int) -> HttpResponse:
    """A part of the pages of gold."""
    release = release_of(request.user, slug, name, version)
    plan = planning.plan(release, split=selected(request.GET.get("split", "")))
    context = {
        "release": release,
        "plan": plan,
        "said": planning.sentences(plan) if plan else [],
        "chart": planning_plot(plan) if plan else None,
        "rows": rows(plan) if plan else [],
    }
    return render(request, "evaluation/_gold_planning.html", context)


def rows(plan: Plan) -> list[tuple[int, str]]:
    """Numbers of conversations with what they show: now, with more of them, and with as many as
    the difference of interest takes."""
    if plan.basis is None:
        return []
    now = plan.conversations
    counts = {now, now + 10, 2 * now, 3 * now, 5 * now} | ({plan.needed} if plan.needed else set())
    effects = [(count, plan.effect_with(count)) for count in sorted(counts)]
    return [(count, planning.figure(effect)) for count, effect in effects if effect is not None]
