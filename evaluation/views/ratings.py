"""Where judges rate inferred requirements, blind to the pipeline that inferred them."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from evaluation.layers import gold_layer
from evaluation.models import AnswerPanel, AnswerRating, CaseRun, RatedLabel, Rating, RatingPanel
from evaluation.services import looks
from evaluation.services.judging import answer_ratings
from evaluation.services.run import ratings as service
from labeling.domain.errors import RuleError
from labeling.domain.gold.content import GoldMessage
from labeling.domain.keys import RATING_KEYS
from labeling.domain.numbers import whole_number
from labeling.domain.schema.labels import StoredLabel
from labeling.models import Conversation
from labeling.services import blindness
from labeling.translation import lazy as _
from labeling.translation import translated_keys
from labeling.views.access import refused
from labeling.views.paging import page_of

PAGE = 25
CHOICES = ((2, _("definitely needed")), (1, _("recommended")), (0, _("not needed")))
SHOWN = ("actor", "action", "condition", "acceptance_criteria", "triggered_by")
"""Of a predicted label. Not what the pipeline itself thinks that it is worth."""


class Entry(NamedTuple):
    """One label with what its judge says of it, and the case that it belongs to."""

    number: int
    address: str
    label: dict[str, Any]
    triggers: list[str]
    rating: Rating | None
    case: _Case
    heads: bool
    """Whether it is the first of its case on the page."""


class _Case(NamedTuple):
    name: str
    messages: list[GoldMessage]
    requirements: list[StoredLabel]


@require_GET
def rating_list(request: HttpRequest) -> HttpResponse:
    panels = RatingPanel.objects.to_rate_by(request.user)
    page = page_of(light(panels), order=["-pk"], after=request.GET.get("after"), anchors=panels)
    rated = service.rated_in(page.rows, request.user)
    rows = [{"panel": panel, "rated": rated.get(panel.run_id, 0)} for panel in page.rows]
    context = {"rows": rows, "page": page, "of_answers": _of_answers(request.user)}
    return render(request, "evaluation/ratings.html", context)


def _of_answers(user: Any) -> list[dict[str, Any]]:
    """The newest ratings of answers, which are never closed, and how much the user has rated."""
    panels = list(light(AnswerPanel.objects.to_rate_by(user))[:PAGE])
    rated = answer_ratings.rated_in(panels, user)
    return [{"panel": panel, "rated": rated.get(panel.run_id, 0)} for panel in panels]


@require_GET
def rating(request: HttpRequest, code: UUID) -> HttpResponse:
    panel = get_panel(request, RatingPanel, code)
    after = _after(panel, request)
    labels = list(_labels(panel).filter(number__gt=after)[:PAGE])
    context = {
        **_progress(panel, request.user),
        **around(after, PAGE, panel.n_labels),
        "title": _("Rating {pk}").format(pk=panel.pk),
        "entries": _entries(panel, labels, request.user),
        "choices": CHOICES,
        "keys": translated_keys(RATING_KEYS),
    }
    if context["sees_others"]:
        context |= {"judges": service.judges(panel), "pairs": service.agreement(panel)}
    return render(request, "evaluation/rating.html", context)


@require_POST
def rating_label(request: HttpRequest, code: UUID, number: int) -> HttpResponse:
    """One rating; an empty score takes it back."""
    panel = get_panel(request, RatingPanel, code)
    label = get_object_or_404(_labels(panel), number=number)
    before = _own([label], request.user).get((label.case_id, label.position))
    try:
        service.rate(panel, number, judge=request.user, **posted(request))
    except RuleError as error:
        return refused(request, error, panel.get_absolute_url())
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{panel.get_absolute_url()}?after={number - 1}")
    (entry,) = _entries(panel, [label], request.user)
    context = {
        **_progress(panel, request.user),
        **swapped(request, before),
        "entry": entry,
        "choices": CHOICES,
    }
    return render(request, "evaluation/_rated.html", context)


def _labels(panel: RatingPanel) -> QuerySet[RatedLabel]:
    return RatedLabel.objects.filter(panel=panel).order_by("number")


def _after(panel: RatingPanel, request: HttpRequest) -> int:
    """Where the page starts: as asked for, else with the first label that is not rated yet."""
    asked = asked_after(request, panel.n_labels)
    if asked is not None:
        return asked
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
    own = _own(labels, user)
    entries: list[Entry] = []
    for label in labels:
        case = shown[label.case_id]
        predicted = layer.predicted(cases[label.case_id].output)[label.position]
        entries.append(
            Entry(
                number=label.number,
                address=reverse("rating-label", args=[panel.code, label.number]),
                label={name: predicted.get(name) for name in ("title", *SHOWN)},
                triggers=_triggers(predicted, case),
                rating=own.get((label.case_id, label.position)),
                case=case,
                heads=not entries or entries[-1].case is not case,
            )
        )
    return entries


def _case(layer: Any, row: CaseRun) -> _Case:
    content = row.item.content
    return _Case(row.item.item_id, content["conversation"], layer.requirements(content) or [])


def _triggers(predicted: dict[str, Any], case: _Case) -> list[str]:
    """What it follows from, by title; a reference to nothing is left out."""
    titles = {
        str(requirement["uid"]): str(requirement.get("title") or requirement["uid"])
        for requirement in case.requirements
    }
    titles |= {
        str(requirement["id"]): titles[str(requirement["uid"])]
        for requirement in case.requirements
        if "id" in requirement
    }
    return [titles[uid] for uid in predicted.get("triggered_by") or [] if uid in titles]


def _own(labels: list[RatedLabel], user: Any) -> dict[tuple[int, int], Rating]:
    cases = {label.case_id for label in labels}
    mine = Rating.objects.filter(case__in=cases, judge=user)
    return {(rating.case_id, rating.position): rating for rating in mine}


# --- shared by both ratings -----------------------------------------------------------------------


NO_SCORE = -1

P = TypeVar("P", RatingPanel, AnswerPanel)


def light(panels: QuerySet[Any]) -> QuerySet[Any]:
    loaded = panels.select_related("run__release__project")
    return loaded.defer("run__spec", "run__config", "run__release__header")


def get_panel(request: HttpRequest, model: type[P], code: UUID) -> P:
    panel: P = get_object_or_404(light(model.objects.to_rate_by(request.user)), code=code)
    shown = Conversation.objects.filter(gold_items__case_runs__run=panel.run_id)
    blindness.refuse(request.user, shown)  # the page shows what was stated, too
    looks.require_of_readers(request.user, panel.run)
    return panel


def asked_after(request: HttpRequest, most: int) -> int | None:
    """Where the page starts if the address says so."""
    asked = request.GET.get("after")
    return None if asked is None else min(whole_number(asked) or 0, most)


def around(after: int, size: int, most: int) -> dict[str, int | None]:
    """Where the neighbouring pages start."""
    return {
        "size": size,
        "before": max(after - size, 0) if after else None,
        "after": after + size if after + size < most else None,
    }


def posted(request: HttpRequest) -> dict[str, Any]:
    """The score, ``None`` to take it back, and the note; anything but a number is refused."""
    score = request.POST.get("score", "")
    number = whole_number(score)
    value = NO_SCORE if number is None else number
    return {"score": value if score else None, "note": request.POST.get("note", "")}


def swapped(request: HttpRequest, before: Rating | AnswerRating | None) -> dict[str, Any]:
    """For the one entry that replaces the old one: how to take back what was just done."""
    return {
        "swapped": True,
        "undo": request.POST.get("undo") != "1",
        "before_score": before.score if before else "",
        "before_note": before.note if before else "",
    }
