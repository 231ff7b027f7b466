"""What lint found in labels that are to become gold, and freezing them all the same."""

from __future__ import annotations

from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from labeling.core import access
from labeling.core.views.paging import Page, part_of, query_of
from labeling.gold import gold_requests, lint
from labeling.gold.rules.lint import KINDS, LintKind
from labeling.models import Event
from labeling.schema.targets import target_layers

SHOWN = 5
"""Findings of a kind that are shown before somebody asks for all of that kind."""


class Group(NamedTuple):
    """The findings of one kind: the first ones, or a page of them."""

    kind: LintKind
    number: int
    page: Page


@require_GET
def gold_lint(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    layers = target_layers(project.layers)
    layer = request.GET.get("layer", "")
    layer = layer if layer in layers else layers[0]
    asked = request.GET.get("kind", "")
    report = lint.report_of(project, layer)
    findings = lint.stored(report)
    groups = []
    for kind, number in findings.counts().items():
        page = part_of(findings.of(kind), start=request.GET.get("after") if asked else None)
        if not asked:
            page = Page(page.rows[:SHOWN], None)
        if asked in ("", kind):
            groups.append(Group(KINDS[kind], number, page))
    requests = Event.objects.filter(project=project, verb=gold_requests.ASKED, data__layer=layer)
    waiting = [each for each in gold_requests.waiting(project) if each.data["layer"] == layer]
    context = {
        "project": project,
        "layer": layer,
        "layers": layers,
        "report": report,
        "groups": groups,
        "one_kind": asked in KINDS,
        "shown": SHOWN,
        "query": query_of(request),
        "waiting": next(iter(waiting), None),
        "last": requests.filter(data__only_lint=False).first(),
        "may_write": access.leads(request.user, project),
    }
    return render(request, "labeling/gold_lint.html", context)
