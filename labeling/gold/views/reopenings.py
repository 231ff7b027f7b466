"""Gold that looks wrong: reopened with a reason."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from labeling.agreement.matching.merging import plain
from labeling.conversations.views.labels import Label, labels_of
from labeling.core import access
from labeling.core.views.access import refused
from labeling.core.views.paging import page_of
from labeling.domain.errors import RuleError
from labeling.gold import corrections, looks
from labeling.gold import reopenings as service
from labeling.gold.models.reopenings import ReopeningSource
from labeling.gold.rules.corrections import changes
from labeling.gold.views.gold import release_of
from labeling.models import Conversation, GoldItem, Reopening
from labeling.schema import LAYERS
from labeling.schema.labels import StoredLabel
from labeling.schema.targets import stages_of
from labeling.words import words
from labeling.work import blindness

State = Reopening.State
BADGES = {State.ASKED: "warn", State.OPEN: "warn", State.CORRECTED: "ok"}


class DoubtForm(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("Who decides does not see it before."),
    )
    propose = forms.BooleanField(
        label=gettext_lazy("Propose what was returned"), required=False, initial=True
    )


@require_GET
def reopenings(request: HttpRequest, slug: str) -> HttpResponse:
    """Who doubted what, and how it stands; of what may still be decided, no reason and no side."""
    project = access.readable(request.user, slug)
    visible = Reopening.objects.of_project(project).visible_to(request.user)
    shown = visible.exclude(item__conversation__in=blindness.again(request.user))
    tab = "settled" if request.GET.get("tab") == "settled" else "open"
    chosen = shown.unsettled() if tab == "open" else shown.settled()
    page = page_of(
        chosen.select_related("item__release__project").defer("item__canonical"),
        order=["pk" if tab == "open" else "-pk"],
        after=request.GET.get("after"),
        anchors=shown,
    )
    context = {
        "project": project,
        "tab": tab,
        "page": page,
        "rows": [(row, LAYERS[row.layer].title, BADGES.get(row.state)) for row in page.rows],
    }
    return render(request, "labeling/reopenings.html", context)


@require_http_methods(["GET", "POST"])
def reopening(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One doubt, for those who do not decide about it any more; withdrawing it is posted here."""
    project = access.readable(request.user, slug)
    of_project = Reopening.objects.of_project(project).visible_to(request.user)
    people = ("item__release__project", "asked_by", "answered_by", "decision__decided_by")
    row = get_object_or_404(of_project.select_related(*people), pk=pk)
    blindness.refuse(request.user, Conversation.objects.filter(pk=row.item.conversation_id))
    if request.method == "POST":
        return _withdrawn(request, row)
    leads, is_own = access.leads(request.user, project), row.asked_by_id == request.user.pk
    if not row.is_settled:
        desk = service.desk(row.item.conversation, row.layer, request.user)
        if desk and not service.refusal(desk, request.user):  # type: ignore[arg-type]
            address = reverse("adjudicate", args=[row.item.conversation_id])
            return redirect(f"{address}?layer={row.layer}")
    looks.require_item(request.user, row.item)
    context = {
        "project": project,
        "reopening": row,
        "layer": LAYERS[row.layer],
        "badge": BADGES.get(row.state),  # type: ignore[call-overload]
        "may_withdraw": not row.is_settled and (leads or is_own),
        "changes": _changes(row),
    }
    return render(request, "labeling/reopening.html", context)


def _withdrawn(request: HttpRequest, row: Reopening) -> HttpResponse:
    reason = request.POST.get("reason", "")[:5000]
    try:
        service.withdraw(row, reason=reason, by=request.user)  # type: ignore[arg-type]
    except RuleError as error:
        return refused(request, error, row.get_absolute_url())
    messages.success(request, row.get_state_display().capitalize() + ".")
    return redirect("reopenings", row.item.release.project.slug)


def _changes(row: Reopening) -> list[tuple[list[Label], list[Label]]]:
    """What was decided, or else what is doubted and proposed: each label before and after."""
    if row.decision:
        decided = row.decision.payload.get(LAYERS[row.layer].key, [])
        gold = service.labels_in(row.item, row.layer)
        sides = changes(gold, [plain(label) for label in decided])
    else:
        doubted = service.label_of(row.item, row.layer, row.label_uid) if row.label_uid else None
        sides = [(doubted, row.proposal)] if doubted or row.proposal else []
    return [(_shown(row.item, row.layer, a), _shown(row.item, row.layer, b)) for a, b in sides]


def _shown(item: GoldItem, layer: str, label: StoredLabel | None) -> list[Label]:
    if label is None:
        return []
    content = item.content
    known = {**content.get("given", {}), **content["gold"], LAYERS[layer].key: [label]}
    return labels_of(known, [layer], prefix="side")


@require_http_methods(["GET", "POST"])
def reopening_new(
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
    return doubting_page(request, item, layer, request.GET.get("label", ""))


def doubting_page(
    request: HttpRequest,
    item: GoldItem,
    layer: str,
    uid: str,
    *,
    proposal: StoredLabel | None = None,
    source: ReopeningSource | None = None,
    back: tuple[str, str] | None = None,
) -> HttpResponse:
    """The form of a doubt. ``back`` is the address and the name of the page that led here."""
    blindness.refuse(request.user, Conversation.objects.filter(pk=item.conversation_id))
    gold = service.label_of(item, layer, uid) if uid else None
    if uid and gold is None:
        raise Http404
    form = DoubtForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            opened = service.ask(
                item=item,
                layer=layer,
                uid=uid,
                proposal=proposal if form.cleaned_data["propose"] else None,
                reason=form.cleaned_data["reason"],
                by=request.user,  # type: ignore[arg-type]
                source=source,
            )
        except RuleError as error:
            form.add_error(None, words(error.fact))
        else:
            messages.success(request, _("Noted. Somebody who does not know it decides."))
            return redirect(opened)
    if proposal is None:
        del form.fields["propose"]
    context: dict[str, Any] = {
        "project": item.release.project,
        "release": item.release,
        "item": item,
        "layer": LAYERS[layer],
        "form": form,
        "back": back,
        "gold": _shown(item, layer, gold),
        "proposal": _shown(item, layer, proposal),
    }
    status = 400 if request.method == "POST" else 200
    return render(request, "labeling/reopening_new.html", context, status=status)


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
