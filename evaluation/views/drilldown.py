"""One case laid open: gold and prediction side by side, and where the gold comes from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from evaluation import adapters
from evaluation.layers import gold_layer
from evaluation.layers.events import Events, reply_of
from evaluation.layers.memory import Memory
from evaluation.metrics.registry import Metric
from evaluation.models import CaseRun, Score
from evaluation.services.run.primary_metrics import primary_of
from evaluation.services.unmeasured.files import document_of
from evaluation.templatetags import present
from evaluation.views.answers import answer_of
from evaluation.views.compared_case import evidence_of, units_of
from evaluation.views.opening import opened_case
from evaluation.views.pairs import (
    conversation_of,
    current_scores,
    returned_rows,
    rows_of,
)
from evaluation.views.run_cases import failures
from labeling.core import access
from labeling.core.views.markdown import ShownGuideline, shown_guideline
from labeling.domain.numbers import whole_number
from labeling.gold import pseudonyms
from labeling.gold.models.reopenings import ReopeningSource
from labeling.gold.rules.content import Provenance
from labeling.gold.views.reopenings import doubting_page
from labeling.models import Annotation, Guideline
from labeling.schema.labels import StoredLabel
from labeling.settling.settling import stages_of
from labeling.translation import translated_keys
from labeling.words import words_of
from labeling.work.rules.keys import CASE_KEYS


@require_GET
def run_case(request: HttpRequest, run_pk: int, pk: int) -> HttpResponse:
    """Of a run without gold what was returned, next to the conversation."""
    case = opened_case(request, run_pk, pk)
    document = document_of(case.output or {}, case.case_id)
    shown = _measured(request, case) if case.item else _returned(case)
    context = {
        "run": case.run,
        "case": case,
        "badge": present.color(case.state),
        "failed": case.state == CaseRun.State.FAILED,
        "earlier_failures": case.earlier_failures,
        "has_document": document is not None,
        "notice": document["notice"] if document else "",
        "raw": present.as_json(case.output) if case.output else "",
        "keys": translated_keys(CASE_KEYS),
        **shown,
    }
    return render(request, "evaluation/run_case.html", context)


def _returned(case: CaseRun) -> dict[str, Any]:
    rows = returned_rows(case)
    answer = (case.output or {}).get("answer")
    return {
        "rows": rows,
        "conversation": conversation_of(case, rows),
        "question": case.run.spec.questions.get(case.part, ""),
        "answer": answer if isinstance(answer, str) else "",
        "steps": present.steps_of(case.output),
        **_neighbours(case, None),
    }


def _measured(request: HttpRequest, case: CaseRun) -> dict[str, Any]:
    scores, layer = current_scores(case), gold_layer(case.run.release.layer)
    own_page = isinstance(layer, Memory | Events)
    rows = [] if own_page else rows_of(case, scores)
    primary = primary_of(case.run.release.project, layer.name).metric
    own = next((score for score in scores if score.metric == primary.id), None)
    provenance = _provenance(request, case)
    submitted = _submitted(case, provenance)
    cells = [present.score_cell(score, failed=case.state == "failed") for score in scores]
    return {
        "synthetic": case.run.release.items.synthetic().filter(pk=case.gold_item_id).exists(),
        "evidence": evidence_of(case, layer) if isinstance(layer, Memory) else None,
        "events": _events(case, layer, scores) if isinstance(layer, Events) else None,
        "units": units_of(case) if own_page else [],
        "written": answer_of(case),
        "rows": rows,
        "conversation": [] if own_page else conversation_of(case, rows),
        "provenance": provenance,
        "annotators": [
            {**annotator, "submitted": submitted.get(annotator["username"])}
            for annotator in provenance.get("annotators", [])
        ],
        "origins": [
            (row, origin)
            for row in rows
            if row.gold and (origin := provenance.get("labels", {}).get(row.uid))
        ],
        "guideline": _guideline(case, provenance),
        "steps": present.steps_of(case.output),
        "scores": list(zip(scores, cells, strict=True)),
        "primary": own,
        "primary_cell": cells[scores.index(own)] if own else None,
        **_neighbours(case, primary),
    }


def _events(case: CaseRun, layer: Events, scores: Sequence[Score]) -> dict[str, Any]:
    """What the page of such a case shows beside its units."""
    details = {score.metric: score.detail for score in scores}
    return {
        "messages": adapters.to_example(case, layer).messages,
        "reply": reply_of(case.output) if case.output else None,
        "violation": words_of(details.get("schema_compliance_rate", {}).get("violation")),
    }


# --- from a score to the people behind the gold ---------------------------------------------------


def _provenance(request: HttpRequest, case: CaseRun) -> Provenance:
    """With the names of people for a lead, who may see them."""
    project = case.run.release.project
    names = pseudonyms.names_of(project) if access.leads(request.user, project) else {}
    return pseudonyms.content_of(case.item, names)["provenance"]


def _submitted(case: CaseRun, provenance: Provenance) -> dict[str, datetime]:
    """When each person submitted; no time is part of an item, and pseudonyms have none."""
    answers = Annotation.objects.filter(
        assignment__conversation=case.item.conversation_id,
        assignment__round__number=provenance.get("round") or 0,
        submitted_at__isnull=False,
    )
    rows = answers.values_list("assignment__annotator__username", "submitted_at")
    return {name: at for name, at in rows if at}


def _guideline(case: CaseRun, provenance: Provenance) -> ShownGuideline | None:
    version = provenance.get("decided_under") or provenance.get("guideline_version")
    if version is None:
        return None
    guideline = Guideline.objects.filter(project=case.run.release.project, version=version).first()
    return shown_guideline(guideline)


def _neighbours(case: CaseRun, primary: Metric | None) -> dict[str, CaseRun | None]:
    """Cases are created in the order of the gold, so the key gives the order."""
    others = CaseRun.objects.filter(run=case.run).only("pk", "run_id")
    around = {"": others, "_failure": failures(others, primary)}
    return {
        f"{side}{which}": rows.filter(**{f"pk__{than}": case.pk}).order_by(order).first()
        for which, rows in around.items()
        for side, than, order in (("previous", "lt", "-pk"), ("next", "gt", "pk"))
    }


# --- “the gold looks wrong” -----------------------------------------------------------------------


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
