"""Samples: a conversation in a JSON or YAML file, and the labels that a person saved about it.

A sample holds ``conversation``, a list of ``role`` and ``content``, with ``domain`` and
``difficulty``. Its name is that of its file. The labels may be in a file of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, BinaryIO, NamedTuple

from labeling.conversations.formats import chatlogs
from labeling.conversations.formats.answers import (
    LineFault,
    Unchecked,
    Unreadable,
    as_dict,
    as_list,
)
from labeling.conversations.formats.talks import MAX_BYTES, seekable, stem_of
from labeling.conversations.rules.importing import (
    MESSAGE_KEYS,
    LeftOut,
    Problem,
    Record,
    record_of,
)
from labeling.domain.facts import Fact
from labeling.domain.yaml_files import MAX_BYTES as MAX_YAML_BYTES
from labeling.domain.yaml_files import Place, YamlDocument, YamlFault, read_documents
from labeling.schema.layers import LAYERS, stages

YAML_ENDINGS = (".yaml", ".yml")
IDS = ("sample_id", "id", "conversation_id")
HEAD = ("domain", "difficulty", "split")
"""What a sample says of its conversation, at its top or under ``metadata``."""
LABELS = ("annotator", "labeled_at")
METADATA = "metadata"
MOST_SHOWN = 80  # characters of a value that is left out


class SampleDocument(NamedTuple):
    """One sample of a file. ``source`` knows the lines of its values, where it is YAML."""

    line: int
    value: Any
    source: YamlDocument | None = None
    place: Place = ()

    def line_of(self, place: Place) -> int:
        return self.source.line_of((*self.place, *place)) if self.source else self.line


def section_keys() -> tuple[str, ...]:
    """The keys under which labels may be: by layer its own, and one that wraps it."""
    return tuple(key for name in stages() for key in (LAYERS[name].key, f"{name}_labels"))


def documents(stream: BinaryIO, *, name: str) -> Iterator[SampleDocument | LineFault]:
    """The samples of a file: one, a list of them, JSON Lines, or several documents of YAML.

    A list of something else, as of labels, is one document.
    """
    stream = seekable(stream)
    is_yaml = PurePath(name).suffix.casefold() in YAML_ENDINGS
    yield from _in_yaml(stream) if is_yaml else _in_json(stream)


def _in_yaml(stream: BinaryIO) -> Iterator[SampleDocument | LineFault]:
    has_documents = False
    try:
        for document in read_documents(stream.read(MAX_YAML_BYTES + 1)):
            has_documents = True
            yield from _apart(document)
    except YamlFault as fault:
        yield LineFault(fault.line, fault.fact)
        return
    if not has_documents:
        yield LineFault(None, Fact("file.empty"))


def _apart(document: YamlDocument) -> Iterator[SampleDocument]:
    value = document.value
    if isinstance(value, list) and value and all(map(is_sample, value)):
        for number, item in enumerate(value):
            yield SampleDocument(document.line_of((number,)), item, document, (number,))
    else:
        yield SampleDocument(document.line_of(()), value, document)


def _in_json(stream: BinaryIO) -> Iterator[SampleDocument | LineFault]:
    """Labels that are listed without a sample are one document, as long as one may be."""
    listed: list[Any] = []
    first_line = 1
    for entry in chatlogs.documents(stream):
        if isinstance(entry, LineFault):
            yield entry
        elif is_sample(entry[1]):
            yield SampleDocument(*entry)
        else:
            first_line = first_line if listed else entry[0]
            listed.append(entry[1])
            if len(listed) > MAX_LISTED:
                yield LineFault(entry[0], Fact("file.too_long", limit=MAX_BYTES))
                return
    if listed:
        yield SampleDocument(first_line, listed)


MAX_LISTED = 10_000


def is_sample(value: Any) -> bool:
    """Whether a value is a whole sample or its labels, not a label alone."""
    keys = {"sample_id", "conversation", "messages", *LABELS, *section_keys()}
    return isinstance(value, dict) and not keys.isdisjoint(value)


def is_conversation(value: Mapping[str, Any]) -> bool:
    """Whether it is a sample with its text; other chat logs say nothing but messages."""
    return isinstance(value.get("conversation"), list) and not {
        *LABELS,
        *HEAD,
        METADATA,
        "sample_id",
        *section_keys(),
    }.isdisjoint(value)


# --- conversations --------------------------------------------------------------------------------


def read_conversations(stream: BinaryIO, name: str) -> Iterator[tuple[int, Record] | Problem]:
    """The conversations of a file's samples; labels in them are another import."""
    for number, document in enumerate(documents(stream, name=name)):
        if isinstance(document, LineFault):
            yield Problem(document.line, document.reason)
            continue
        try:
            yield _record(document, number, name)
        except Unreadable as fault:
            yield Problem(document.line, fault.fact)


