"""One disagreement for reading: the message in its context, who chose what, and the thread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from labeling.agreement.discussed import People, answered_in, labels_behind, payloads_of, thread_of
from labeling.agreement.discussions import UnitPlace
from labeling.agreement.rules.disagreements import Split
from labeling.agreement.rules.units import sources_of
from labeling.agreement.views.compared import Compared, LabelOf, compare
from labeling.conversations.rules import transcripts
from labeling.conversations.rules.transcripts import Message
from labeling.conversations.views.labels import Label, labels_of
from labeling.models import Disagreement, Round, Transcript
from labeling.schema import LAYERS
from labeling.schema.layers import Judged, Words

AROUND = 2  # messages of context on either side
MOST_CITED = 12  # messages that labels cite, besides


class Side(NamedTuple):
    """One annotator's choice, and the labels that say so."""

    name: str
    choice: Any
    labels: list[Label]


class Shown(NamedTuple):
    """A message, who cites it in one of the labels, and whether messages before it are left out."""

    message: Message
    cited_by: list[str]
    is_behind_gap: bool


class Line(NamedTuple):
    """A disagreement in the list."""

    place: UnitPlace
    conversation: str
    name: str
    message: int | None
    sides: str
    row: Disagreement | None


class Remark(NamedTuple):
    author: str
    body: str
    at: Any


class Entry(NamedTuple):
    """``name`` says what it is about if not a message; ``rated`` is one list of choices.

    ``answered_in`` are the versions of the guidelines that were written because of it.
    """

    place: UnitPlace
    conversation: str
    name: str
    message: int | None
    words: Words
    messages: list[Shown]
    marked: list[Side]
    unmarked: list[Side]
    rated: list[Side]
    compared: list[Compared]
    row: Disagreement | None
    thread: list[Remark]
    answered_in: list[int]


Payload = Mapping[str, Any]
Disagreements = Mapping[UnitPlace, tuple[Split, Disagreement | None]]


def lines_of(disagreements: Disagreements, people: People) -> list[Line]:
    """What the list says of each, from what is stored of it."""
    return [
        Line(place, split.conversation, split.name, split.message, _in_short(split, people), row)
        for place, (split, row) in disagreements.items()
    ]


def _in_short(split: Split, people: People) -> str:
    """“ana ≠ ben, cleo”: those who say the same are next to each other."""
    by_choice: dict[Any, list[str]] = defaultdict(list)
    for name, choice in split.labels.items():
        by_choice[choice].append(people.name(name))
    groups = sorted(", ".join(sorted(names)) for names in by_choice.values())
    if len(groups) == 1:  # they wrote different labels about it
        groups = sorted({people.name(who) for pair in split.candidates for who in (pair.a, pair.b)})
    return " ≠ ".join(groups)


def entry_of(
    discussed: Round, place: UnitPlace, split: Split, row: Disagreement | None, people: People
) -> Entry:
    """Four queries, however long the conversation and the thread are."""
    unit = LAYERS[place.layer].units
    is_rating = isinstance(unit, Judged) and bool(unit.value)
    payloads = payloads_of(discussed, place.conversation)
    labels = {
        name: labels_behind(split, name, payloads.get(name, {}), place) for name in split.labels
    }
    sides = _sides(place.layer, split, labels, payloads, people)
    return Entry(
        place=place,
        conversation=split.conversation,
        name=split.name,
        message=split.message,
        words=LAYERS[place.layer].words,
        messages=_messages(place, split, labels, people),
        marked=[side for side in sides if side.choice and not is_rating],
        unmarked=[side for side in sides if not side.choice and not is_rating],
        rated=sides if is_rating else [],
        compared=[
            compare(place.layer, own, payloads, people.name)
            for own in _side_by_side(place.layer, split, labels, people)
        ],
        row=row,
        thread=_thread(row, people) if row else [],
        answered_in=answered_in(row) if row else [],
    )


def _sides(
    layer: str,
    split: Split,
    labels: Mapping[str, list[Mapping[str, Any]]],
    payloads: Mapping[str, Payload],
    people: People,
) -> list[Side]:
    sides = []
    for name, choice in split.labels.items():
        own = {label["uid"] for label in labels[name]}
        shown = labels_of(payloads.get(name, {}), [layer], prefix=f"a-{name}")
        named = [label for label in shown if label.uid in own]
        sides.append(Side(people.name(name), choice, named))
    return sorted(sides, key=lambda side: side.name)


def _side_by_side(
    layer: str, split: Split, labels: Mapping[str, list[Mapping[str, Any]]], people: People
) -> list[LabelOf]:
    """The labels that belong next to each other, at most one of each annotator.

    Where nobody has several, that is all of them; otherwise those that are perhaps the same, or
    have the same name.
    """
    names, heading = sorted(labels, key=people.name), LAYERS[layer].heading
    groups: list[LabelOf] = []
    for name in names:
        for label in labels[name]:
            alone = all(len(own) < 2 for own in labels.values())
            fits = (
                group
                for group in groups
                if group[name] is None and (alone or _is_about(split, heading, group, name, label))
            )
            group = next(fits, None)
            if group is None:
                groups.append(group := dict.fromkeys(names))
            group[name] = label
    return groups


def _is_about(
    split: Split, heading: str, group: LabelOf, name: str, label: Mapping[str, Any]
) -> bool:
    pairs = {frozenset([(c.a, c.a_uid), (c.b, c.b_uid)]) for c in split.candidates}
    own = (name, str(label["uid"]))
    return any(
        frozenset([own, (other, str(theirs["uid"]))]) in pairs
        or (theirs.get(heading) and theirs.get(heading) == label.get(heading))
        for other, theirs in group.items()
        if theirs
    )


def _messages(
    place: UnitPlace,
    split: Split,
    labels: Mapping[str, list[Mapping[str, Any]]],
    people: People,
) -> list[Shown]:
    """What the labels cite, and what is said around the disagreement."""
    text = Transcript.objects.filter(conversation=place.conversation).values_list(
        "messages", flat=True
    )
    messages = transcripts.read(text[0])
    cited: dict[int, list[str]] = defaultdict(list)
    for name in sorted(labels, key=people.name):
        for index in sorted({at for own in labels[name] for at in sources_of(place.layer, own)}):
            cited[index].append(people.name(name))
    near = set(sorted(cited)[:MOST_CITED])
    if split.message is not None:
        near |= set(range(split.message - AROUND, split.message + AROUND + 1))
    shown = [index for index in sorted(near) if 0 <= index < len(messages)]
    before = [-1, *shown]
    return [
        Shown(messages[index], cited[index], is_behind_gap=index > last + 1)
        for last, index in zip(before, shown, strict=False)
    ]


def _thread(row: Disagreement, people: People) -> list[Remark]:
    return [
        Remark(people.name(comment.author.get_username()), comment.body, comment.created_at)
        for comment in thread_of(row)
    ]
