"""Webhooks: where a project sends its events, for its leads alone."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import LEADING, ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.api.paging import NEWEST_FIRST, OLDEST_FIRST, PageOut, page
from labeling.api.requests import asked, sent, user_of
from labeling.models import Webhook, WebhookDelivery
from labeling.services import access
from labeling.services.webhooks import webhooks
from labeling.services.webhooks.webhooks import VERBS, CreatedWebhook

State = WebhookDelivery.State
LED = {400: ErrorOut, 403: ErrorOut, 404: ErrorOut}


class WebhookIn(serializers.Serializer[Any]):
    url = serializers.CharField(max_length=500, help_text="Where messages are sent by POST")
    verbs = serializers.ListField(
        child=serializers.ChoiceField(VERBS),
        default=list,
        help_text="Events to send; empty: every event",
    )


class WebhookChangeIn(WebhookIn):
    active = serializers.BooleanField(help_text="false: what happens is kept until it is resumed")


class WebhookOut(serializers.ModelSerializer[Webhook]):
    verbs = serializers.ListField(child=serializers.CharField(), help_text="Empty: every event")
    created_by = serializers.CharField(source="created_by.username")
    waiting = serializers.IntegerField(source="n_waiting", help_text="Deliveries")
    failed = serializers.IntegerField(source="n_failed", help_text="Deliveries given up")

    class Meta:
        model = Webhook
        fields = [
            *("id", "url", "verbs", "active", "failures_in_a_row", "resting_until"),
            *("created_by", "created_at", "waiting", "failed"),
        ]


class WebhookPageOut(PageOut):
    results = WebhookOut(many=True)


class NewWebhookOut(WebhookOut):
    secret = serializers.CharField(help_text="Signs what is sent; shown this once")

    class Meta(WebhookOut.Meta):
        fields = [*WebhookOut.Meta.fields, "secret"]


class DeliveryOut(serializers.ModelSerializer[WebhookDelivery]):
    message_id = serializers.CharField(help_text="The same each time it is sent")
    verb = serializers.CharField(source="event.verb")
    at = serializers.DateTimeField(source="event.at")
    outcome = serializers.ChoiceField(WebhookDelivery.Outcome.choices)

    class Meta:
        model = WebhookDelivery
        fields = [
            *("id", "message_id", "verb", "at", "state", "attempts"),
            *("next_attempt_at", "outcome", "status", "tried_at"),
        ]


class DeliveryPageOut(PageOut):
    results = DeliveryOut(many=True)


class DeliveryFilterIn(serializers.Serializer[Any]):
    state = serializers.ChoiceField(State.choices, required=False)


class WebhooksView(ApiView):
    scopes = LEADING
    answers_with_secret = True

    @extend_schema(parameters=OLDEST_FIRST, responses={200: WebhookPageOut, **LED})
    def get(self, request: Request, slug: str) -> Response:
        """The webhooks of a project (leads)."""
        hooks = webhooks.of_project(access.led(request.user, slug))
        return page(request, webhooks.with_figures(hooks), WebhookOut)

    @extend_schema(request=WebhookIn, responses={201: NewWebhookOut, **LED})
    def post(self, request: Request, slug: str) -> Response:
        """Send events to an address; the secret that signs them is shown this once (leads)."""
        project = access.led(request.user, slug)
        added = webhooks.add(project=project, by=user_of(request), **sent(request, WebhookIn))
        return Response(_with_secret(request, slug, added), status=201)


class WebhookView(ApiView):
    scopes = LEADING

    @extend_schema(responses={200: WebhookOut, **LED})
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """One webhook (leads)."""
        return Response(WebhookOut(_webhook(request, slug, pk)).data)

    @extend_schema(request=WebhookChangeIn, responses={200: WebhookOut, **LED})
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        """Change its address or its events, pause or resume it (leads)."""
        webhook, by = _webhook(request, slug, pk), user_of(request)
        fields = sent(request, WebhookChangeIn, partial=True)
        url, verbs = fields.get("url", webhook.url), fields.get("verbs", webhook.verbs)
        webhooks.change(webhook, url=url, verbs=verbs, by=by)
        if "active" in fields:
            (webhooks.resume if fields["active"] else webhooks.pause)(webhook, by=by)
        return Response(WebhookOut(_webhook(request, slug, pk)).data)

    @extend_schema(responses={204: None, **LED})
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Remove it, with its log and what waits to be sent (leads)."""
        webhooks.remove(_webhook(request, slug, pk), by=user_of(request))
        return Response(status=204)


class WebhookSecretView(ApiView):
    scopes = LEADING
    answers_with_secret = True

    @extend_schema(request=None, responses={201: NewWebhookOut, **LED})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """A new secret; for a day the old one signs, too (leads)."""
        rotated = webhooks.rotate(_webhook(request, slug, pk), by=user_of(request))
        return Response(_with_secret(request, slug, rotated), status=201)


class WebhookTestView(ApiView):
    scopes = LEADING

    @extend_schema(request=None, responses={202: WebhookOut, **LED})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Send a test, whatever its chosen events; the log says what came of it (leads)."""
        webhooks.test(_webhook(request, slug, pk), by=user_of(request))
        return Response(WebhookOut(_webhook(request, slug, pk)).data, status=202)


class DeliveriesView(ApiView):
    scopes = LEADING

    @extend_schema(
        parameters=[DeliveryFilterIn, *NEWEST_FIRST],
        responses={200: DeliveryPageOut, **LED},
    )
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """What was sent or waits to be, newest first (leads)."""
        rows = _webhook(request, slug, pk).deliveries.select_related("event")
        rows = rows.filter(**asked(request, DeliveryFilterIn))
        return page(request, rows, DeliveryOut, newest_first=True)


class DeliveryAgainView(ApiView):
    scopes = LEADING

    @extend_schema(request=None, responses={202: DeliveryOut, **LED})
    def post(self, request: Request, slug: str, pk: int, delivery: int) -> Response:
        """Send it again, under its old id (leads)."""
        rows = _webhook(request, slug, pk).deliveries.select_related("webhook__project", "event")
        again = get_object_or_404(rows, pk=delivery)
        webhooks.send_again(again, by=user_of(request))
        return Response(DeliveryOut(rows.get(pk=delivery)).data, status=202)


def _webhook(request: Request, slug: str, pk: int) -> Webhook:
    hooks = webhooks.of_project(access.led(request.user, slug)).select_related("project")
    return get_object_or_404(webhooks.with_figures(hooks), pk=pk)


def _with_secret(request: Request, slug: str, created: CreatedWebhook) -> dict[str, Any]:
    webhook: Any = _webhook(request, slug, created.webhook.pk)
    webhook.secret = created.secret
    return dict(NewWebhookOut(webhook).data)
