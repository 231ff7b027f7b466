"""What was decided about imported answers, taken over after them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.contrib.auth.models import User

from labeling.domain.errors import RuleError
from labeling.domain.formats.answers import Decided
from labeling.domain.schema import LAYERS
from labeling.models import Adjudication, Annotation, Conversation
from labeling.services import adjudications, settling
from labeling.services.label_answers import Refused

Labels = list[Mapping[str, Any]]


def take_over(
    conversation: Conversation,
    decided: Iterable[Decided],
    *,
    person: Callable[[str], User],
    guideline: Callable[[int | None], int],
    actor: User | None,
) -> int:
    """Store the decisions that the project does not hold; how many are new.

    Layers that others refer to come first. A version of the guidelines and a person that the
    project does not have are refused, and whatever a decision made here would be refused for.
    """
    new = 0
    for one in sorted(decided, key=lambda one: list(LAYERS).index(one.layer)):
        payload = {LAYERS[one.layer].key: list(one.labels)}
        decision = Adjudication(
            conversation=conversation,
            layer=one.layer,
            guideline_id=guideline(one.guideline_version),
            payload=payload,
            reason=one.reason,
            kind=_kind(one.kind),
            guideline_flag=one.guideline_flag,
            decided_by=person(one.decided_by),
        )
        if not _is_known(decision):
            _store(decision, one, actor)
            new += 1
    return new


def _kind(kind: str) -> str:
    if kind and kind not in Adjudication.Kind.values:
        raise Refused(f"{kind!r} is no kind of decision: {', '.join(Adjudication.Kind.values)}")
    return kind


def _is_known(decision: Adjudication) -> bool:
    held = Adjudication.objects.filter(
        conversation=decision.conversation,
        layer=decision.layer,
        decided_by=decision.decided_by,
        reason=decision.reason,
    )
    return decision.payload in held.values_list("payload", flat=True)


def _store(decision: Adjudication, one: Decided, actor: User | None) -> None:
    try:
        adjudications.check(decision, given=_labels_below(decision))
    except RuleError as error:
        raise Refused(error.message) from None
    decision.decided_at = one.decided_at or decision.decided_at
    adjudications.record(decision, actor=actor)


def _labels_below(decision: Adjudication) -> dict[str, Labels]:
    """Everything that a label may refer to: what stands of it is put together only later."""
    conversation = decision.conversation
    submitted = Annotation.objects.filter(
        assignment__conversation=conversation, status=Annotation.Status.SUBMITTED
    )
    decided = Adjudication.objects.filter(conversation=conversation)
    payloads = [
        *submitted.values_list("payload", flat=True),
        *decided.values_list("payload", flat=True),
    ]
    return {
        need: _once(label for payload in payloads for label in payload.get(LAYERS[need].key, []))
        for need in settling.needs_of(conversation.project, decision.layer)
    }


def _once(labels: Iterable[Mapping[str, Any]]) -> Labels:
    return list({label["uid"]: label for label in labels}.values())
