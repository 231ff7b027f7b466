"""The discussion of a closed round: each message that was marked differently, and the outcome."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from labeling.agreement import discussed
from labeling.agreement import discussions as service
from labeling.agreement.discussed import labeled, stored_rows
from labeling.agreement.discussions import UnitPlace
from labeling.agreement.forms import DecisionForm, DisagreementFilter, RemarkForm
from labeling.agreement.measurements import NotMeasured
from labeling.agreement.rules.disagreements import Split
from labeling.agreement.views.discussion_entries import Disagreements, People, entry_of, lines_of
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


@require_GET
def disagreements(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    project, round_ = discussed.round_for(request.user, slug, number)
    context = _frame(request.user, project, round_)
    if round_.state == Round.State.OPEN or context["blind_again"]:
        return render(request, "labeling/disagreements_closed.html", context)
    people = People.of(round_, request.user)
    layer = _layer(project, request.GET.get("layer", ""))
    try:
        progress = service.progress_on(round_, layer)
    except NotMeasured:
        pending.request(project, measure=round_)
        context |= {"layer": LAYERS[layer], "preparing": True}
        return render(request, "labeling/disagreements.html", context)
    form = DisagreementFilter(request.GET)
    rows = stored_rows(round_, layer)
    at, first, after = (_place(request, name, layer) for name in ("at", "from", "after"))
    if first := first or (None if after else at):  # what begins the list
        after = first._replace(unit=first.unit - 1)
    shown, has_more = _page(round_, layer, form, rows, after)
    opened = _opened(round_, rows, shown, at)
    context |= {
        "layer": LAYERS[layer],
        "form": form,
        "lines": lines_of(shown, people),
        "progress": progress,
        "page": {"after": str(list(shown)[-1]) if has_more else None},
        "first": next(iter(shown), None),
        "size": PAGE,
        "keys": translated_keys(DISCUSSION_KEYS),
        "query": query_of(request, "at", "from"),
    }
    if opened:
        place, split = opened
        context |= _steps(round_, form, rows, place, shown) | {
            "entry": entry_of(round_, place, split, rows.get(place), people),
            "number": None if form.narrows else service.number_of(round_, place),
        }
    return render(request, "labeling/disagreements.html", context)


@require_POST
def disagreement_comment(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """For the lead and the annotators of the round."""
    round_ = discussed.joined_round(request.user, slug, number)
    form = RemarkForm(request.POST)
    if not form.is_valid():
        return refused(request, _("Write something first."), _address(round_))
    place, body = form.cleaned_data["place"], form.cleaned_data["body"]
    try:
        service.say(round_, place, body=body, by=request.user)  # type: ignore[arg-type]
    except RuleError as error:
        return refused(request, error, _address(round_))
    return _entry_page(request, round_.project, round_, place)


@require_POST
def disagreement_decide(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    round_ = discussed.led_round(request.user, slug, number)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return refused(request, _("Choose one of the outcomes."), _address(round_))
    place, decision = form.cleaned_data.pop("place"), form.cleaned_data
    try:
        service.decide(round_, place, by=request.user, **decision)  # type: ignore[arg-type]
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


def _blind_again(round_: Round, user: Any) -> Round | None:
    """A blind round says itself that it is."""
    return None if round_.is_blind else blindness.round_again(user, round_.conversations.all())


def _frame(user: Any, project: Project, round_: Round) -> dict[str, Any]:
    leads = access.leads(user, project)
    return {
        "project": project,
        "round": round_,
        "layers": [LAYERS[name] for name in project.layers],
        "by_message": [name for name in LAYERS if LAYERS[name].by_message],
        "reads": access.reads(user, project),
        "may_write": leads,
        "may_comment": leads or labeled(round_, user),
        "blind_again": _blind_again(round_, user),
        "outcomes": list(enumerate(Disagreement.Outcome.choices, start=1)),
    }


def _layer(project: Project, asked: str) -> str:
    return asked if asked in project.layers else str(project.layers[0])


def _page(
    round_: Round,
    layer: str,
    form: DisagreementFilter,
    rows: Mapping[UnitPlace, Disagreement],
    after: UnitPlace | None,
) -> tuple[dict[UnitPlace, tuple[Split, Disagreement | None]], bool]:
    """The disagreements behind ``after`` that fit the filter, and whether there are more."""
    fitting = (
        (place, (split, rows.get(place)))
        for place, split in service.walk(round_, layer, after=after)
        if form.fits(rows.get(place))
    )
    shown = dict(islice(fitting, PAGE))
    return shown, next(fitting, None) is not None


def _place(request: HttpRequest, name: str, layer: str) -> UnitPlace | None:
    place = UnitPlace.parse(request.GET.get(name, ""))
    return place if place and place.layer == layer else None


def _opened(
    round_: Round,
    rows: Mapping[UnitPlace, Disagreement],
    shown: Disagreements,
    at: UnitPlace | None,
) -> tuple[UnitPlace, Split] | None:
    """The one asked for, else the first of the list that is not decided, else its first."""
    if at and (split := service.split_at(round_, at)):
        return at, split
    undecided = (place for place in shown if not (place in rows and rows[place].outcome))
    place = next(undecided, next(iter(shown), None))
    return (place, shown[place][0]) if place else None


def _steps(
    round_: Round,
    form: DisagreementFilter,
    rows: Mapping[UnitPlace, Disagreement],
    place: UnitPlace,
    shown: Disagreements,
) -> dict[str, Any]:
    """The one before it in the list, and the nearest that fits the filter behind it."""
    listed = list(shown)
    at = listed.index(place) if place in shown else 0
    behind = service.walk(round_, place.layer, after=place)
    following = next((other for other, _ in behind if form.fits(rows.get(other))), None)
    return {"previous": listed[at - 1] if at else None, "next": following, "listed": shown.keys()}


def _entry_page(
    request: HttpRequest, project: Project, round_: Round, place: UnitPlace
) -> HttpResponse:
    """The entry alone for a script, otherwise a redirect to its place in the list."""
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{_address(round_)}?layer={place.layer}&at={place}#d-{place}")
    people = People.of(round_, request.user)
    split = service.split_at(round_, place)
    if split is None:
        raise Http404
    row = stored_rows(round_, place.layer).get(place)
    entry = entry_of(round_, place, split, row, people)
    progress = service.progress_on(round_, place.layer)
    context = _frame(request.user, project, round_)
    (line,) = lines_of({place: (split, row)}, people)
    context |= {"entry": entry, "line": line, "progress": progress, "swapped": True}
    return render(request, "labeling/_disagreement.html", context)


def _address(round_: Round) -> str:
    return reverse("disagreements", args=[round_.project.slug, round_.number])
