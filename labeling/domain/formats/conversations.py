"""Conversations out of the files of other tools; their labels are another import."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO, NotRequired, TypedDict

from labeling.domain.exchange.importing import Problem, Record, read_native, record_of
from labeling.domain.formats import doccano, labelstudio
from labeling.domain.formats.answers import FileConversation, LineFault, ReadLine, written

Read = Iterator[tuple[int, Record] | Problem]


def _read(reader: Callable[[BinaryIO], Iterator[ReadLine]], stream: BinaryIO) -> Read:
    for item in reader(stream):
        if isinstance(item, LineFault):
            yield Problem(item.line, item.reason)
        else:
            yield record_of(item[0], _document(item[1]))


class ConversationLine(TypedDict):
    """A line of the native format of conversations."""

    id: str
    domain: str
    difficulty: str
    split: str
    origin: NotRequired[str]
    generator: NotRequired[str]
    messages: list[ConversationMessage]


class ConversationMessage(TypedDict):
    role: str
    content: str
    speaker: str
    time: str | None


def _document(labelled: FileConversation) -> ConversationLine:
    return {
        "id": labelled.id,
        "domain": labelled.domain,
        "difficulty": labelled.difficulty,
        "split": labelled.split,
        **labelled.written_by,
        "messages": [
            {
                "role": turn.role,
                "content": turn.content,
                "speaker": turn.speaker,
                "time": written(turn.time),
            }
            for turn in labelled.turns
        ],
    }


READERS: dict[str, Callable[[BinaryIO], Read]] = {
    "native": read_native,
    "labelstudio": partial(_read, partial(labelstudio.read, with_answers=False)),
    "doccano": partial(_read, partial(doccano.read, with_answers=False)),
}
