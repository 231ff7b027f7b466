"""What was decided about imported answers, taken over after them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Max
from django.utils import timezone

from labeling.domain.errors import RuleError
from labeling.domain.formats.answers import Decided
from labeling.domain.reasons import reason_in
from labeling.domain.schema import LAYERS
from labeling.domain.sentences import say
from labeling.models import Adjudication, Annotation, Conversation
from labeling.services import adjudications
from labeling.services.label_answers import Refused, without_suggestions

FINISHED = (Annotation.Status.SUBMITTED, Annotation.Status.SKIPPED)


class Naming(NamedTuple):
    """Who and what the names in a file are in this project; both raise ``Refused``."""

    person: Callable[[str], User]
    guideline: Callable[[int | None], int]


class Taken(NamedTuple):
    new: int = 0
    older: int = 0
    """Left out, because somebody has decided here since."""


def take_over(conversation: Conversation, decided: Iterable[Decided], naming: Naming) -> Taken:
    """Store the decisions that the project does not hold.

    What a decision made here would be refused for is refused, but for references to other labels:
    what stood when it was decided may stand no more, and gold says so.
    """
    held = _newest(conversation)
    new = older = 0
    for one in decided:
        decision = _decision(conversation, one, naming)
        if _is_known(decision, one):
            continue
        if one.layer in held and decision.decided_at < held[one.layer]:
            older += 1
            continue
        _store(decision)
        new += 1
    return Taken(new, older)


def _newest(conversation: Conversation) -> dict[str, datetime]:
    rows = Adjudication.objects.filter(conversation=conversation).order_by().values_list("layer")
    return dict(rows.annotate(at=Max("decided_at")))


def _decision(conversation: Conversation, one: Decided, naming: Naming) -> Adjudication:
    if one.layer not in conversation.project.layers:
        raise Refused(say("the project does not label “{layer}”", layer=one.layer))
    if not reason_in(one.reason):
        raise Refused("it is without a reason")
    if one.decided_at and one.decided_at > timezone.now():
        raise Refused("it was made in the future")
    return Adjudication(
        conversation=conversation,
        layer=one.layer,
        guideline_id=naming.guideline(one.guideline_version),
        payload=_payload(one, naming.person),
        reason=reason_in(one.reason),
        kind=_kind(one.kind),
        guideline_flag=one.guideline_flag,
        decided_by=naming.person(one.decided_by),
        decided_at=one.decided_at or timezone.now(),
    )


def _payload(one: Decided, person: Callable[[str], User]) -> dict[str, Any]:
    """The labels with the people in them under the names they have here."""
    key = LAYERS[one.layer].key
    return {key: [], **without_suggestions({key: [_named(each, person) for each in one.labels]})}


def _named(label: Mapping[str, Any], person: Callable[[str], User]) -> dict[str, Any]:
    here = dict(label)
    if isinstance(label.get("adopted_from"), str):
        here["adopted_from"] = person(label["adopted_from"]).get_username()
    elif "adopted_from" in label:
        here["adopted_from"] = [person(name).get_username() for name in label["adopted_from"]]
    if "uids" in label:
        uids = label["uids"].items()
        here["uids"] = {person(name).get_username(): uid for name, uid in uids}
    return here


def _kind(kind: str) -> str:
    if kind and kind not in Adjudication.Kind.values:
        raise Refused(f"{kind!r} is no kind of decision: {', '.join(Adjudication.Kind.values)}")
    return kind


def _is_known(decision: Adjudication, one: Decided) -> bool:
    same = ("conversation", "layer", "decided_by", "reason", "kind", "guideline_flag")
    held = Adjudication.objects.filter(**{name: getattr(decision, name) for name in same})
    if one.decided_at:
        held = held.filter(decided_at=one.decided_at)
    key = LAYERS[decision.layer].key
    payloads = held.values_list("payload", flat=True)
    return any({key: [], **without_suggestions(one)} == decision.payload for one in payloads)


def _store(decision: Adjudication) -> None:
    answers = Annotation.objects.filter(assignment__conversation=decision.conversation)
    if not answers.filter(status__in=FINISHED).exists():
        raise Refused("there are no answers that it could be about")
    try:
        adjudications.check(decision, given=None)
    except RuleError as error:
        raise Refused(error.message) from None
    adjudications.record(decision)
