"""How far the annotators of a round agree, with everything that helps to judge the figure."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from labeling.agreement import agreement as service
from labeling.agreement import measurements
from labeling.agreement.measurements import ratings_file
from labeling.agreement.rules.agreement import outcome_of
from labeling.agreement.views.gate import gates, statistic_words, verdict
from labeling.core import access
from labeling.domain.errors import RuleError
from labeling.models import Project, Round
from labeling.schema import LAYERS
from labeling.translation import lazy as _
from labeling.words import in_english
from labeling.work import blindness
from labeling.work.round_counts import work_of_people

SHOWN_EXCLUDED = 500
BLIND = _("A calibration round is blind until its last answer is in.")


@require_GET
def agreement(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    project = access.readable(request.user, slug)
    round_ = round_of(project, number)
    context: dict[str, Any] = {
        "project": project,
        "round": round_,
        "gate": gates([project])[project.pk],
        "leads": access.leads(request.user, project),
    }
    if round_.is_blind:
        context["progress"] = work_of_people(round_)
        context["is_complete"] = all(
            row["answered"] == row["assigned"] for row in context["progress"]
        )
        if context["is_complete"]:
            measurements.ask(round_)
        return render(request, "labeling/agreement_blind.html", context)
    layer = _layer_of(request, project)
    context |= _frame(round_, layer) | _figures(round_, layer)
    return render(request, "labeling/agreement.html", context)


def _layer_of(request: HttpRequest, project: Project) -> str:
    """What an address asks for; a layer that the project does not have counts as not asked."""
    layer = request.GET.get("layer", "")
    return layer if layer in project.layers else service.first_layer(project)


def round_of(project: Project, number: int) -> Round:
    rounds = Round.objects.filter(project=project).select_related("project", "guideline")
    return get_object_or_404(rounds.defer("guideline__body"), number=number)


def refuse_blind(user: Any, round_: Round) -> None:
    """Single ratings are seen by nobody in a blind round, and by nobody who labels them again."""
    if round_.is_blind:
        raise PermissionDenied(BLIND)
    blindness.refuse(user, round_.conversations.all())


def _frame(round_: Round, layer: str) -> dict[str, Any]:
    """What can be chosen on the page."""
    project = round_.project
    return {
        "layer": LAYERS[layer],
        "layers": [LAYERS[name] for name in project.layers],
        "rounds": list(project.rounds.values_list("number", flat=True)),
        "statistic": statistic_words(project),
    }


def _figures(round_: Round, layer: str) -> dict[str, Any]:
    """The figures as a worker measured them, and whether it has to do so again."""
    stored = round_.agreement or {}
    row, figures, is_outdated = measurements.current(round_, layer)
    context: dict[str, Any] = {
        "gate_figures": stored or None,
        "by_layer": [
            (LAYERS[name], verdict(figures), outcome_of(figures))
            for name, figures in stored.get("layers", {}).items()
        ],
        "records": row.records if row else None,
        "measured_at": row.measured_at if row else None,
        "is_outdated": is_outdated,
        "is_waiting": figures is None,
        "measured": row.n_compared if row else 0,
    }
    if figures is None:
        return context
    return context | {
        "figures": figures,
        "verdict": verdict(figures),
        "excluded": figures["excluded"][:SHOWN_EXCLUDED],
        "more_excluded": max(0, len(figures["excluded"]) - SHOWN_EXCLUDED),
    }


# --- ratings as CSV -------------------------------------------------------------------------------


@require_GET
def agreement_csv(
    request: HttpRequest, slug: str, number: int
) -> StreamingHttpResponse | HttpResponse:
    project = access.readable(request.user, slug)
    round_ = round_of(project, number)
    refuse_blind(request.user, round_)
    try:
        return ratings_file(round_, _layer_of(request, project))
    except RuleError as error:
        return HttpResponse(
            in_english(error.fact), status=409, content_type="text/plain; charset=utf-8"
        )
