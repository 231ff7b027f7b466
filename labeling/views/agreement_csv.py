"""The ratings behind the figures as files, so that anyone can compute them anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.views.decorators.http import require_GET

from labeling.domain.units import Units
from labeling.models import Round
from labeling.services import agreement as service
from labeling.services.vectors import RulerNeeded, stored_ruler
from labeling.views import access
from labeling.views.agreement import Asked, asked_of, refuse_blind, round_of
from labeling.views.csv_files import csv_file
from labeling.words import in_english


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
        return HttpResponse(
            in_english(error.fact), status=409, content_type="text/plain; charset=utf-8"
        )
    is_wide = request.GET.get("shape") == "wide"
    rows = (
        wide_rows(units, service.excluded_answers(found, asked.selection), _why_missing(asked))
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
    units: Mapping[str, Units], excluded: Mapping[str, Mapping[str, str]], missing: str
) -> Iterator[list[Any]]:
    """Beside each annotator's label whether it was used, or why not."""
    people = sorted({who for found in units.values() for who in found.labels} | excluded.keys())
    yield ["item", "unit", *(column for who in people for column in (who, f"{who}_use"))]
    for conversation, found in units.items():
        for position, name in enumerate(found.names):
            alone = _alone([labels[position] for labels in found.labels.values()])
            row: list[Any] = [conversation, name]
            for who in people:
                label = found.labels[who][position] if who in found.labels else None
                why = excluded.get(who, {}).get(conversation, "not assigned")
                if who in found.labels:
                    why = missing if label is None else alone
                row += [label, f"excluded: {why}" if why else "used"]
            yield row


def _alone(labels: Sequence[Any]) -> str:
    """Why a label is compared with no other; empty where it is."""
    if len(labels) == 1:
        return "nobody else submitted it"
    return "nobody else judged it" if len(labels) - labels.count(None) == 1 else ""


def _why_missing(asked: Asked) -> str:
    if asked.selection.origin == "typed":
        return "labelled through a suggestion"
    return "not rated, or no such label" if asked.layer == "relevance" else "no such requirement"


def _name(found: Round, layer: str, is_wide: bool) -> str:
    parts = [found.project.slug, f"round-{found.number}"]
    if len(found.project.layers) > 1:
        parts.append(layer)
    return "-".join([*parts, "ratings", *(["wide"] if is_wide else [])])
