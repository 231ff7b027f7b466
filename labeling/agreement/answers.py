"""The answers submitted in a round, for comparing them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet

from labeling.agreement.rules.units import of_type
from labeling.models import Annotation, Assignment, Conversation, Round
from labeling.schema import LAYERS
from labeling.schema.labels import Payload
from labeling.schema.origins import of_origin


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


def each(measured: Round, layer: str, selection: Selection) -> Iterator[SubmittedAnswer]:
    """One by one: together, the payloads of a large round would fill the memory."""
    rows = submitted(measured, selection).values_list(
        *("annotator__username", "conversation__external_id"),
        *("annotation__payload", "annotation__unanswered"),
    )
    for *row, unanswered in rows.iterator():
        if layer in (unanswered or ()):
            continue
        answer = SubmittedAnswer(*row)
        if selection.label_type and LAYERS[layer].type_field:
            answer = answer._replace(payload=of_type(layer, answer.payload, selection.label_type))
        if selection.origin:
            assisted = selection.origin == "assisted"
            answer = answer._replace(payload=of_origin(layer, answer.payload, assisted=assisted))
        yield answer


def submitted(measured: Round, selection: Selection) -> QuerySet[Assignment]:
    assignments = assignments_of(measured).filter(annotation__status=Annotation.Status.SUBMITTED)
    if selection.guideline:
        assignments = assignments.filter(annotation__guideline__version=selection.guideline)
    if selection.origin == "assisted":
        assignments = assignments.filter(first_pass__isnull=False)
    return assignments


def annotators_of(measured: Round) -> list[str]:
    """Who has an assignment in the round, by name: a look into the index for each user."""
    own = Assignment.objects.filter(round=measured, annotator=OuterRef("pk"))
    names = User.objects.filter(Exists(own)).order_by("username")
    return list(names.values_list("username", flat=True))


def versions_of(measured: Round) -> list[int]:
    """The guidelines that answers of the round were written under."""
    under = measured.assignments.filter(annotation__guideline=OuterRef("pk"))
    guidelines = measured.project.guidelines.filter(Exists(under.order_by()))
    return list(guidelines.values_list("version", flat=True))


def sizes(conversations: Collection[int]) -> dict[int, int]:
    """By conversation, the number of its messages."""
    rows = Conversation.objects.filter(pk__in=conversations).order_by()
    return dict(rows.values_list("pk", "n_messages"))


def assignments_of(measured: Round) -> QuerySet[Assignment]:
    return measured.assignments.order_by("annotator__username", "conversation__external_id")
