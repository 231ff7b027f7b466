"""Where people rate answers as a judge does, blind to who wrote them and to its scores."""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from evaluation import adapters
from evaluation.layers import gold_layer
from evaluation.models import Answer, AnswerPanel, AnswerRating, Kind
from evaluation.services.judging import answer_ratings as service
from evaluation.services.judging.answer_ratings import HIGHEST, Place
from evaluation.services.judging.answers import shown
from evaluation.views import ratings as sheets
from labeling.domain.errors import RuleError
from labeling.domain.keys import ANSWER_RATING_KEYS
from labeling.models import GoldRelease
from labeling.translation import lazy, translated_keys
from labeling.views.access import refused

PAGE = 20
SCALES = {
    "faithfulness": lazy(
        "How far do the messages bear the answer out? 0: it contradicts or invents; 5: partly; "
        "10: every claim is in the messages."
    ),
    "relevance": lazy(
        "Is the answer about the question? 0: about something else; 5: vague; 10: it says what "
        "was asked for. It does not matter whether it is right."
    ),
    "completeness": lazy(
        "How much of the question does it answer? 0: nothing; 5: a part; 10: all of it."
    ),
    "correctness": lazy(
        "Does it say the same as the reference answer? 0: it contradicts it or says nothing; "
        "5: a part; 10: all of it and nothing wrong."
    ),
}

Own = dict[tuple[int, str], AnswerRating]
"""What one person has rated, by answer and kind."""


class Entry(NamedTuple):
    """One thing to rate; the first of an answer on the page brings the answer along."""

    number: int
    address: str
    title: str
    scale: str
    rating: AnswerRating | None
    closed: bool
    answer: dict[str, Any] | None


@require_GET
def answer_rating(request: HttpRequest, code: UUID) -> HttpResponse:
    panel = sheets.get_panel(request, AnswerPanel, code)
    places = service.places(panel)
    own = _own(panel, request.user)
    after = _after(request, places, own)
    page = places[after : after + PAGE]
    context = {
        **_progress(panel, places, own),
        **sheets.around(after, PAGE, len(places)),
        "title": _("Rating of answers {pk}").format(pk=panel.pk),
        "entries": _entries(panel, page, own),
        "points": range(HIGHEST + 1),
        "keys": translated_keys(ANSWER_RATING_KEYS),
    }
    return render(request, "evaluation/answer_rating.html", context)


@require_POST
def answer_rating_store(request: HttpRequest, code: UUID, number: int) -> HttpResponse:
    """One rating; an empty score takes it back."""
    panel = sheets.get_panel(request, AnswerPanel, code)
    places = service.places(panel)
    if not 1 <= number <= len(places):
        raise Http404
    place = places[number - 1]
    before = _own(panel, request.user).get((place.answer, place.kind))
    try:
        service.rate(place, rater=request.user, **sheets.posted(request))
    except RuleError as error:
        return refused(request, error, panel.get_absolute_url())
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{panel.get_absolute_url()}?after={(number - 1) // PAGE * PAGE}")
    own = _own(panel, request.user)
    context = {
        **_progress(panel, places, own),
        **sheets.swapped(request, before),
        "entry": _entry(panel, place, own, None),
        "points": range(HIGHEST + 1),
    }
    return render(request, "evaluation/_answer_rated.html", context)


def _own(panel: AnswerPanel, user: Any) -> Own:
    return {
        (rating.answer_id, rating.kind): rating
        for rating in service.ratings_of(panel).filter(rater=user)
    }


def _after(request: HttpRequest, places: list[Place], own: Own) -> int:
    """Where the page starts: as asked for, else with what is not rated yet."""
    asked = sheets.asked_after(request, len(places))
    if asked is not None:
        return asked
    left = (
        place.number
        for place in places
        if not place.closed and (place.answer, place.kind) not in own
    )
    return (next(left, 1) - 1) // PAGE * PAGE


def _progress(panel: AnswerPanel, places: list[Place], own: Own) -> dict[str, Any]:
    mine = sum((place.answer, place.kind) in own for place in places)
    still_open = sum(not place.closed for place in places)
    return {"panel": panel, "mine": mine, "all": len(places), "still_open": still_open}


def _entries(panel: AnswerPanel, page: list[Place], own: Own) -> list[Entry]:
    rows = Answer.objects.filter(pk__in={place.answer for place in page})
    related = rows.select_related("case__item", "case__run__release")
    documents = [f"case__run__release__{name}" for name in GoldRelease.DOCUMENTS]
    rated = related.defer("case__item__canonical", *documents)
    answers = {answer.pk: answer for answer in rated}
    # the first entry of an answer brings it along
    return [_entry(panel, place, own, answers.pop(place.answer, None)) for place in page]


def _entry(panel: AnswerPanel, place: Place, own: Own, answer: Answer | None) -> Entry:
    return Entry(
        place.number,
        reverse("answer-rating-store", args=[panel.code, place.number]),
        str(Kind(place.kind).label),
        SCALES[place.kind],
        own.get((place.answer, place.kind)),
        place.closed,
        _answer(answer) if answer else None,
    )


def _answer(answer: Answer) -> dict[str, Any]:
    layer = gold_layer(answer.case.run.release.layer)
    example = adapters.to_example(answer.case, layer)
    return {
        "text": answer.text,
        "question": layer.question(example.gold),
        "reference": example.gold[0].get("answer"),
        "messages": shown(answer.message_ids, example.messages),
    }
