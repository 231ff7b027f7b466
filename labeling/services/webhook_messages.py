"""What a webhook is told: which object, never what is written in it."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.urls import reverse

from labeling.domain.release import canonical_json
from labeling.models import Conversation, Event, GoldRelease, Project, Round, WebhookDelivery

PAGES = {
    "invitation": "members",
    "membership": "members",
    "suggestionrequest": "suggestions",
    "user": "members",
    "webhook": "webhooks",
}
"""Pages of a project that show objects without a page of their own."""


def body_of(delivery: WebhookDelivery) -> bytes:
    """The same bytes at every attempt: an event never changes."""
    event = delivery.event
    assert event.project is not None
    actor = event.actor.get_username() if event.actor and delivery.names_actor else None
    message = {
        "id": delivery.message_id,
        "verb": event.verb,
        "project": event.project.slug,
        "object": _object(event, event.project),
        "actor": actor,
        "time": event.at.isoformat().replace("+00:00", "Z"),
    }
    return canonical_json(message).encode()


def _object(event: Event, project: Project) -> dict[str, Any]:
    """``conversation``: the id of the conversation that the object belongs to, if to one.

    Which conversations people are checked by is told to nobody: a receiver may be read by them.
    """
    conversation = None if event.verb.startswith("checks.") else event.data.get("conversation")
    return {
        "type": event.object_type,
        "id": event.object_id,
        "url": settings.PUBLIC_URL + _path(event, project, conversation),
        "conversation": conversation,
    }


def _path(event: Event, project: Project, conversation: str | None) -> str:
    if event.object_type == "run":
        return reverse("run", args=[event.object_id])
    if event.object_type in PAGES:
        return reverse(PAGES[event.object_type], args=[project.slug])
    return _own_page(event, project, conversation) or project.get_absolute_url()


def _own_page(event: Event, project: Project, conversation: str | None) -> str:
    match event.object_type:
        case "round":
            told = Round.objects.filter(pk=event.object_id).only("number").first()
            return reverse("agreement", args=[project.slug, told.number]) if told else ""
        case "goldrelease":
            frozen = GoldRelease.objects.filter(pk=event.object_id).only("name", "version").first()
            named = (frozen.name, frozen.version) if frozen else None
            return reverse("gold-release", args=[project.slug, *named]) if named else ""
        case "guideline":
            return reverse("guideline", args=[project.slug, event.data["version"]])
    within = project.conversations.filter(external_id=conversation or "")
    found: Conversation | None = within.only("pk").first()
    return reverse("conversation", args=[project.slug, found.pk]) if found else ""
