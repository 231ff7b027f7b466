"""How far the annotators of a round agree, with everything that helps to judge the figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from labeling.agreement import agreement as service
from labeling.agreement import conversations, measurements
from labeling.agreement.agreement import Selection
from labeling.agreement.differences import PairPage, page_of_pair
from labeling.agreement.measurements import NotMeasured
from labeling.agreement.ratings import ratings_file
from labeling.agreement.rules.disagreements import SplitCandidate
from labeling.agreement.views.compared import Compared, compare
from labeling.agreement.views.gate import gates, statistic_words, verdict
from labeling.conversations.views.labels import chosen
from labeling.core import access
from labeling.core.views.paging import query_of
from labeling.domain.errors import RuleError
from labeling.domain.numbers import whole_number
from labeling.models import Assignment, Project, Round
from labeling.schema import LAYERS, form_fields
from labeling.schema.layers import Judged
from labeling.translation import lazy as _
from labeling.words import in_english
from labeling.work import blindness
from labeling.work.round_counts import work_of_people

SHOWN_CONVERSATIONS = 100
SHOWN_EXCLUDED = 500
BLIND = _("A calibration round is blind until its last answer is in.")


class Cell(NamedTuple):
    """One field of the pair matrix; ``pair`` None on the diagonal."""

    pair: Mapping[str, Any] | None
    heat: str


class Asked(NamedTuple):
    """What the page was asked to show."""

    layer: str
    selection: Selection

    @property
    def title(self) -> str:
        return LAYERS[self.layer].title

    @property
    def unit_words(self) -> str:
        return LAYERS[self.layer].words.units

    @property
    def address(self) -> str:
        """The same as the end of an address."""
        part = self.selection.key
        return urlencode({"layer": self.layer}) + (f"&{part}" if part else "")


@require_GET
def agreement(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    project = access.readable(request.user, slug)
    round_ = round_of(project, number)
    context: dict[str, Any] = {
        "project": project,
        "round": round_,
        "gate": gates([project])[project.pk],
        "leads": access.leads(request.user, project),
    }
    if round_.is_blind:
        context["progress"] = work_of_people(round_)
        context["is_complete"] = all(
            row["answered"] == row["assigned"] for row in context["progress"]
        )
        if context["is_complete"]:
            measurements.ask(round_)
        return render(request, "labeling/agreement_blind.html", context)
    asked = asked_of(request, project)
    context |= _frame(round_, asked) | _figures(round_, asked)
    return render(request, "labeling/agreement.html", context)


@require_GET
def agreement_pair(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """What two annotators see differently, unit by unit."""
    project = access.readable(request.user, slug)
    round_ = round_of(project, number)
    refuse_blind(request.user, round_)
    asked = asked_of(request, project)
    a, b = request.GET.get("a", ""), request.GET.get("b", "")
    context: dict[str, Any] = {"project": project, "round": round_, "asked": asked, "a": a, "b": b}
    after = whole_number(request.GET.get("after", ""))
    try:
        shown = page_of_pair(round_, a, b, asked.layer, asked.selection, after=after)
    except NotMeasured:
        measurements.ask(round_, asked.layer, asked.selection)
        shown = PairPage([], [], None)
        context["is_waiting"] = True
    context["rows"] = [
        (pk, split, split.name or split.unit, split.labels[a], split.labels[b])
        for pk, split in shown.divided
    ]
    context["candidates"] = _candidates(round_, asked.layer, shown.perhaps_same, a, b)
    context["after"], context["query"] = shown.after, query_of(request)
    units = LAYERS[asked.layer].units
    context["rated"] = isinstance(units, Judged) and bool(units.value)
    context["by_message"] = LAYERS[asked.layer].by_message
    return render(request, "labeling/agreement_pair.html", context)


def asked_of(request: HttpRequest, project: Project) -> Asked:
    """What an address asks for; what a project does not have counts as not asked."""
    layer = request.GET.get("layer", "")
    label_type = request.GET.get("type", "")
    if layer not in project.layers:
        layer = service.first_layer(project)
    if label_type not in label_types(project, layer):
        label_type = ""
    origin = request.GET.get("origin", "")
    if origin not in service.ORIGINS:
        origin = ""
    return Asked(layer, Selection(label_type, origin))


def label_types(project: Project, layer: str) -> list[str]:
    name = LAYERS[layer].type_field
    fields = form_fields(layer, event_schema=project.event_schema)
    return [
        str(choice["value"])
        for field in fields
        if field["name"] == name
        for choice in field["choices"]
    ]


def _type_words(layer: str, label_type: str) -> str:
    return chosen(layer, LAYERS[layer].type_field, label_type) if label_type else ""


def round_of(project: Project, number: int) -> Round:
    rounds = Round.objects.filter(project=project).select_related("project", "guideline")
    return get_object_or_404(rounds.defer("guideline__body"), number=number)


def refuse_blind(user: Any, round_: Round) -> None:
    """Single ratings are seen by nobody in a blind round, and by nobody who labels them again."""
    if round_.is_blind:
        raise PermissionDenied(BLIND)
    blindness.refuse(user, round_.conversations.all())


def _frame(round_: Round, asked: Asked) -> dict[str, Any]:
    """What can be chosen on the page."""
    project = round_.project
    return {
        "asked": asked,
        "has_ratings": LAYERS[asked.layer].has_units,
        "layers": [LAYERS[name] for name in project.layers],
        "label_types": [
            (name, _type_words(asked.layer, name)) for name in label_types(project, asked.layer)
        ],
        "label_type": _type_words(asked.layer, asked.selection.label_type),
        "has_origins": service.is_assisted(round_),
        "rounds": list(project.rounds.values_list("number", flat=True)),
        "statistic": statistic_words(project),
    }


def _figures(round_: Round, asked: Asked) -> dict[str, Any]:
    """The figures as a worker measured them, and whether it has to do so again."""
    stored = round_.agreement or {}
    row = measurements.read(round_, asked.layer, asked.selection)
    figures = measurements.figures_of(round_, asked.layer, asked.selection)
    is_outdated = row is None or measurements.is_outdated(row)
    if is_outdated:
        measurements.ask(round_, asked.layer, asked.selection)
    context: dict[str, Any] = {
        "gate_figures": stored or None,
        "by_layer": [
            (LAYERS[name], verdict(figures), figures["passed"])
            for name, figures in stored.get("layers", {}).items()
        ],
        "records": row.records if row else None,
        "has_records": LAYERS[asked.layer].has_records,
        "measured_at": row.measured_at if row else None,
        "is_outdated": is_outdated,
        "is_waiting": figures is None,
        "measured": row.n_compared if row else 0,
    }
    if figures is None:
        return context
    has_units = LAYERS[asked.layer].has_units
    return context | {
        "figures": figures,
        "verdict": verdict(figures),
        "matrix": matrix(figures["pairs"]),
        "excluded": figures["excluded"][:SHOWN_EXCLUDED],
        "more_excluded": max(0, len(figures["excluded"]) - SHOWN_EXCLUDED),
        "disagreements": _disagreements(round_, asked) if row else [],
        "more": max(0, row.n_conversations - SHOWN_CONVERSATIONS) if row and has_units else 0,
    }


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


def _disagreements(round_: Round, asked: Asked) -> QuerySet[Any]:
    """The round's conversations, most disagreement first; none where there are no units."""
    rows = conversations.rows_of(round_, asked.layer, asked.selection).select_related(
        "conversation"
    )
    rows = rows.defer("marks", "units", "pairs", "splits")
    most = SHOWN_CONVERSATIONS if LAYERS[asked.layer].has_units else 0
    return rows.order_by("-n_differing", "conversation")[:most]


