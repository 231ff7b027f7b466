"""Where people rate answers as a judge does, and are told neither who wrote them nor its scores."""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from evaluation import adapters
from evaluation.layers import gold_layer
from evaluation.models import Answer, AnswerPanel, AnswerRating, Kind
from evaluation.services import answer_ratings as service
from evaluation.services import certificates
from evaluation.services.answer_ratings import HIGHEST, Place
from evaluation.services.answers import shown
from evaluation.views.run import get_run
from labeling.domain.errors import RuleError
from labeling.domain.keys import ANSWER_RATING_KEYS
from labeling.domain.numbers import whole_number
from labeling.models import Conversation
from labeling.services import blindness
from labeling.translation import lazy, translated, translated_tree
from labeling.views import access

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


class Entry(NamedTuple):
    """One thing to rate; the first of an answer on the page brings the answer along."""

    place: Place
    title: str
    scale: str
    rating: AnswerRating | None
    answer: dict[str, Any] | None


@require_GET
def answer_rating(request: HttpRequest, code: UUID) -> HttpResponse:
    panel = _panel(request, code)
    places = service.places(panel)
    own = _own(panel, request.user)
    after = _after(request, places, own)
    page = places[after : after + PAGE]
    context = {
        **_progress(panel, places, own),
        "entries": _entries(page, own),
        "points": range(HIGHEST + 1),
        "after": after + PAGE if after + PAGE < len(places) else None,
        "before": max(after - PAGE, 0) if after else None,
        "size": PAGE,
        "keys": translated_tree([key._asdict() for key in ANSWER_RATING_KEYS]),
    }
    return render(request, "evaluation/answer_rating.html", context)


@require_POST
def answer_rating_store(request: HttpRequest, code: UUID, number: int) -> HttpResponse:
    """One rating; an empty score takes it back."""
    panel = _panel(request, code)
    places = service.places(panel)
    if not 1 <= number <= len(places):
        raise Http404
    place = places[number - 1]
    before = _own(panel, request.user).get((place.answer, place.kind))
    score, note = request.POST.get("score", ""), request.POST.get("note", "")
    given = whole_number(score) if score else None
    try:
        if score and given is None:
            raise service.AnswerRatingRefused("A rating of an answer is a whole number.")
        service.rate(panel, place.answer, place.kind, rater=request.user, score=given, note=note)
    except RuleError as error:
        return _refused(request, panel, translated(error.message))
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{panel.get_absolute_url()}?after={(number - 1) // PAGE * PAGE}")
    own = _own(panel, request.user)
    context = {
        **_progress(panel, places, own),
        "entry": _entry(place, own, None),
        "points": range(HIGHEST + 1),
        "swapped": True,
        "undo": request.POST.get("undo") != "1",
        "before_score": before.score if before else "",
        "before_note": before.note if before else "",
    }
    return render(request, "evaluation/_answer_rated.html", context)


@require_GET
def run_answer_ratings(request: HttpRequest, pk: int) -> HttpResponse:
    """The rating as those see it who run it: its link, who rates, and how far they are."""
    run = get_run(request, pk)
    panel = AnswerPanel.objects.filter(run=run).select_related("run__release").first()
    invited = set(panel.invited.values_list("pk", flat=True)) if panel else set()
    people = service.invitable(panel) if panel else []
    context = {
        "run": run,
        "panel": panel,
        "problem": service.why_not_ratable(run),
        "may_write": access.leads(request.user, run.release.project),
        "raters": service.raters(panel) if panel else [],
        "people": [{"user": one, "invited": one.pk in invited} for one in people],
        "needed": certificates.requirements().rated,
    }
    return render(request, "evaluation/run_answer_ratings.html", context)


@require_POST
def run_answer_ratings_change(request: HttpRequest, pk: int) -> HttpResponse:
    run = get_run(request, pk)
    if not access.leads(request.user, run.release.project):
        raise PermissionDenied(_("Only a lead of the project may change its ratings."))
    panel = AnswerPanel.objects.filter(run=run).select_related("run__release__project").first()
    try:
        if request.POST.get("action") == "invite" and panel:
            service.invite(panel, request.POST.getlist("judge"), by=request.user)
            messages.success(request, _("The invitations are stored."))
        else:
            service.open_panel(run, by=request.user)
            messages.success(request, _("The rating is open: pass its link on to the raters."))
    except RuleError as error:
        messages.error(request, translated(error.message))
    return redirect("run-answer-ratings", run.pk)


def _panel(request: HttpRequest, code: UUID) -> AnswerPanel:
    panels = AnswerPanel.objects.to_rate_by(request.user).select_related("run__release__project")
    panel: AnswerPanel = get_object_or_404(panels.defer("run__config"), code=code)
    rated = Conversation.objects.filter(gold_items__case_runs__run=panel.run_id)
    blindness.refuse(request.user, rated)
    return panel


def _own(panel: AnswerPanel, user: Any) -> dict[tuple[int, str], AnswerRating]:
    return {(one.answer_id, one.kind): one for one in service.ratings_of(panel).filter(rater=user)}


def _after(
    request: HttpRequest, places: list[Place], own: dict[tuple[int, str], AnswerRating]
) -> int:
    """Where the page starts: as asked for, else with what is not rated yet."""
    asked = request.GET.get("after")
    if asked is not None:
        return min(whole_number(asked) or 0, len(places))
    left = (place.number for place in places if (place.answer, place.kind) not in own)
    return (next(left, 1) - 1) // PAGE * PAGE


def _progress(
    panel: AnswerPanel, places: list[Place], own: dict[tuple[int, str], AnswerRating]
) -> dict[str, Any]:
    return {"panel": panel, "mine": len(own), "all": len(places)}


def _entries(page: list[Place], own: dict[tuple[int, str], AnswerRating]) -> list[Entry]:
    rows = Answer.objects.filter(pk__in={place.answer for place in page})
    related = rows.select_related("case__item", "case__run__release")
    answers = {one.pk: one for one in related.defer("case__item__canonical")}
    found: list[Entry] = []
    for place in page:
        heads = not found or found[-1].place.answer != place.answer
        found.append(_entry(place, own, answers[place.answer] if heads else None))
    return found


def _entry(place: Place, own: dict[tuple[int, str], AnswerRating], answer: Answer | None) -> Entry:
    return Entry(
        place,
        str(Kind(place.kind).label),
        SCALES[place.kind],
        own.get((place.answer, place.kind)),
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


def _refused(request: HttpRequest, panel: AnswerPanel, sentence: str) -> HttpResponse:
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponse(sentence, status=400, content_type="text/plain; charset=utf-8")
    messages.error(request, sentence)
    return redirect(panel)
