"""“The gold looks wrong” on a case of a run."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from evaluation import adapters
from evaluation.layers import gold_layer
from evaluation.layers.memory import Memory
from evaluation.models import CaseRun
from evaluation.views.opening import opened_case
from labeling.domain.numbers import whole_number
from labeling.gold.models.reopenings import ReopeningSource
from labeling.gold.views.reopenings import doubting_page
from labeling.schema.labels import StoredLabel
from labeling.settling.settling import stages_of


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
    uid = request.GET.get("label", case.part)
    source: ReopeningSource = {"run": case.run_id, "case": case.pk}
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