def _candidates(
    round_: Round, layer: str, likely: Sequence[tuple[int, SplitCandidate]], a: str, b: str
) -> list[tuple[int, str, list[Compared]]]:
    """Labels of the two that are perhaps the same, by key and name of the conversation."""
    here = {pk for pk, _ in likely}
    rows = Assignment.objects.filter(
        round=round_,
        conversation__in=here,
        annotator__username__in=[a, b],
        annotation__status="submitted",
    ).values_list("conversation", "annotator__username", "annotation__payload")
    payloads: dict[int, dict[str, Any]] = {pk: {} for pk in here}
    for pk, who, payload in rows:
        payloads[pk][who] = payload
    key, names = LAYERS[layer].key, round_.conversations.filter(pk__in=here).in_bulk()
    shown: dict[int, list[Compared]] = {}
    for pk, pair in likely:
        labels = {
            who: next(
                (one for one in payloads[pk].get(who, {}).get(key, []) if one["uid"] == uid), None
            )
            for who, uid in ((pair.a, pair.a_uid), (pair.b, pair.b_uid))
        }
        if all(labels.values()):  # or it has changed since
            shown.setdefault(pk, []).append(compare(layer, labels, payloads[pk]))
    return [(pk, names[pk].external_id, every) for pk, every in shown.items()]


# --- ratings as CSV -------------------------------------------------------------------------------


@require_GET
def agreement_csv(
    request: HttpRequest, slug: str, number: int
) -> StreamingHttpResponse | HttpResponse:
    project = access.readable(request.user, slug)
    round_ = round_of(project, number)
    refuse_blind(request.user, round_)
    asked = asked_of(request, project)
    try:
        return ratings_file(round_, asked.layer, asked.selection)
    except RuleError as error:
        return HttpResponse(
            in_english(error.fact), status=409, content_type="text/plain; charset=utf-8"
        )
