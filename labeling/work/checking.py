"""A payload against everything that its project and its conversation say about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labeling.models import Conversation, Project
from labeling.schema import OpenFields, Problem, check_payload, quotes_messages


def problems_of(
    payload: Mapping[str, Any],
    *,
    project: Project,
    conversation: Conversation,
    complete: bool,
    empty: bool,
    open_fields: OpenFields | None = None,
) -> list[Problem]:
    texts = None
    if any(quotes_messages(layer) for layer in project.layers):
        texts = [message.content for message in conversation.messages]
    return check_payload(
        payload,
        layers=project.layers,
        message_count=conversation.n_messages,
        complete=complete,
        empty=empty,
        messages=texts,
        event_schema=project.event_schema,
        open_fields=open_fields,
    )
