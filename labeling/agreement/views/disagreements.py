"""The discussion of a closed round: each message that was marked differently, and the outcome."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from labeling.agreement import discussed
from labeling.agreement import discussions as service
from labeling.agreement.discussed import Discussion, labeled
from labeling.agreement.discussions import UnitPlace
from labeling.agreement.measurements import NotMeasured
from labeling.agreement.views.discussion_entries import shown_of
from labeling.core import access
from labeling.core.views.access import refused
from labeling.core.views.paging import query_of
from labeling.domain.errors import RuleError
from labeling.jobs import pending
from labeling.models import Disagreement, Project, Round
from labeling.schema import LAYERS
from labeling.translation import translated_keys
from labeling.work import blindness
from labeling.work.rules.keys import DISCUSSION_KEYS

PAGE = 20
STATES = ("open", "decided")


class PlaceField(forms.CharField):
    """The place of a disagreement, as ``12-3``."""

    def clean(self, value: Any) -> UnitPlace:
        place = UnitPlace.parse(super().clean(value))
        if place is None:
            raise forms.ValidationError("", code="place")  # not shown: see `_done`
        return place


class RemarkForm(forms.Form):
    place = PlaceField()
    body = forms.CharField(max_length=5000)


class DecisionForm(forms.Form):
    """``outcome`` empty opens the disagreement again."""

    place = PlaceField()
    outcome = forms.ChoiceField(required=False, choices=Disagreement.Outcome.choices)
    note = forms.CharField(required=False, max_length=5000)


@require_GET
def disagreements(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    project, round_ = discussed.round_for(request.user, slug, number)
    context = _frame(request.user, project, round_)
    if round_.state == Round.State.OPEN or context["blind_again"]:
        return render(request, "labeling/disagreements_closed.html", context)
    at = UnitPlace.parse(request.GET.get("at", ""))
    asked = request.GET.get("layer", "") or (at.layer if at else "")
    layer = asked if asked in project.layers else str(project.layers[0])
    context["layer"] = LAYERS[layer]
    discussion = Discussion(round_, layer, request.user)
    try:
        context["progress"] = discussion.progress
    except NotMeasured:
        pending.request(project, measure=round_)
        return render(request, "labeling/disagreements.html", context | {"preparing": True})
    state = request.GET.get("state", "")
    context |= _list(discussion, at, state if state in STATES else "")
    context |= {"keys": translated_keys(DISCUSSION_KEYS), "query": query_of(request, "at")}
    return render(request, "labeling/disagreements.html", context)


def _list(discussion: Discussion, at: UnitPlace | None, state: str) -> dict[str, Any]:
    """One disagreement, without an address the first that is not decided; its page of the list."""
    listed = discussion.fitting(state)
    is_open = set(discussion.fitting("open"))
    first = next((place for place in listed if place in is_open), next(iter(listed), None))
    opened = at if at in discussion.found else first
    if opened is None:
        return {}
    behind = discussion.behind(opened, state)
    before = listed[: len(listed) - len(behind) - (opened in listed)]
    start = len(before) // PAGE * PAGE
    return shown_of(discussion.entry(opened)) | {
        "state": state,
        "lines": [discussion.entry(place) for place in listed[start : start + PAGE]],
        "page": {"after": next(iter(listed[start + PAGE :]), None)},
        "previous": before[-1] if before else None,
        "next": behind[0] if behind else None,
        "number": None if state else discussion.order[opened] + 1,
    }


@require_POST
def disagreement_comment(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """For the lead and the annotators of the round."""
    round_ = discussed.joined_round(request.user, slug, number)
    return _done(request, round_, RemarkForm, _("Write something first."), service.say)


@require_POST
def disagreement_decide(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    round_ = discussed.led_round(request.user, slug, number)
    return _done(request, round_, DecisionForm, _("Choose one of the outcomes."), service.decide)


def _done(
    request: HttpRequest,
    round_: Round,
    asked: type[forms.Form],
    wanted: str,
    do: Callable[..., object],
) -> HttpResponse:
    form = asked(request.POST)
    if not form.is_valid():
        return refused(request, wanted, _address(round_))
    place, said = form.cleaned_data.pop("place"), form.cleaned_data
    try:
        do(round_, place, by=request.user, **said)
    except RuleError as error:
        return refused(request, error, _address(round_))
    return _entry_page(request, round_.project, round_, place)


@require_POST
def disagreement_names(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Names or letters, for everybody who reads the discussion of this round."""
    round_ = discussed.led_round(request.user, slug, number)
    hidden = request.POST.get("hidden") == "1"
    service.hide_names(round_, hidden=hidden, by=request.user)  # type: ignore[arg-type]
    return redirect("disagreements", slug, number)


def _frame(user: Any, project: Project, round_: Round) -> dict[str, Any]:
    leads = access.leads(user, project)
    again = blindness.round_again(user, round_.conversations.all())
    return {
        "project": project,
        "round": round_,
        "layers": [LAYERS[name] for name in project.layers],
        "by_message": [name for name in LAYERS if LAYERS[name].by_message],
        "reads": access.reads(user, project),
        "may_write": leads,
        "may_comment": leads or labeled(round_, user),
        "blind_again": None if round_.is_blind else again,  # that says itself that it is
        "outcomes": list(enumerate(Disagreement.Outcome.choices, start=1)),
    }


def _entry_page(
    request: HttpRequest, project: Project, round_: Round, place: UnitPlace
) -> HttpResponse:
    """The entry alone for a script, otherwise a redirect to its place in the list."""
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{_address(round_)}?layer={place.layer}&at={place}#d-{place}")
    discussion = Discussion(round_, place.layer, request.user)
    entry = discussion.entry(place)
    context = _frame(request.user, project, round_) | shown_of(entry)
    context |= {"line": entry, "progress": discussion.progress, "swapped": True}
    return render(request, "labeling/_disagreement.html", context)


def _address(round_: Round) -> str:
    return reverse("disagreements", args=[round_.project.slug, round_.number])
