"""Where judges rate inferred requirements, without being told which pipeline made them."""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from django.contrib import messages
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from evaluation.layers import gold_layer
from evaluation.models import AnswerPanel, CaseRun, RatedLabel, Rating, RatingPanel
from evaluation.services import answer_ratings
from evaluation.services import ratings as service
from labeling.domain.errors import RuleError
from labeling.domain.keys import RATING_KEYS
from labeling.domain.numbers import whole_number
from labeling.models import Conversation
from labeling.services import blindness
from labeling.translation import lazy as _
from labeling.translation import translated, translated_tree
from labeling.views.paging import page_of

PAGE = 25
CHOICES = ((2, _("definitely needed")), (1, _("recommended")), (0, _("not needed")))
SHOWN = ("actor", "action", "condition", "acceptance_criteria", "triggered_by")
"""Of a predicted label. Not what the pipeline itself thinks that it is worth."""


class Entry(NamedTuple):
    """One label with what its judge says of it, and the case that it belongs to."""

    number: int
    label: dict[str, Any]
    triggers: list[str]
    rating: Rating | None
    case: _Case
    heads: bool
    """Whether it is the first of its case on the page."""


class _Case(NamedTuple):
    name: str
    messages: list[dict[str, Any]]
    requirements: list[dict[str, Any]]


@require_GET
def rating_list(request: HttpRequest) -> HttpResponse:
    panels = RatingPanel.objects.to_rate_by(request.user)
    page = page_of(_light(panels), order=["-pk"], after=request.GET.get("after"), anchors=panels)
    rated = service.rated_in(page.rows, request.user)
    rows = [{"panel": panel, "rated": rated.get(panel.run_id, 0)} for panel in page.rows]
    context = {"rows": rows, "page": page, "of_answers": _of_answers(request.user)}
    return render(request, "evaluation/ratings.html", context)


def _of_answers(user: Any) -> list[dict[str, Any]]:
    """The newest ratings of answers, which are never closed, and how much the user has rated."""
    light = AnswerPanel.objects.to_rate_by(user).select_related("run__release__project")
    panels = list(light.defer("run__spec", "run__config", "run__release__header")[:PAGE])
    rated = answer_ratings.rated_in(panels, user)
    return [{"panel": panel, "rated": rated.get(panel.run_id, 0)} for panel in panels]


@require_GET
def rating(request: HttpRequest, code: UUID) -> HttpResponse:
    panel = _panel(request, code)
    after = _after(panel, request)
    labels = list(_labels(panel).filter(number__gt=after)[: PAGE + 1])
    context = {
        **_progress(panel, request.user),
        "entries": _entries(panel, labels[:PAGE], request.user),
        "choices": CHOICES,
        "page": {"after": labels[PAGE - 1].number if len(labels) > PAGE else None},
        "before": max(after - PAGE, 0) if after else None,
        "size": PAGE,
        "keys": translated_tree([key._asdict() for key in RATING_KEYS]),
    }
    if context["sees_others"]:
        context |= {"judges": service.judges(panel), "pairs": service.agreement(panel)}
    return render(request, "evaluation/rating.html", context)


@require_POST
def rating_label(request: HttpRequest, code: UUID, number: int) -> HttpResponse:
    """One rating; an empty score takes it back."""
    panel = _panel(request, code)
    label = get_object_or_404(_labels(panel), number=number)
    before = _own(panel, [label], request.user).get((label.case_id, label.position))
    score, note = request.POST.get("score", ""), request.POST.get("note", "")
    given = whole_number(score) if score else None
    try:
        if score and given is None:
            raise service.RatingRefused("A rating is 0, 1 or 2.")
        service.rate(panel, number, judge=request.user, score=given, note=note)
    except RuleError as error:
        return _refused(request, panel, translated(error.message))
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{panel.get_absolute_url()}?after={number - 1}")
    (entry,) = _entries(panel, [label], request.user)
    undo = request.POST.get("undo") != "1"
    context = {**_progress(panel, request.user), "entry": entry, "choices": CHOICES}
    context |= {"swapped": True, "undo": undo}
    context |= {
        "before_score": before.score if before else "",
        "before_note": before.note if before else "",
    }
    return render(request, "evaluation/_rated.html", context)


