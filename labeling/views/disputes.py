"""Disputes about gold: opened on a label, judged blind, decided where judges do not agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from labeling.domain.errors import RuleError
from labeling.domain.gold.disputes import blind
from labeling.domain.keys import DISPUTE_KEYS
from labeling.domain.schema import LAYERS
from labeling.domain.schema.labels import StoredLabel
from labeling.domain.targets import stages_of
from labeling.forms.disputes import DisputeForm, LabelForm, ReasonForm, VerdictForm, targets_of
from labeling.models import (
    Conversation,
    Dispute,
    DisputeReading,
    DisputeVerdict,
    GoldItem,
    Project,
)
from labeling.models.disputes import DisputeSource
from labeling.services import access, blindness
from labeling.services.gold import corrections, looks
from labeling.services.gold import disputes as service
from labeling.services.gold.disputes import Standing
from labeling.services.settling.corrections import side_of
from labeling.translation import lazy, translated_keys
from labeling.views.access import refused
from labeling.views.gold import release_of
from labeling.views.labels import Label, Turn, labels_of, turns
from labeling.views.paging import page_of
from labeling.words import words

AROUND = 8
"""Messages shown before and after those that a side cites."""

TABS = {"open": lazy("Open"), "settled": lazy("Settled")}
STATES = {
    "open": (lazy("waits for judges"), ""),
    "tied": (lazy("no majority: a lead decides"), "warn"),
    "kept": (lazy("gold stays"), ""),
    "corrected": (lazy("gold is corrected"), "ok"),
    "withdrawn": (lazy("withdrawn"), ""),
}


class DisputeRow(NamedTuple):
    standing: Standing
    state: str
    badge: str
    layer: str


class ShownVerdict(NamedTuple):
    reading: DisputeReading
    said: str
    label: list[Label]


SIDES = {
    "gold": lazy("gold is right"),
    "proposal": lazy("the proposal is right"),
    "both": lazy("both are defensible"),
    "neither": lazy("neither"),
}


@require_GET
def disputes(request: HttpRequest, slug: str) -> HttpResponse:
    """The queue. Of what the reader may still judge it shows no side, no reason and no origin."""
    project = access.readable(request.user, slug)
    tab = "settled" if request.GET.get("tab") == "settled" else "open"
    of_project = service.shown_to(Dispute.objects.of_project(project), request.user)  # type: ignore[arg-type]
    unsettled = of_project.unsettled()  # type: ignore[attr-defined]
    chosen = unsettled if tab == "open" else of_project.filter(outcome__isnull=False)
    page = page_of(
        service.with_verdicts(chosen).defer("item__canonical"),
        order=["pk" if tab == "open" else "-pk"],
        after=request.GET.get("after"),
        anchors=of_project,
    )
    standings = service.standings(project, page.rows, request.user)  # type: ignore[arg-type]
    context = {
        "project": project,
        "tab": tab,
        "tabs": [
            ("open", TABS["open"], unsettled.count()),
            ("settled", TABS["settled"], of_project.filter(outcome__isnull=False).count()),
        ],
        "page": page,
        "rows": [_row(standing) for standing in standings],
        "judges": project.dispute_judges,
        "may_judge": any(standing.why_not is None for standing in standings),
    }
    return render(request, "labeling/disputes.html", context)


def _row(standing: Standing) -> DisputeRow:
    title, badge = STATES[standing.state]
    return DisputeRow(standing, title, badge, LAYERS[standing.dispute.layer].title)


@require_GET
def dispute_next(request: HttpRequest, slug: str) -> HttpResponse:
    """The oldest that the reader may judge, behind the one just judged; or the queue."""
    project = access.readable(request.user, slug)
    of_project = service.shown_to(Dispute.objects.of_project(project), request.user)  # type: ignore[arg-type]
    unsettled = of_project.unsettled().exclude(opened_by=request.user)  # type: ignore[attr-defined]
    unjudged = unsettled.exclude(readings__judge=request.user, readings__verdict__isnull=False)
    rows = list(service.with_verdicts(unjudged).defer("item__canonical").order_by("pk")[:200])
    for standing in service.standings(project, rows, request.user):  # type: ignore[arg-type]
        if standing.why_not is None:
            return redirect("dispute-judge", project.slug, standing.dispute.pk)
    messages.info(request, _("No dispute is left for you to judge."))
    return redirect("disputes", project.slug)


@require_GET
def dispute(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Everything about one dispute, for those who must not judge it any more."""
    row, standing = _find(request, slug, pk)
    if not standing.may_see_sides:
        return redirect("dispute-judge", slug, pk)
    judged = row.readings.filter(judge=request.user.pk, verdict__isnull=False)
    if not judged.exists():  # who judged has read it at work
        looks.require_item(request.user, row.item)
    return _detail(request, row, standing)


