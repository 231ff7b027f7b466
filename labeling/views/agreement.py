"""How far the annotators of a round agree, with everything that helps to judge the figure."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.core.exceptions import PermissionDenied
from django.db.models import Count, F, Q
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from labeling.domain.csv_cells import safe_row
from labeling.models import Project, Round
from labeling.services import agreement as service
from labeling.views import access
from labeling.views.gate import gates, statistic_words, verdict

SHOWN_CONVERSATIONS = 100
ANSWERED = Q(annotation__status__in=["submitted", "skipped"])


class Disagreement(NamedTuple):
    """One conversation: how many of its messages the annotators marked differently."""

    conversation: str
    pk: int
    domain: str
    annotators: int
    messages: int
    differing: int


class Cell(NamedTuple):
    """One field of the pair matrix; ``pair`` None on the diagonal."""

    pair: Mapping[str, Any] | None
    heat: str


@require_GET
def agreement(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    project = access.readable(request.user, slug)
    found = _round(project, number)
    context = {"project": project, "round": found, "gate": gates([project])[project.pk]}
    if is_blind(found):
        context["progress"] = _progress(found)
        return render(request, "labeling/agreement_blind.html", context)
    figures = found.agreement or service.of_round(found).as_json()
    disagreements = _disagreements(found)
    context |= {
        "figures": figures,
        "verdict": verdict(figures),
        "statistic": statistic_words(project),
        "matrix": matrix(figures["pairs"]),
        "measured": sum(one.annotators > 1 for one in disagreements),
        "disagreements": disagreements[:SHOWN_CONVERSATIONS],
        "more": max(0, len(disagreements) - SHOWN_CONVERSATIONS),
        "is_live": found.agreement is None,
    }
    return render(request, "labeling/agreement.html", context)


@require_GET
def agreement_csv(request: HttpRequest, slug: str, number: int) -> StreamingHttpResponse:
    """The ratings behind the figures, so that anyone can compute them anew."""
    project = access.readable(request.user, slug)
    found = _round(project, number)
    if is_blind(found):
        raise PermissionDenied("A calibration round is blind until its last answer is in.")
    name = f"{project.slug}-round-{found.number}-ratings.csv"
    return StreamingHttpResponse(
        _csv_lines(service.ratings(found)),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def is_blind(found: Round) -> bool:
    """While a calibration round is open nobody, not even a lead, sees what others labelled."""
    return found.kind == Round.Kind.CALIBRATION and found.state == Round.State.OPEN


def matrix(pairs: list[Mapping[str, Any]]) -> list[tuple[str, list[Cell]]]:
    """The pairs as a square: a row per annotator, a column per annotator."""
    people = sorted({person for pair in pairs for person in (pair["a"], pair["b"])})
    by_people = {frozenset((pair["a"], pair["b"])): pair for pair in pairs}
    return [
        (row, [_cell(by_people.get(frozenset((row, column)))) for column in people])
        for row in people
    ]


def _cell(pair: Mapping[str, Any] | None) -> Cell:
    if pair is None:
        return Cell(None, "self")
    return Cell(pair, (pair["band"] or "undefined").replace(" ", "-"))


def _round(project: Project, number: int) -> Round:
    rounds = Round.objects.filter(project=project).select_related("project", "guideline")
    return get_object_or_404(rounds.defer("guideline__body"), number=number)


def _progress(found: Round) -> list[dict[str, Any]]:
    """All that may be seen of a blind round: who has answered how much."""
    rows = (
        found.assignments.order_by("annotator__username")
        .values(username=F("annotator__username"))
        .annotate(n_assigned=Count("pk"), n_done=Count("pk", filter=ANSWERED))
    )
    return [dict(row) for row in rows]


def _disagreements(found: Round) -> list[Disagreement]:
    """The round's conversations, most disagreement first."""
    by_conversation: dict[str, list[list[int]]] = {}
    for given in service.ratings(found).values():
        for conversation, units in given.items():
            by_conversation.setdefault(conversation, []).append(units)
    places = found.places.values_list(
        "conversation__external_id", "conversation__pk", "conversation__domain"
    )
    rows = [
        Disagreement(name, pk, domain, *_differences(by_conversation[name]))
        for name, pk, domain in places
        if name in by_conversation
    ]
    return sorted(rows, key=lambda row: (-row.differing, row.conversation))


def _differences(rated: list[list[int]]) -> tuple[int, int, int]:
    """Annotators, messages, and messages that were not marked alike."""
    messages = list(zip(*rated, strict=True))
    return len(rated), len(messages), sum(len(set(units)) > 1 for units in messages)


class _Line:
    """A file that hands back what is written, so that csv can write into a stream."""

    def write(self, line: str) -> str:
        return line


def _csv_lines(ratings: service.Ratings) -> Iterator[str]:
    writer = csv.writer(_Line())
    yield writer.writerow(["item", "unit", "annotator", "label"])
    for annotator, given in ratings.items():
        for conversation, units in given.items():
            for unit, label in enumerate(units):
                yield writer.writerow(safe_row([conversation, unit, annotator, label]))