def _light(panels: QuerySet[RatingPanel]) -> QuerySet[RatingPanel]:
    loaded = panels.select_related("run__release__project")
    return loaded.defer("run__spec", "run__config", "run__release__header")


def _panel(request: HttpRequest, code: UUID) -> RatingPanel:
    panel = get_object_or_404(_light(RatingPanel.objects.to_rate_by(request.user)), code=code)
    shown = Conversation.objects.filter(gold_items__case_runs__run=panel.run_id)
    blindness.refuse(request.user, shown)  # what was stated stands beside what was inferred
    return panel


def _labels(panel: RatingPanel) -> QuerySet[RatedLabel]:
    return RatedLabel.objects.filter(panel=panel).order_by("number")


def _after(panel: RatingPanel, request: HttpRequest) -> int:
    """Where the page starts: as asked for, else with the first label that is not rated yet."""
    asked = request.GET.get("after")
    if asked is not None:
        return min(whole_number(asked) or 0, panel.n_labels)
    own = Rating.objects.filter(
        case=OuterRef("case"), position=OuterRef("position"), judge=request.user.pk
    )
    first = _labels(panel).filter(~Exists(own)).values_list("number", flat=True).first()
    return (first - 1) // PAGE * PAGE if first else 0


def _progress(panel: RatingPanel, user: Any) -> dict[str, Any]:
    mine = service.rated_by(panel, user)
    return {
        "panel": panel,
        "mine": mine,
        "left": panel.n_labels - mine,
        "sees_others": service.may_see_others(panel, mine),
    }


def _entries(panel: RatingPanel, labels: list[RatedLabel], user: Any) -> list[Entry]:
    layer = gold_layer(panel.run.release.layer)
    rows = CaseRun.objects.filter(pk__in={label.case_id for label in labels})
    cases = {row.pk: row for row in rows.select_related("item")}
    shown = {pk: _case(layer, row) for pk, row in cases.items()}
    own = _own(panel, labels, user)
    found: list[Entry] = []
    for label in labels:
        case = shown[label.case_id]
        predicted = layer.predicted(cases[label.case_id].output)[label.position]
        found.append(
            Entry(
                number=label.number,
                label={name: predicted.get(name) for name in ("title", *SHOWN)},
                triggers=_triggers(predicted, case),
                rating=own.get((label.case_id, label.position)),
                case=case,
                heads=not found or found[-1].case is not case,
            )
        )
    return found


def _case(layer: Any, row: CaseRun) -> _Case:
    content = row.item.content
    return _Case(row.item.item_id, content["conversation"], layer.requirements(content) or [])


def _triggers(predicted: dict[str, Any], case: _Case) -> list[str]:
    """What it follows from, by title; a reference to nothing is left out."""
    titles = {str(one["uid"]): str(one.get("title") or one["uid"]) for one in case.requirements}
    titles |= {str(one["id"]): titles[str(one["uid"])] for one in case.requirements if "id" in one}
    return [titles[uid] for uid in predicted.get("triggered_by") or [] if uid in titles]


def _own(panel: RatingPanel, labels: list[RatedLabel], user: Any) -> dict[tuple[int, int], Rating]:
    cases = {label.case_id for label in labels}
    mine = Rating.objects.filter(case__in=cases, judge=user)
    return {(one.case_id, one.position): one for one in mine}


def _refused(request: HttpRequest, panel: RatingPanel, sentence: str) -> HttpResponse:
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponse(sentence, status=400, content_type="text/plain; charset=utf-8")
    messages.error(request, sentence)
    return redirect(panel)
