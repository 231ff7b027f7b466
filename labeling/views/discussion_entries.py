"""One disagreement for reading: the message in its context, who chose what, and the thread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from django.db.models import Q

from labeling.domain.disagreements import Split
from labeling.models import Assignment, Comment, Disagreement, Message, Round
from labeling.services.discussions import LAYER, Place, letters_of
from labeling.views.labels import Label, labels_of

AROUND = 2  # messages of context on either side


class People(NamedTuple):
    """What the annotators of a round are called on the page: by name or by letter."""

    letters: dict[str, str]
    shown: dict[str, str]

    @classmethod
    def of(cls, discussed: Round, reader: Any) -> People:
        letters = letters_of(discussed)
        if not discussed.anonymous:
            return cls(letters, {name: name for name in letters})
        own = reader.get_username()
        return cls(
            letters,
            {
                name: f"{letter} (you)" if name == own else letter
                for name, letter in letters.items()
            },
        )

    def name(self, username: str) -> str:
        """Leads and others who did not label the round keep their names."""
        return self.shown.get(username, username)


class Side(NamedTuple):
    """One annotator's choice: the labels that cite the message, none if it was not marked."""

    name: str
    labels: list[Label]


class Remark(NamedTuple):
    author: str
    body: str
    at: Any


class Entry(NamedTuple):
    place: Place
    conversation: str
    messages: list[Message]
    marked: list[Side]
    unmarked: list[Side]
    row: Disagreement | None
    thread: list[Remark]


Found = Mapping[Place, tuple[Split, Disagreement | None]]


def entries_of(discussed: Round, found: Found, people: People) -> list[Entry]:
    """Three queries, however many entries there are."""
    context = _context(found)
    answers = _answers(discussed, found)
    threads = _threads([row for _, row in found.values() if row], people)
    return [
        Entry(
            place=place,
            conversation=split.conversation,
            messages=context[place],
            marked=_sides(split.marked, answers, place, people),
            unmarked=_sides(split.unmarked, answers, place, people),
            row=row,
            thread=threads[row.pk] if row else [],
        )
        for place, (split, row) in found.items()
    ]


def _context(places: Iterable[Place]) -> dict[Place, list[Message]]:
    wanted = [(place, max(0, place.unit - AROUND), place.unit + AROUND) for place in places]
    if not wanted:
        return {}
    near = [
        Q(conversation=place.conversation, index__range=(low, high)) for place, low, high in wanted
    ]
    by_key = {
        (message.conversation_id, message.index): message
        for message in Message.objects.filter(reduce(or_, near))
    }
    return {
        place: [
            by_key[place.conversation, index]
            for index in range(low, high + 1)
            if (place.conversation, index) in by_key
        ]
        for place, low, high in wanted
    }


def _answers(discussed: Round, places: Iterable[Place]) -> dict[tuple[int, str], list[Label]]:
    """The labels of everybody in the conversations shown, by conversation and annotator."""
    rows = Assignment.objects.filter(
        round=discussed,
        conversation__in={place.conversation for place in places},
        annotation__status="submitted",
    ).values_list("pk", "conversation", "annotator__username", "annotation__payload")
    return {
        (conversation, name): labels_of(payload, [LAYER], prefix=f"a{pk}")
        for pk, conversation, name, payload in rows
    }


def _sides(
    names: Iterable[str],
    answers: Mapping[tuple[int, str], list[Label]],
    place: Place,
    people: People,
) -> list[Side]:
    sides = [
        Side(
            people.name(name),
            [
                label
                for label in answers.get((place.conversation, name), [])
                if place.unit in label.sources
            ],
        )
        for name in names
    ]
    return sorted(sides, key=lambda side: side.name)


def _threads(rows: Iterable[Disagreement], people: People) -> dict[int, list[Remark]]:
    found: dict[int, list[Remark]] = defaultdict(list)
    comments = Comment.objects.filter(disagreement__in=[row.pk for row in rows])
    for one in comments.select_related("author").order_by("pk"):
        remark = Remark(people.name(one.author.get_username()), one.body, one.created_at)
        found[one.disagreement_id].append(remark)  # type: ignore[index]
    return found
