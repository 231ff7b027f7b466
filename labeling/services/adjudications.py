"""Deciding what the labels of a conversation are, where its annotators do not agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from labeling.domain.errors import RuleError
from labeling.domain.schema import check_payload
from labeling.models import Adjudication, Annotation, Conversation
from labeling.services import events
from labeling.services.annotations import InvalidPayload


class OwnWorkAlone(RuleError):
    """Nobody decides alone about what only they have labelled."""

    code = "own_work_alone"


@transaction.atomic
def decide(
    *,
    conversation: Conversation,
    layer: str,
    payload: Mapping[str, Any],
    reason: str,
    by: User,
) -> Adjudication:
    """Record the decided labels. An earlier decision is kept; the newest one counts.

    A label may carry ``adopted_from``, the annotator whose label it is; without it the label was
    written or edited by the adjudicator.
    """
    labels = {
        key: [
            {name: value for name, value in label.items() if name != "adopted_from"}
            for label in given
        ]
        for key, given in payload.items()
    }
    problems = check_payload(
        labels,
        layers=[layer],
        message_count=conversation.messages.count(),
        complete=True,
        empty=not any(labels.values()),
    )
    if problems:
        raise InvalidPayload(
            f"The decided labels of {conversation} are not complete: "
            f"{problems[0].path}: {problems[0].message}",
            problems=[problem._asdict() for problem in problems],
        )
    _refuse_own_work(conversation, by)
    previous = Adjudication.objects.filter(conversation=conversation, layer=layer).last()
    decision = Adjudication.objects.create(
        conversation=conversation,
        layer=layer,
        version=previous.version + 1 if previous else 1,
        guideline=conversation.project.guidelines.all()[0],
        payload=payload,
        reason=reason,
        decided_by=by,
    )
    events.record(
        "adjudication.decided",
        decision,
        project=conversation.project,
        actor=by,
        conversation=conversation.external_id,
        layer=layer,
        version=decision.version,
    )
    return decision


def _refuse_own_work(conversation: Conversation, by: User) -> None:
    submitted = Annotation.objects.filter(
        assignment__conversation=conversation, status=Annotation.Status.SUBMITTED
    )
    people = set(submitted.values_list("assignment__annotator", flat=True))
    if people == {by.pk}:
        raise OwnWorkAlone(
            "Only you have labelled this conversation, so somebody else has to decide about it."
        )
