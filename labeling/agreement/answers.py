"""The answers submitted in a round, for comparing them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet

from labeling.models import Annotation, Assignment, Conversation, Round


@dataclass(frozen=True, slots=True)
class Selection:
    """Which of the submitted labels are compared; empty means all."""

    label_type: str = ""
    origin: str = ""

    def __bool__(self) -> bool:
        return bool(self.label_type or self.origin)

    @property
    def key(self) -> str:
        """What names it where its figures are stored."""
        parts = {"type": self.label_type, "origin": self.origin}
        return urlencode({name: value for name, value in parts.items() if value})

    @classmethod
    def parse(cls, key: str) -> Selection:
        parts = dict(parse_qsl(key))
        return cls(parts.get("type", ""), parts.get("origin", ""))


EVERYTHING = Selection()


def submitted(measured: Round, selection: Selection) -> QuerySet[Assignment]:
    assignments = assignments_of(measured).filter(annotation__status=Annotation.Status.SUBMITTED)
    if selection.origin == "assisted":
        assignments = assignments.filter(first_pass__isnull=False)
    return assignments


def annotators_of(measured: Round) -> list[str]:
    """Who has an assignment in the round, by name: a look into the index for each user."""
    own = Assignment.objects.filter(round=measured, annotator=OuterRef("pk"))
    names = User.objects.filter(Exists(own)).order_by("username")
    return list(names.values_list("username", flat=True))


def sizes(conversations: Collection[int]) -> dict[int, int]:
    """By conversation, the number of its messages."""
    rows = Conversation.objects.filter(pk__in=conversations).order_by()
    return dict(rows.values_list("pk", "n_messages"))


def assignments_of(measured: Round) -> QuerySet[Assignment]:
    return measured.assignments.order_by("annotator__username", "conversation__external_id")
