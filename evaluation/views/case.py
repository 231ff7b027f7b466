"""From one score to the people behind the gold."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from evaluation.layers import gold_layer
from evaluation.layers.events import Events
from evaluation.layers.memory import Memory
from evaluation.metrics.registry import METRICS
from evaluation.models import CaseRun, Run, Score
from evaluation.views import drilldown, present
from evaluation.views.answers import answer_of
from evaluation.views.document import document_of
from evaluation.views.events import events_of
from evaluation.views.evidence import evidence_of
from labeling.models import Conversation, Guideline
from labeling.services import blindness
from labeling.translation import translated
from labeling.views.markdown import shown_guideline


@require_GET
def run_case(request: HttpRequest, run_pk: int, pk: int) -> HttpResponse:
    cases = CaseRun.objects.filter(run__in=Run.objects.visible_to(request.user))
    related = ("item", "run__release__project", "run__requested_by")
    case = get_object_or_404(cases.select_related(*related), run__pk=run_pk, pk=pk)
    blindness.refuse(request.user, Conversation.objects.filter(pk=case.item.conversation_id))
    scores = [score for score in case.scores.all() if _is_current(score)]
    layer = gold_layer(case.run.release.layer)
    own_page = isinstance(layer, Memory | Events)
    rows = [] if own_page else drilldown.rows_of(case, scores)
    provenance = drilldown.provenance_of(case)
    context = {
        "run": case.run,
        "case": case,
        "synthetic": case.run.release.items.synthetic().filter(pk=case.item_id).exists(),
        "badge": present.BADGES.get(case.state, ""),
        "failed": case.state == CaseRun.State.FAILED,
        "evidence": evidence_of(case, layer) if isinstance(layer, Memory) else None,
        "written": answer_of(case),
        "events": events_of(case, layer, scores) if isinstance(layer, Events) else None,
        "rows": rows,
        "is_scored": bool(scores),
        "conversation": [] if own_page else drilldown.conversation_of(case, rows),
        "provenance": provenance,
        "label_provenance": _label_provenance(rows, provenance),
        "guideline": _guideline(case, provenance),
        "has_document": document_of(case) is not None,
        "steps": [] if own_page else present.steps_of(case.output),
        "scores": [_score(score, case) for score in scores],
        "raw": present.as_json(case.output) if case.output else "",
        **_neighbours(case),
    }
    return render(request, "evaluation/run_case.html", context)


def _is_current(score: Score) -> bool:
    metric = METRICS.get(score.metric)
    return metric is not None and metric.version == score.metric_version


def _score(score: Score, case: CaseRun) -> dict[str, Any]:
    failed = case.state == CaseRun.State.FAILED
    cell = present.score_cell(score, failed=failed)
    return {"metric": METRICS[score.metric], "cell": cell, "reason": translated(score.reason)}


def _label_provenance(
    rows: list[dict[str, Any]], provenance: dict[str, Any]
) -> list[dict[str, Any]]:
    labels = provenance.get("labels") or {}
    return [
        {"number": row["number"], "label": row["gold"], **_people(labels[row["gold"]["uid"]])}
        for row in rows
        if row["gold"] and row["gold"].get("uid") in labels
    ]


def _people(origin: dict[str, Any]) -> dict[str, Any]:
    """Who holds the label, whose own one says it in other words, and who has none like it."""
    dissent = origin.get("dissent", [])
    return {
        "how": origin.get("how", ""),
        "by": origin.get("by", []),
        "differently": [one["annotator"] for one in dissent if one["label"]],
        "without": [one["annotator"] for one in dissent if not one["label"]],
    }


def _guideline(case: CaseRun, provenance: dict[str, Any]) -> dict[str, Any] | None:
    version = provenance.get("guideline_version")
    if not isinstance(version, int):
        return None
    found = Guideline.objects.filter(project=case.run.release.project, version=version).first()
    return shown_guideline(found)


def _neighbours(case: CaseRun) -> dict[str, Any]:
    """Cases are created in the order of the gold, so the key gives the order."""
    others = CaseRun.objects.filter(run=case.run).only("pk", "run_id")
    return {
        "previous": others.filter(pk__lt=case.pk).order_by("-pk").first(),
        "next": others.filter(pk__gt=case.pk).order_by("pk").first(),
    }
