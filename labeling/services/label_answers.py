"""What has to be true of an imported answer before it is stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from labeling.domain.errors import NotCanonical
from labeling.domain.formats.answers import (
    SUBMITTED,
    Answer,
    Labelled,
    without_empty_layers,
)
from labeling.domain.importing import with_line_feeds
from labeling.domain.reasons import reason_in
from labeling.domain.release import item_sha256
from labeling.domain.schema import check_payload
from labeling.models import Annotation, Assignment, Conversation, Project, Round, RoundConversation

MAX_SECONDS = 2_147_483_647  # what the database holds


class Refused(Exception):
    """An answer cannot be taken; the text is the reason."""


class Known(NamedTuple):
    """What the project holds of some conversations; all but the first by their keys."""

    conversations: Mapping[str, Conversation]
    texts: Mapping[int, Sequence[str]]
    held: Mapping[tuple[int, int], Collection[str]]  # (conversation, annotator) → contents
    open_rounds: Mapping[int, int]


def known_of(project: Project, ids: Collection[str]) -> Known:
    found = project.conversations.filter(external_id__in=ids).prefetch_related("messages")
    conversations = {one.external_id: one for one in found}
    pks = [one.pk for one in conversations.values()]
    running = RoundConversation.objects.filter(
        conversation__in=pks, round__state=Round.State.OPEN
    ).values_list("conversation", "round__number")
    return Known(
        conversations,
        {one.pk: [m.content for m in one.messages.all()] for one in conversations.values()},
        _held(pks),
        dict(running),
    )


def _held(conversations: Sequence[int]) -> dict[tuple[int, int], set[str]]:
    """What is in an open calibration round is not looked at: not even whether it is the same."""
    held: dict[tuple[int, int], set[str]] = {}
    rows = (
        Assignment.objects.filter(conversation__in=conversations, annotation__isnull=False)
        .exclude(annotation__status=Annotation.Status.DRAFT)
        .exclude(round__in=Round.objects.blind())
        .select_related("annotation")
    )
    for row in rows:
        given = row.annotation
        answer = Answer("", given.payload, given.status, given.empty)
        key = (row.conversation_id, row.annotator_id)
        held.setdefault(key, set()).add(content_of(answer))
    return held


def content_of(answer: Answer) -> str:
    """A hash that is the same for the same answer, in whatever file it stands."""
    payload = without_suggestions(answer.payload)
    try:
        return item_sha256([answer.status, answer.status == SUBMITTED and answer.empty, payload])
    except NotCanonical as error:
        raise Refused(error.message) from None


def without_suggestions(payload: Mapping[str, Any]) -> dict[str, Any]:
    """A label keeps how it was made; which suggestion it came from is another project's number."""
    return {
        key: [_without_suggestion(label) for label in labels]
        if isinstance(labels, list)
        else labels
        for key, labels in without_empty_layers(payload).items()
    }


def _without_suggestion(label: Any) -> Any:
    if not isinstance(label, dict):
        return label
    return {key: value for key, value in label.items() if key != "suggestion"}


def check_text(labelled: Labelled, texts: Sequence[str]) -> None:
    """Labels point to places in the text, so it must be the same."""
    stored = [with_line_feeds(text) for text in texts]
    if labelled.turns and labelled.texts != stored:
        raise Refused("its messages are not those of the project")


def check_answer(answer: Answer, project: Project, texts: Sequence[str]) -> dict[str, Any]:
    """The payload as it will be stored."""
    payload = without_suggestions(answer.payload)
    if answer.status != SUBMITTED and not reason_in(answer.skip_reason):
        raise Refused("it was skipped without a reason")
    if answer.active_seconds > MAX_SECONDS:
        raise Refused("active_seconds is too large")
    problems = check_payload(
        payload,
        layers=project.layers,
        message_count=len(texts),
        complete=answer.status == SUBMITTED,
        empty=answer.empty,
        messages=texts,
        event_schema=project.event_schema,
    )
    if problems:
        first = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise Refused(f"{first.path}: {first.message.rstrip('.')}{more}")
    return payload
