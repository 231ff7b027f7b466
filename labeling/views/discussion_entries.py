"""One disagreement for reading: the message in its context, who chose what, and the thread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from labeling.domain import transcripts
from labeling.domain.agreement.disagreements import Split, SplitCandidate
from labeling.domain.schema import LAYERS
from labeling.domain.schema.layers import Judged, Words
from labeling.domain.transcripts import Message
from labeling.models import Assignment, Comment, Disagreement, Round, Transcript
from labeling.services.agreement.discussions import UnitPlace, letters_of
from labeling.translation import lazy as _
from labeling.views.candidates import ShownCandidate, shown_candidates
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
                name: _("{letter} (you)").format(letter=letter) if name == own else letter
                for name, letter in letters.items()
            },
        )

    def name(self, username: str) -> str:
        """Leads and others who did not label the round keep their names."""
        return self.shown.get(username, username)


class Side(NamedTuple):
    """One annotator's choice, and the labels that say so."""

    name: str
    choice: Any
    labels: list[Label]


class Remark(NamedTuple):
    author: str
    body: str
    at: Any


class Entry(NamedTuple):
    """``name`` says what it is about if not a message; ``rated`` is one list of choices.

    ``candidates`` are labels that are perhaps the same, field by field.
    """

    place: UnitPlace
    conversation: str
    name: str
    message: int | None
    words: Words
    messages: list[Message]
    marked: list[Side]
    unmarked: list[Side]
    rated: list[Side]
    candidates: list[ShownCandidate]
    row: Disagreement | None
    thread: list[Remark]


Disagreements = Mapping[UnitPlace, tuple[Split, Disagreement | None]]


def entries_of(discussed: Round, disagreements: Disagreements, people: People) -> list[Entry]:
    """Three queries, however many entries there are."""
    context = _context({place: split.message for place, (split, _row) in disagreements.items()})
    payloads = _payloads(discussed, disagreements)
    answers = _answers(payloads, {place.layer for place in disagreements})
    threads = _threads([row for _split, row in disagreements.values() if row], people)
    entries = []
    for place, (split, row) in disagreements.items():
        sides = _sides(split, answers, place, people)
        unit = LAYERS[place.layer].units
        is_rating = isinstance(unit, Judged) and bool(unit.value)
        entries.append(
            Entry(
                place=place,
                conversation=split.conversation,
                name=split.name,
                message=split.message,
                words=LAYERS[place.layer].words,
                messages=context[place],
                marked=[side for side in sides if side.choice and not is_rating],
                unmarked=[side for side in sides if not side.choice and not is_rating],
                rated=sides if is_rating else [],
                candidates=shown_candidates(
                    place.layer,
                    _in_order_shown(split.candidates, people),
                    payloads.get(place.conversation, {}),
                    people.name,
                ),
                row=row,
                thread=threads[row.pk] if row else [],
            )
        )
    return entries


def _in_order_shown(pairs: Iterable[SplitCandidate], people: People) -> list[SplitCandidate]:
    """By the names on the page: the order of their own names would tell letters apart."""
    turned = (pair if people.name(pair.a) <= people.name(pair.b) else pair.turned for pair in pairs)
    return sorted(turned, key=lambda pair: (people.name(pair.a), people.name(pair.b)))


def _context(places: Mapping[UnitPlace, int | None]) -> dict[UnitPlace, list[Message]]:
    wanted = {place.conversation for place, index in places.items() if index is not None}
    texts = Transcript.objects.filter(conversation__in=wanted).values_list("pk", "messages")
    messages = {pk: transcripts.read(text) for pk, text in texts}
    return {
        place: []
        if index is None
        else messages[place.conversation][max(0, index - AROUND) : index + AROUND + 1]
        for place, index in places.items()
    }


def _payloads(
    discussed: Round, places: Iterable[UnitPlace]
) -> dict[int, dict[str, Mapping[str, Any]]]:
    """What everybody submitted in the conversations shown, by conversation and annotator."""
    rows = (
        Assignment.objects.labelling()
        .filter(
            round=discussed,
            conversation__in={place.conversation for place in places},
            annotation__status="submitted",
        )
        .values_list("conversation", "annotator__username", "annotation__payload")
    )
    payloads: dict[int, dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for conversation, name, payload in rows:
        payloads[conversation][name] = payload
    return payloads


def _answers(
    payloads: Mapping[int, Mapping[str, Mapping[str, Any]]], layers: Collection[str]
) -> dict[tuple[int, str], list[Label]]:
    return {
        (conversation, name): labels_of(payload, layers, prefix=f"a{conversation}-{name}")
        for conversation, by_annotator in payloads.items()
        for name, payload in by_annotator.items()
    }


def _sides(
    split: Split,
    answers: Mapping[tuple[int, str], list[Label]],
    place: UnitPlace,
    people: People,
) -> list[Side]:
    sides = [
        Side(
            people.name(name),
            choice,
            [
                label
                for label in answers.get((place.conversation, name), [])
                if _says(label, split, name)
            ],
        )
        for name, choice in split.labels.items()
    ]
    return sorted(sides, key=lambda side: side.name)


def _says(label: Label, split: Split, name: str) -> bool:
    """Whether it is one of the labels because of which somebody marked the unit."""
    if split.name:
        return label.uid in split.uids.get(name, [])
    return split.message in label.sources


def _threads(rows: Iterable[Disagreement], people: People) -> dict[int, list[Remark]]:
    remarks: dict[int, list[Remark]] = defaultdict(list)
    comments = Comment.objects.filter(disagreement__in=[row.pk for row in rows])
    for comment in comments.select_related("author").order_by("pk"):
        remark = Remark(
            people.name(comment.author.get_username()), comment.body, comment.created_at
        )
        remarks[comment.disagreement_id].append(remark)  # type: ignore[index]
    return remarks
