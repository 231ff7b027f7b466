"""Reports of imports of published files: figures by file, and every fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from labeling.conversations.published.faults import KINDS, FaultKind
from labeling.core import access
from labeling.gold.views.gold_items import ListLength
from labeling.models import ImportReport
from labeling.translation import lazy as _

NEWEST = 50
MOST_FAULTS = 5000
EFFECTS = ("lost", "read", "noted")
UNKNOWN = FaultKind("noted", _("Something odd"))


class KindRow(NamedTuple):
    """One kind of fault: how often by file, and in all."""

    kind: FaultKind
    by_file: list[int]
    total: int


@require_GET
def imports(request: HttpRequest, slug: str) -> HttpResponse:
    """The newest imports, without what they found."""
    project = access.readable(request.user, slug)
    reports = (
        project.import_reports.defer("counts", "faults", "dia_ids")
        .annotate(n_faults=ListLength("faults"))
        .select_related("created_by")[:NEWEST]
    )
    context = {"project": project, "reports": list(reports)}
    return render(request, "labeling/imports.html", context)


@require_GET
def import_report(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One import."""
    project = access.readable(request.user, slug)
    reports = project.import_reports.defer("dia_ids").select_related("created_by")
    report = get_object_or_404(reports, pk=pk)
    context = {
        "project": project,
        "report": report,
        "files": [row["file"] for row in report.counts],
        "counts": report.counts,
        "kinds": _kinds(report),
        "faults": _rows(report.faults)[:MOST_FAULTS],
        "more": max(0, len(report.faults) - MOST_FAULTS),
    }
    return render(request, "labeling/import_report.html", context)


def _kinds(report: ImportReport) -> list[KindRow]:
    """What was lost first, then what was read all the same, then what is only worth knowing."""
    counted = Counter((fault["kind"], fault["file"]) for fault in report.faults)
    files = [row["file"] for row in report.counts]
    names = {name for name, _count in counted}
    order = [*KINDS, *sorted(names - set(KINDS))]
    rows = [
        KindRow(KINDS.get(name, UNKNOWN), by_file, sum(by_file))
        for name in order
        if name in names
        for by_file in [[counted[name, file] for file in files]]
    ]
    return sorted(rows, key=lambda row: EFFECTS.index(row.kind.effect))


def _rows(faults: Sequence[Mapping[str, str]]) -> list[dict[str, Any]]:
    rows = [{**fault, "about": KINDS.get(fault["kind"], UNKNOWN)} for fault in faults]
    return sorted(rows, key=lambda row: EFFECTS.index(row["about"].effect))
