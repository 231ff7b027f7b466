"""Suspects of a run, and “the gold looks wrong” on one of its cases."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from evaluation import adapters
from evaluation.layers import gold_layer
from evaluation.layers.memory import Memory
from evaluation.models import CaseRun
from evaluation.services.run import suspects as service
from evaluation.templatetags.present import SUSPICIONS
from evaluation.views.opening import opened_case, opened_run
from labeling.core.views.paging import part_of
from labeling.domain.errors import RuleError
from labeling.domain.numbers import whole_number
from labeling.gold.models.reopenings import ReopeningSource
from labeling.gold.views.reopenings import doubting_page
from labeling.schema.labels import StoredLabel
from labeling.settling.settling import stages_of
from labeling.words import words
from labeling.work import blindness


@require_GET
def run_suspects(request: HttpRequest, pk: int) -> HttpResponse:
    """Where gold may be wrong, by what this run says with confidence."""
    run = opened_run(request, pk)
    context: dict[str, Any] = {"run": run}
    try:
        everything = service.suspects_of(run)
    except RuleError as error:
        return render(request, "evaluation/suspects.html", context | {"problem": words(error.fact)})
    blind = set(
        run.release.items.filter(conversation__in=blindness.again(request.user)).values_list(
            "pk", flat=True
        )
    )
    shown = [suspect for suspect in everything if suspect.item not in blind]
    kind = request.GET.get("kind", "")
    chosen = [suspect for suspect in shown if kind in ("", suspect.kind)]
    page = part_of(chosen, start=request.GET.get("after"))
    context |= {
        "page": page,
        "chosen": kind,
        "kinds": [(name, sum(each.kind == name for each in shown)) for name in SUSPICIONS],
        "total": len(shown),
    }
    return render(request, "evaluation/suspects.html", context)


@require_http_methods(["GET", "POST"])
def case_reopen(request: HttpRequest, run_pk: int, pk: int) -> HttpResponse:
    """The form of a doubt about gold of a case, with what the pipeline returned.

    ``label`` names the label of gold, ``predicted`` the place of what was returned.
    """
    case = opened_case(request, run_pk, pk)
    if not case.run.is_measured:
        raise Http404
    layers = stages_of(case.run.release.layer)
    layer = request.GET.get("layer") or layers[0]
    if layer not in layers:
        raise Http404
    uid, suspect = request.GET.get("label", case.part), request.GET.get("suspect", "")
    source: ReopeningSource = {"run": case.run_id, "case": case.pk}
    if suspect in SUSPICIONS:
        source["suspect"] = suspect
    return doubting_page(
        request,
        case.item,
        layer,
        uid,
        proposal=_proposal(request, case, uid),
        source=source,
        back=(case.get_absolute_url(), _("Case {case}").format(case=case.case_id)),
    )


def _proposal(request: HttpRequest, case: CaseRun, uid: str) -> StoredLabel | None:
    """What the pipeline returned instead, in the shape of the layer's labels."""
    if kind := request.GET.get("suspect"):
        same = [
            each for each in service.suspects_of_case(case) if (each.uid, each.kind) == (uid, kind)
        ]
        return same[0].proposal if same else None
    layer = gold_layer(case.run.release.layer)
    if isinstance(layer, Memory):
        return _evidence(case, layer)
    predicted, place = layer.predicted(case.output), request.GET.get("predicted", "")
    number = whole_number(place)
    if number is not None and number < len(predicted):
        return {**predicted[number], "uid": uid}
    return None


def _evidence(case: CaseRun, layer: Memory) -> StoredLabel | None:
    example = adapters.to_example(case, layer)
    if len(example.gold) != 1 or "evidence" not in example.gold[0]:
        return None
    size = len(example.messages)
    returned = {local_id - 1 for local_id in layer.returned_ids(example) if 1 <= local_id <= size}
    return {**example.gold[0], "evidence": sorted(returned)} if returned else None