def _record(document: SampleDocument, number: int, name: str) -> tuple[int, Record] | Problem:
    sample = as_dict(document.value, Fact("place.sample"))
    key = "conversation" if "conversation" in sample else "messages"
    if key not in sample:
        raise Unreadable("file.missing", path='"conversation"')
    unplaced: list[tuple[str, Any]] = []
    messages = [
        _message(message, f"{key}[{index}]", unplaced)
        for index, message in enumerate(as_list(sample[key], f'"{key}"'))
    ]
    written = {"id": id_of(sample) or _id_by_place(name, number), "messages": messages}
    entry = record_of(document.line, written | head_of_sample(sample))
    placed = {*IDS, *HEAD, *LABELS, key, METADATA, *section_keys()}
    unplaced += [(name, sample[name]) for name in sample if name not in placed]
    unplaced += head_left_out(sample)
    if isinstance(entry, Problem) or not unplaced:
        return entry
    left_out = (
        LeftOut(document.line, Fact("left_out.no_place", path=path), _written(value))
        for path, value in unplaced
    )
    return entry[0], replace(entry[1], left_out=tuple(left_out))


def _message(value: Any, path: str, unplaced: list[tuple[str, Any]]) -> Unchecked:
    message = as_dict(value, path)
    unplaced += [(f"{path}.{key}", message[key]) for key in message if key not in MESSAGE_KEYS]
    return {key: message[key] for key in MESSAGE_KEYS if key in message}


def id_of(sample: Mapping[str, Any]) -> str:
    named = next((sample[key] for key in IDS if sample.get(key) not in (None, "")), "")
    return str(named) if isinstance(named, str | int) and not isinstance(named, bool) else ""


def _id_by_place(name: str, number: int) -> str:
    """The first sample has the name of its file; further ones say which they are."""
    return stem_of(name) if number == 0 else f"{stem_of(name)}-{number + 1}"


def head_of_sample(sample: Mapping[str, Any]) -> dict[str, str]:
    metadata = sample.get(METADATA)
    within = metadata if isinstance(metadata, dict) else {}
    said = {key: sample.get(key, within.get(key)) for key in HEAD}
    if isinstance(said["difficulty"], str):
        said["difficulty"] = said["difficulty"].casefold()
    return {key: value for key, value in said.items() if value is not None}


def head_left_out(sample: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What the head says besides what is taken from it: further names, other metadata."""
    name = id_of(sample)
    for key in IDS:
        if sample.get(key) not in (None, "") and str(sample[key]) != name:
            yield key, sample[key]
    metadata = sample.get(METADATA)
    if isinstance(metadata, dict):
        for key, value in metadata.items():
            if value not in (None, "") and (key not in HEAD or sample.get(key, value) != value):
                yield f"{METADATA}.{key}", value
    elif metadata not in (None, ""):
        yield METADATA, metadata


def left_out_at(path: str, value: Any) -> Fact:
    shown = " ".join(_written(value).split())
    more = "…" if len(shown) > MOST_SHOWN else ""
    return Fact("sample.left_out", path=path, value=_printable(shown[:MOST_SHOWN]) + more)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "�" for character in text)


def turns_in(sample: Mapping[str, Any]) -> Sequence[Any]:
    """The messages of a sample that holds its text next to its labels."""
    listed = sample.get("conversation", sample.get("messages"))
    return listed if isinstance(listed, list) else ()


def names_in(sample: Iterable[str]) -> set[str]:
    """The keys of a sample that are no labels and no losses."""
    known = {*IDS, *HEAD, *LABELS, METADATA, "conversation", "messages"}
    return known.intersection(sample)
