"""Webhooks of a project: for its leads alone, because what is sent leaves this server."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from labeling.core import access
from labeling.core.views import once
from labeling.core.views.access import form_page, person, refusals_in, sent
from labeling.core.views.paging import page_of
from labeling.models import Project, Round, Webhook, WebhookDelivery
from labeling.operation.forms import WebhookForm
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
            added = service.add(project=project, by=person(request), **form.cleaned_data)
            once.keep(request, kind, secret=added.secret)
            return redirect("webhooks", slug)
    kept = once.take(request, kind) if request.method == "GET" else None
    rows = service.with_figures(service.of_project(project))
    return form_page(request, "webhooks", form, project=project, rows=rows, **(kept or {}))


@require_GET
def webhook(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One webhook, and the log of what was sent."""
    project = access.led(request.user, slug)
    webhook = _webhook(project, pk)
    rows = webhook.deliveries.select_related("event__actor")
    page = page_of(rows, order=["-pk"], after=request.GET.get("after"), anchors=rows)
    blind = set(Round.objects.blind().filter(project=project).values_list("pk", flat=True))
    entries = [(each, each.state == State.WAITING and each.round_id in blind) for each in page.rows]
    context = {"project": project, "webhook": webhook, "page": page, "entries": entries}
    return render(request, "labeling/webhook.html", context)


@require_POST
def webhook_resume(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    webhook = _webhook(access.led(request.user, slug), pk)
    service.resume(webhook, by=person(request))
    messages.success(request, _("What waits and what was given up is sent, under its old ids."))
    return redirect("webhook", slug, pk)


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


def _webhook(project: Project, pk: int) -> Webhook:
    webhooks = service.with_figures(service.of_project(project))
    return get_object_or_404(webhooks.select_related("project"), pk=pk)
