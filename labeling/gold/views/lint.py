"""What lint found in labels that are to become gold, and freezing them all the same."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from labeling.core import access
from labeling.gold import gold_requests, lint
from labeling.gold.rules.lint import KINDS
from labeling.models import Event
from labeling.schema.targets import target_layers

SHOWN = 100
"""Findings of a kind; the command lists all."""


@require_GET
def gold_lint(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    layers = target_layers(project.layers)
    layer = request.GET.get("layer", "")
    layer = layer if layer in layers else layers[0]
    report = lint.report_of(project, layer)
    findings = lint.stored(report)
    requests = Event.objects.filter(project=project, verb=gold_requests.ASKED, data__layer=layer)
    context = {
        "project": project,
        "layer": layer,
        "layers": layers,
        "report": report,
        "groups": [
            {"kind": KINDS[kind], "number": number, "rows": findings.of(kind)[:SHOWN]}
            for kind, number in findings.counts().items()
        ],
        "shown": SHOWN,
        "last": requests.first(),
        "may_write": access.leads(request.user, project),
    }
    return render(request, "labeling/gold_lint.html", context)
