"""The answers submitted in a round, for comparing them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from django.db.models import Count, QuerySet

from labeling.domain.agreement.units import of_type
from labeling.domain.exchange.origins import of_origin
from labeling.domain.schema import LAYERS
from labeling.domain.schema.labels import Payload
from labeling.models import Annotation, Assignment, Round


@dataclass(frozen=True, slots=True)
class Selection:
    """Which of the submitted labels are compared; empty means all."""

    label_type: str = ""
    annotator: str = ""
    guideline: int | None = None
    origin: str = ""

    def __bool__(self) -> bool:
        return bool(self.label_type or self.annotator or self.guideline or self.origin)

    @property
    def key(self) -> str:
        """What names it where its figures are stored; whose pairs are shown changes no figure."""
        parts = {"type": self.label_type, "guideline": self.guideline, "origin": self.origin}
        return urlencode({name: value for name, value in parts.items() if value})

    @classmethod
    def parse(cls, key: str) -> Selection:
        parts = dict(parse_qsl(key))
        guideline = int(parts["guideline"]) if "guideline" in parts else None
        return cls(parts.get("type", ""), "", guideline, parts.get("origin", ""))


EVERYTHING = Selection()


class SubmittedAnswer(NamedTuple):
    annotator: str
    conversation: str
    payload: Payload


Payloads = dict[str, dict[str, Payload]]
"""What was submitted, by conversation and annotator."""


def each(measured: Round, layer: str, selection: Selection) -> Iterator[SubmittedAnswer]:
    """One by one: together, the payloads of a large round would fill the memory."""
    rows = submitted(measured, selection).values_list(
        "annotator__username", "conversation__external_id", "annotation__payload"
    )
    for row in rows.iterator():
        answer = SubmittedAnswer(*row)
        if selection.label_type and LAYERS[layer].type_field:
            answer = answer._replace(payload=of_type(layer, answer.payload, selection.label_type))
        if selection.origin:
            assisted = selection.origin == "assisted"
            answer = answer._replace(payload=of_origin(layer, answer.payload, assisted=assisted))
        yield answer


def by_conversation(answers: Iterable[SubmittedAnswer]) -> Payloads:
    payloads: Payloads = defaultdict(dict)
    for who, name, payload in answers:
        payloads[name][who] = payload
    return payloads


def submitted(measured: Round, selection: Selection) -> QuerySet[Assignment]:
    assignments = assignments_of(measured).filter(annotation__status=Annotation.Status.SUBMITTED)
    if selection.guideline:
        assignments = assignments.filter(annotation__guideline__version=selection.guideline)
    if selection.origin == "assisted":
        assignments = assignments.filter(first_pass__isnull=False)
    return assignments


def compared(measured: Round, selection: Selection) -> int:
    """The number of conversations that at least two people have answered."""
    answered = submitted(measured, selection).order_by().values("conversation")
    return answered.annotate(n=Count("pk")).filter(n__gt=1).count()


def sizes(measured: Round) -> dict[str, int]:
    """By conversation, the number of its messages."""
    assigned = measured.assignments.labelling().order_by().values("conversation")
    conversations = measured.project.conversations.filter(pk__in=assigned).order_by()
    return dict(conversations.values_list("external_id", "n_messages"))


def assignments_of(measured: Round) -> QuerySet[Assignment]:
    return measured.assignments.labelling().order_by(
        "annotator__username", "conversation__external_id"
    )
