"""Webhooks of a project: for its leads alone, because what is sent leaves this server."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from labeling.core import access
from labeling.core.views import once
from labeling.core.views.access import form_page, person, refusals_in, sent
from labeling.core.views.paging import page_of, query_of
from labeling.models import Project, Round, Webhook, WebhookDelivery
from labeling.operation.forms import WebhookForm, initial_of
from labeling.operation.webhooks import webhooks as service

State = WebhookDelivery.State


@require_http_methods(["GET", "POST"])
@never_cache
def webhooks(request: HttpRequest, slug: str) -> HttpResponse:
    """All of them, and a new one, whose secret is shown by the page after the form, once."""
    project = access.led(request.user, slug)
    kind = f"webhook-{project.pk}"
    form = WebhookForm(sent(request))
    if request.method == "POST" and form.is_valid():
        with refusals_in(form, "url"):
            url, by = form.cleaned_data["url"], person(request)
            added = service.add(project=project, url=url, verbs=form.chosen, by=by)
            once.keep(request, kind, secret=added.secret)
            return redirect("webhooks", slug)
    kept = once.take(request, kind) if request.method == "GET" else None
    context = {"project": project, "rows": _rows(project), **(kept or {})}
    return form_page(request, "webhooks", form, **context)


def _rows(project: Project) -> list[tuple[Webhook, WebhookDelivery | None]]:
    """Each webhook with the delivery that was tried last."""
    hooks = list(service.with_figures(service.of_project(project)))
    wanted = [hook.last_pk for hook in hooks]  # type: ignore[attr-defined]
    last = WebhookDelivery.objects.select_related("event").in_bulk([pk for pk in wanted if pk])
    return [(hook, last.get(pk)) for hook, pk in zip(hooks, wanted, strict=True)]


@require_http_methods(["GET", "POST"])
def webhook(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One webhook: its events, and the log of what was sent."""
    project = access.led(request.user, slug)
    webhook = _webhook(project, pk)
    form = WebhookForm(request.POST or None, initial=initial_of(webhook.url, webhook.verbs))
    if request.method == "POST" and form.is_valid():
        with refusals_in(form, "url"):
            url, by = form.cleaned_data["url"], person(request)
            service.change(webhook, url=url, verbs=form.chosen, by=by)
            messages.success(request, _("The webhook was changed."))
            return redirect("webhook", slug, pk)
    context = {"project": project, "webhook": webhook, **_log(request, webhook)}
    return form_page(request, "webhook", form, **context)


def _log(request: HttpRequest, webhook: Webhook) -> dict[str, Any]:
    rows = webhook.deliveries.select_related("event__actor")
    state = request.GET.get("state", "")
    if state in State.values:
        rows = rows.filter(state=state)
    page = page_of(
        rows, order=["-pk"], after=request.GET.get("after"), anchors=webhook.deliveries.all()
    )
    blind = set(
        Round.objects.blind().filter(project=webhook.project_id).values_list("pk", flat=True)
    )
    entries = [
        (delivery, delivery.state == State.WAITING and delivery.round_id in blind)
        for delivery in page.rows
    ]
    states = [("", _("any")), *State.choices]
    return {
        "page": page,
        "entries": entries,
        "state": state,
        "states": states,
        "query": query_of(request),
    }


@require_POST
def webhook_test(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    webhook = _webhook(access.led(request.user, slug), pk)
    service.test(webhook, by=person(request))
    if webhook.active:
        messages.success(request, _("A test is on its way: its line below says what came of it."))
    else:
        messages.warning(request, _("The test waits until the webhook is resumed."))
    return redirect("webhook", slug, pk)


@require_POST
def webhook_switch(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Pauses one that sends, and resumes one that is paused."""
    webhook = _webhook(access.led(request.user, slug), pk)
    if request.POST.get("to") == "pause":
        service.pause(webhook, by=person(request))
        messages.success(request, _("Nothing is sent until you resume it; what happens is kept."))
    else:
        service.resume(webhook, by=person(request))
        messages.success(request, _("It sends again, beginning with what has waited."))
    return redirect("webhook", slug, pk)


@require_http_methods(["GET", "POST"])
@never_cache
def webhook_rotate(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Asks first; the new secret is shown by the page after that, once.

    Reloading that page asks again: two new secrets in a row would leave the receiver with none.
    """
    project = access.led(request.user, slug)
    webhook, kind = _webhook(project, pk), f"webhook-secret-{pk}"
    if request.method == "POST":
        once.keep(request, kind, secret=service.rotate(webhook, by=person(request)).secret)
        return redirect("webhook-rotate", slug, pk)
    context = {"project": project, "webhook": webhook, "hours": service.OVERLAP_HOURS}
    context |= once.take(request, kind) or {}
    return render(request, "labeling/webhook_rotate.html", context)


@require_http_methods(["GET", "POST"])
def webhook_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Asks first; the answer comes back as a POST."""
    project = access.led(request.user, slug)
    webhook = _webhook(project, pk)
    if request.method == "GET":
        waiting = webhook.deliveries.filter(state=State.WAITING).count()
        context = {"project": project, "webhook": webhook, "waiting": waiting}
        return render(request, "labeling/webhook_remove.html", context)
    service.remove(webhook, by=person(request))
    messages.success(request, _("The webhook to {host} is removed.").format(host=webhook.host))
    return redirect("webhooks", slug)


@require_POST
def webhook_again(request: HttpRequest, slug: str, pk: int, delivery: int) -> HttpResponse:
    webhook = _webhook(access.led(request.user, slug), pk)
    again = get_object_or_404(webhook.deliveries.select_related("webhook__project"), pk=delivery)
    service.send_again(again, by=person(request))
    messages.success(request, _("It is sent again, under its old id."))
    return redirect("webhook", slug, pk)


def _webhook(project: Project, pk: int) -> Webhook:
    return get_object_or_404(service.of_project(project).select_related("project"), pk=pk)