@require_http_methods(["GET", "POST"])
def dispute_judge(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Two labels, A and B, with the conversation. Nothing says which of them is in gold."""
    row, standing = _find(request, slug, pk)
    if standing.why_not is not None:
        if request.method == "POST":
            return refused(request, words(standing.why_not), row.get_absolute_url())
        return redirect("dispute", slug, pk)
    reading = service.reading_of(row, request.user)  # type: ignore[arg-type]
    sides = _sides(row, reading)
    form = VerdictForm(request.POST or None)
    first = sides[0] or sides[1]
    start = blind(row.layer, first) if first else None
    own = _label_form(row.item, row.layer, start, request.POST or None)
    if request.method == "POST" and form.is_valid():
        wants_own = form.cleaned_data["choice"] == DisputeVerdict.Choice.NEITHER
        is_none = form.cleaned_data["own"] == "none"
        if not wants_own or is_none or own.is_valid():
            try:
                service.judge(
                    reading,
                    choice=form.cleaned_data["choice"],
                    reason=form.cleaned_data["reason"],
                    label=own.value() if wants_own and not is_none else None,
                )
            except RuleError as error:
                form.add_error(None, words(error.fact))
            else:
                messages.success(request, _("Verdict stored."))
                return redirect("dispute-next", slug)
    context = {
        "project": row.item.release.project,
        "dispute": row,
        "form": form,
        "own": own,
        **_beside(request, row.item, row.layer, {"A": sides[0], "B": sides[1]}),
        "keys": translated_keys(DISPUTE_KEYS),
    }
    status = 400 if request.method == "POST" else 200
    return render(request, "labeling/dispute_judge.html", context, status=status)


@require_POST
def dispute_decide(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """A lead breaks a tie."""
    access.led(request.user, slug)
    row, _standing = _find(request, slug, pk)
    form = ReasonForm(request.POST)
    reason = form.cleaned_data["reason"] if form.is_valid() else ""
    accept = request.POST.get("accept") == "1"
    try:
        service.break_tie(row, accept=accept, reason=reason, by=request.user)  # type: ignore[arg-type]
    except RuleError as error:
        return refused(request, error, row.get_absolute_url())
    messages.success(request, _("Decided."))
    return redirect(row)


@require_POST
def dispute_withdraw(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    row, _standing = _find(request, slug, pk)
    form = ReasonForm(request.POST)
    reason = form.cleaned_data["reason"] if form.is_valid() else ""
    try:
        service.withdraw(row, reason=reason, by=request.user)  # type: ignore[arg-type]
    except RuleError as error:
        return refused(request, error, reverse("disputes", args=[slug]))
    messages.success(request, _("Withdrawn."))
    return redirect("disputes", slug)


@require_http_methods(["GET", "POST"])
def dispute_new(
    request: HttpRequest, slug: str, name: str, version: int, item_id: str
) -> HttpResponse:
    """“The gold looks wrong”: a label, by ``layer`` and ``label``, or a missing one."""
    release = release_of(request.user, slug, name, version)
    item = get_object_or_404(release.items.select_related("release__project"), item_id=item_id)
    looks.require_item(request.user, item)
    layers = stages_of(release.layer)
    layer = request.GET.get("layer") or layers[0]
    if layer not in layers:
        raise Http404
    return opening_page(
        request, item, layer, request.GET.get("label", ""), origin=Dispute.Origin.READER
    )


def opening_page(
    request: HttpRequest,
    item: GoldItem,
    layer: str,
    uid: str,
    *,
    proposal: StoredLabel | None = None,
    reason: str = "",
    origin: str,
    source: DisputeSource | None = None,
    back: tuple[str, str] | None = None,
) -> HttpResponse:
    """The form of a new dispute; ``proposal`` fills it in where something is known to propose.

    ``back`` is the address and the name of the page that led here.
    """
    blindness.refuse(request.user, Conversation.objects.filter(pk=item.conversation_id))
    gold = service.label_of(item.content, layer, uid) if uid else None
    if uid and gold is None:
        raise Http404
    form = DisputeForm(is_missing=gold is None, data=request.POST or None)
    form.fields["reason"].initial = reason
    label = _label_form(item, layer, proposal or gold, request.POST or None)
    if request.method == "POST" and form.is_valid():
        is_removed = form.cleaned_data["wish"] == "remove"
        if is_removed or label.is_valid():
            try:
                opened = service.open_dispute(
                    item=item,
                    layer=layer,
                    uid=uid,
                    proposal=None if is_removed else label.value(),
                    reason=form.cleaned_data["reason"],
                    by=request.user,  # type: ignore[arg-type]
                    origin=origin,
                    source=source,
                )
            except RuleError as error:
                form.add_error(None, words(error.fact))
            else:
                messages.success(request, _("Dispute opened: somebody else judges it blind."))
                return redirect(opened)
    context = {
        "project": item.release.project,
        "release": item.release,
        "item": item,
        "layer": LAYERS[layer],
        "form": form,
        "label_form": label,
        "back": back,
        **_beside(request, item, layer, {_("Gold"): gold, _("Proposal"): proposal}),
    }
    status = 400 if request.method == "POST" else 200
    return render(request, "labeling/dispute_new.html", context, status=status)


@require_POST
def gold_corrections(request: HttpRequest, slug: str, name: str, version: int) -> HttpResponse:
    """Freeze the next version of gold from elsewhere, with what was decided."""
    access.led(request.user, slug)
    release = release_of(request.user, slug, name, version)
    try:
        frozen = corrections.freeze_corrections(
            release,
            message=request.POST.get("message", "")[:2000].strip(),
            by=request.user,  # type: ignore[arg-type]
        )
    except RuleError as error:
        return refused(request, error, release.get_absolute_url())
    messages.success(request, _("{release} is frozen.").format(release=frozen))
    return redirect(frozen)


# --- what a page shows ----------------------------------------------------------------------------


def _find(request: HttpRequest, slug: str, pk: int) -> tuple[Dispute, Standing]:
    project = access.readable(request.user, slug)
    of_project = Dispute.objects.of_project(project).visible_to(request.user)
    row = get_object_or_404(service.with_verdicts(of_project), pk=pk)
    blindness.refuse(request.user, Conversation.objects.filter(pk=row.conversation_id))
    (standing,) = service.standings(project, [row], request.user)  # type: ignore[arg-type]
    return row, standing


def _detail(request: HttpRequest, row: Dispute, standing: Standing) -> HttpResponse:
    project: Project = row.item.release.project
    title, badge = STATES[standing.state]
    gold = service.label_of(row.item.content, row.layer, row.label_uid)
    readings: list[DisputeReading] = row.verdicts  # type: ignore[attr-defined]
    leads = access.leads(request.user, project)
    is_owner = row.opened_by_id == request.user.pk
    context = {
        "project": project,
        "dispute": row,
        "standing": standing,
        "state": title,
        "badge": badge,
        # judges who are still to come must not be led by those before them
        "verdicts": [
            ShownVerdict(
                reading, SIDES[side_of(reading)], _shown(row.item, row.layer, reading.verdict.label)
            )
            for reading in readings
        ]
        if not standing.is_open or standing.state == "tied"
        else [],
        "may_decide": leads and standing.state == "tied" and not is_owner,
        "may_withdraw": standing.is_open and (leads or is_owner),
        "judges": project.dispute_judges,
        **_beside(request, row.item, row.layer, {_("Gold"): gold, _("Proposal"): row.proposal}),
    }
    return render(request, "labeling/dispute.html", context)


def _sides(row: Dispute, reading: DisputeReading) -> tuple[StoredLabel | None, StoredLabel | None]:
    gold = service.label_of(row.item.content, row.layer, row.label_uid)
    return (gold, row.proposal) if reading.gold_is_a else (row.proposal, gold)


class ShownSide(NamedTuple):
    letter: str
    label: list[Label]
    """One, or none where that side says that no label should be here."""


class ShownTurn(NamedTuple):
    turn: Turn
    skipped: int
    """Messages left out before it."""
    letters: list[str]


def _shown(item: GoldItem, layer: str, label: StoredLabel | None, at: str = "own") -> list[Label]:
    """As a reader of gold sees it, without what tells gold from a proposal."""
    if label is None:
        return []
    content = item.content
    alone = {LAYERS[layer].key: [blind(layer, label)]}
    known = {**content.get("given", {}), **content["gold"], **alone}
    return labels_of(known, [layer], prefix=at)


def _beside(
    request: HttpRequest, item: GoldItem, layer: str, labels: Mapping[str, StoredLabel | None]
) -> dict[str, Any]:
    """Both sides, and the messages around what they cite, or all of them if asked for."""
    sides = [
        ShownSide(letter, _shown(item, layer, label, f"side{number}"))
        for number, (letter, label) in enumerate(labels.items())
    ]
    shown = turns(item.content["conversation"], [side.label for side in sides])
    cited = [turn.number for turn in shown if any(turn.marks)]
    everything = request.GET.get("all") == "1" or not cited
    rows: list[ShownTurn] = []
    skipped = 0
    for turn in shown:
        if everything or any(abs(turn.number - number) <= AROUND for number in cited):
            letters = [side.letter for side, marks in zip(sides, turn.marks, strict=True) if marks]
            rows.append(ShownTurn(turn, skipped, letters))
            skipped = 0
        else:
            skipped += 1
    asked = {**{key: value for key, value in request.GET.items() if key != "all"}, "all": "1"}
    return {
        "sides": sides,
        "turns": rows,
        "skipped": skipped,
        "everything": None if len(rows) == len(shown) else urlencode(asked),
    }


def _label_form(item: GoldItem, layer: str, label: StoredLabel | None, data: Any) -> LabelForm:
    content = item.content
    return LabelForm(
        layer,
        data,
        label=label,
        targets=targets_of(layer, {**content.get("given", {}), **content["gold"]}),
        event_schema=item.release.project.event_schema,
    )
