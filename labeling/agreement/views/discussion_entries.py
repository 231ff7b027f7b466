"""One disagreement for reading: the message in its context, who chose what, and the thread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from labeling.agreement.discussed import Entry, Side
from labeling.agreement.rules.units import sources_of
from labeling.conversations.rules import transcripts
from labeling.conversations.rules.transcripts import Message
from labeling.conversations.views.labels import Label, Row, field_row, labels_of
from labeling.models import Transcript
from labeling.schema import LAYERS, form_fields
from labeling.schema.layers import Judged

AROUND = 2  # messages of context on either side
MOST_CITED = 12  # messages that labels cite, besides


class Shown(NamedTuple):
    """A message, who cites it in one of the labels, and whether messages before it are left out."""

    message: Message
    cited_by: list[str]
    is_behind_gap: bool


LabelOf = dict[str, Mapping[str, Any] | None]
"""By annotator, None for those without one."""


class FieldRow(NamedTuple):
    """What each annotator wrote in a field; None without a label."""

    name: str
    cells: list[Row | None]
    differs: bool


class Compared(NamedTuple):
    """A column for each annotator who could have made such a label.

    ``ids`` are what the labels are called, empty where somebody has none. ``rows`` are the fields
    to look at: those that are not equal, and of a single label all.
    """

    people: list[str]
    ids: list[str]
    rows: list[FieldRow]
    same: list[FieldRow]


def shown_of(entry: Entry) -> dict[str, Any]:
    """What its page shows of it. Four queries, however long conversation and thread are."""
    unit, layer = LAYERS[entry.place.layer].units, entry.place.layer
    is_rating = isinstance(unit, Judged) and bool(unit.value)
    labels = {side.annotator: list(side.labels) for side in entry.sides}
    named = {side.annotator: entry.payloads.get(side.username, {}) for side in entry.sides}
    sides = [(side, _shown_labels(entry, side)) for side in entry.sides]
    return {
        "entry": entry,
        "words": LAYERS[layer].words,
        "turns": _messages(entry),  # “messages” are those of Django on every page
        "marked": [each for each in sides if each[0].choice and not is_rating],
        "unmarked": [side for side, _ in sides if not side.choice and not is_rating],
        "rated": [side for side, _ in sides] if is_rating else [],
        "compared": [compare(layer, own, named) for own in _side_by_side(layer, entry, labels)],
    }


def _shown_labels(entry: Entry, side: Side) -> list[Label]:
    own = {label["uid"] for label in side.labels}
    payload = entry.payloads.get(side.username, {})
    shown = labels_of(payload, [entry.place.layer], prefix=f"a-{side.username}")
    return [label for label in shown if label.uid in own]


def _side_by_side(
    layer: str, entry: Entry, labels: Mapping[str, list[Mapping[str, Any]]]
) -> list[LabelOf]:
    """The labels that belong next to each other, at most one of each annotator.

    Where nobody has several, that is all of them; otherwise those that are perhaps the same, or
    have the same name.
    """
    heading = LAYERS[layer].heading
    pairs = {
        frozenset([(entry.name(c.a), c.a_uid), (entry.name(c.b), c.b_uid)])
        for c in entry.split.candidates
    }
    alone = all(len(own) < 2 for own in labels.values())
    groups: list[LabelOf] = []
    for name, own in labels.items():
        for label in own:
            fits = (
                group
                for group in groups
                if group[name] is None and (alone or _is_about(pairs, heading, group, name, label))
            )
            group = next(fits, None)
            if group is None:
                groups.append(group := dict.fromkeys(labels))
            group[name] = label
    return groups


def _is_about(
    pairs: Collection[frozenset[tuple[str, str]]],
    heading: str,
    group: LabelOf,
    name: str,
    label: Mapping[str, Any],
) -> bool:
    own = (name, str(label["uid"]))
    return any(
        frozenset([own, (other, str(theirs["uid"]))]) in pairs
        or (theirs.get(heading) and theirs.get(heading) == label.get(heading))
        for other, theirs in group.items()
        if theirs
    )


def compare(
    layer: str,
    labels: LabelOf,
    payloads: Mapping[str, Mapping[str, Any]],
) -> Compared:
    """A field that nobody filled in has no row."""
    rows: list[FieldRow] = []
    same: list[FieldRow] = []
    existing = [label for label in labels.values() if label]
    for field in form_fields(layer):
        name = field["name"]
        if not any(label.get(name) for label in existing):
            continue
        cells = [
            field_row(layer, label, name, payloads[who]) if label else None
            for who, label in labels.items()
        ]
        said = {(cell.text, *cell.lines) for cell in cells if cell}
        row = FieldRow(field["label"], cells, len(said) > 1 and name not in LAYERS[layer].remarks)
        (rows if len(said) > 1 or len(existing) == 1 else same).append(row)
    ids = [str(label.get("id") or "") if label else "" for label in labels.values()]
    return Compared(list(labels), ids, rows, same)


def _messages(entry: Entry) -> list[Shown]:
    """What the labels cite, and what is said around the disagreement."""
    text = Transcript.objects.get(conversation=entry.place.conversation)
    messages = transcripts.read(text.messages)
    cited: dict[int, list[str]] = defaultdict(list)
    for side in entry.sides:
        sources = {at for own in side.labels for at in sources_of(entry.place.layer, own)}
        for index in sorted(sources):
            cited[index].append(side.annotator)
    near = set(sorted(cited)[:MOST_CITED])
    if (at := entry.split.message) is not None:
        near |= set(range(at - AROUND, at + AROUND + 1))
    shown = [index for index in sorted(near) if 0 <= index < len(messages)]
    before = [-1, *shown]
    return [
        Shown(messages[index], cited[index], is_behind_gap=index > last + 1)
        for last, index in zip(before, shown, strict=False)
    ]
