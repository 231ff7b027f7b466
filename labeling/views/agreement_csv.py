"""The ratings behind the figures as files, so that anyone can compute them anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.views.decorators.http import require_GET

from labeling.domain.units import Units
from labeling.models import Round
from labeling.services import agreement as service
from labeling.services.vectors import RulerNeeded, stored_ruler
from labeling.views import access
from labeling.views.agreement import asked_of, refuse_blind, round_of
from labeling.views.csv_files import csv_file


@require_GET
def agreement_csv(
    request: HttpRequest, slug: str, number: int
) -> StreamingHttpResponse | HttpResponse:
    """Long: a row per unit and annotator. Wide: a row per unit, two columns per annotator."""
    project = access.readable(request.user, slug)
    found = round_of(project, number)
    refuse_blind(request.user, found)
    asked = asked_of(request, project)
    try:
        units = service.units_of(
            found, asked.layer, ruler=stored_ruler(), selection=asked.selection
        )
    except RulerNeeded as error:
        return HttpResponse(error.message, status=409, content_type="text/plain; charset=utf-8")
    is_wide = request.GET.get("shape") == "wide"
    rows = (
        wide_rows(units, service.excluded_answers(found, asked.selection))
        if is_wide
        else (long_rows(units))
    )
    return csv_file(_name(found, asked.layer, is_wide), rows)


def long_rows(units: Mapping[str, Units]) -> Iterator[list[Any]]:
    """What ``manage.py agreement --from-csv`` reads. A missing label has no row."""
    yield ["item", "unit", "annotator", "label"]
    for conversation, found in units.items():
        for annotator, labels in found.labels.items():
            for name, label in zip(found.names, labels, strict=True):
                if label is not None:
                    yield [conversation, name, annotator, label]


def wide_rows(
    units: Mapping[str, Units], excluded: Mapping[str, Mapping[str, str]]
) -> Iterator[list[Any]]:
    """Beside each annotator's label whether it was used, or why not."""
    people = sorted({who for found in units.values() for who in found.labels} | excluded.keys())
    yield ["item", "unit", *(column for who in people for column in (who, f"{who}_use"))]
    for conversation, found in units.items():
        alone = len(found.labels) == 1
        for position, name in enumerate(found.names):
            row: list[Any] = [conversation, name]
            for who in people:
                label = found.labels[who][position] if who in found.labels else None
                why = excluded.get(who, {}).get(conversation, "not assigned")
                row += [label, _use(who in found.labels, label, alone, why)]
            yield row


def _use(has_answered: bool, label: Any, alone: bool, why: str) -> str:
    if not has_answered:
        return f"excluded: {why}"
    if label is None:
        return "excluded: no such requirement"
    return "excluded: nobody else submitted it" if alone else "used"


def _name(found: Round, layer: str, is_wide: bool) -> str:
    parts = [found.project.slug, f"round-{found.number}"]
    if len(found.project.layers) > 1:
        parts.append(layer)
    return "-".join([*parts, "ratings", *(["wide"] if is_wide else [])])
