"""Conversations of files as they will look, before anything is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import BinaryIO

from labeling.conversations.formats import conversations, tables
from labeling.conversations.formats.talks import NOT_A_SPEAKER, HowToRead, header_key, role_by_name
from labeling.conversations.rules.importing import Problem, Record, Turn

SHOWN_CONVERSATIONS, SHOWN_MESSAGES = 3, 6
SHOWN_NAMES, SHOWN_DOUBTS, SHOWN_CHARACTERS = 12, 30, 120
NOT_UTF8 = {"file.line_no_utf8", "file.line_not_utf8", "file.line_not_utf8_at"} | {
    "file.not_utf8",
    "file.not_utf8_at",
}
LOOKED_AT = 1_000
"""Conversations of each file whose names are counted: a preview is faster than an import."""


@dataclass(frozen=True, slots=True)
class ShownConversation:
    file: str
    record: Record

    @property
    def turns(self) -> Sequence[Turn]:
        return self.record.turns[:SHOWN_MESSAGES]

    @property
    def more(self) -> int:
        return max(0, len(self.record.turns) - SHOWN_MESSAGES)


@dataclass(frozen=True, slots=True)
class NamedSpeaker:
    """Somebody by the name in the files, how much they say, and the role they get.

    ``line`` is where the name stands first, if it may be none, or may be one that was not taken.
    """

    name: str
    messages: int
    role: str
    line: str = ""


@dataclass(slots=True)
class ShownTable:
    """Files that are tables with the same columns, and which column is what in them."""

    key: str
    header: list[str]
    columns: dict[str, str]
    files: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Preview:
    """The first conversations, who speaks in them, and the columns of the files that are tables.

    ``is_other_text`` says that a file is not UTF-8.
    """

    conversations: list[ShownConversation] = field(default_factory=list)
    speakers: list[NamedSpeaker] = field(default_factory=list)
    n_speakers: int = 0
    formats: list[str] = field(default_factory=list)
    tables: dict[str, ShownTable] = field(default_factory=dict)
    is_other_text: bool = False

    @property
    def asks(self) -> bool:
        return any(speaker.line for speaker in self.speakers)


def look_at(files: Iterable[tuple[str, BinaryIO]], *, format: str, how: HowToRead) -> Preview:
    """What files hold, as far as it is shown; what is wrong in them, the import says."""
    preview, names = Preview(), Counter[str]()
    counting = replace(how, names=names, doubts={})
    roles: dict[str, str] = {}
    for file, stream in files:
        stream, known = conversations.opened(stream, format=format, name=file, how=how)
        if known not in preview.formats:
            preview.formats.append(known)
        if known in conversations.TABLES and (header := tables.header_of(stream, known)):
            key = header_key(header)
            columns = {**tables.guess_columns(header), **how.columns_of(header)}
            table = preview.tables.setdefault(key, ShownTable(key, header, columns))
            table.files.append(file)
        entries = conversations.read(stream, format=known, name=file, how=counting)
        for entry in islice(entries, LOOKED_AT):
            if isinstance(entry, Problem):
                preview.is_other_text |= entry.reason.code in NOT_UTF8
                continue
            record = entry[1]
            roles |= {turn.speaker or turn.role: turn.role for turn in record.turns}
            if len(preview.conversations) < SHOWN_CONVERSATIONS:
                preview.conversations.append(ShownConversation(file, record))
    preview.n_speakers = len({*names, *counting.doubts})
    sure = [pair for pair in names.most_common() if pair[0] not in counting.doubts]
    asked = [(name, names[name] or doubt.times) for name, doubt in counting.doubts.items()]
    preview.speakers = [
        NamedSpeaker(name, number, _role(name, names, roles, how), _line(counting, name))
        for name, number in [*asked[:SHOWN_DOUBTS], *sure[:SHOWN_NAMES]]
    ]
    return preview


def _role(name: str, names: Mapping[str, int], roles: Mapping[str, str], how: HowToRead) -> str:
    guessed = roles.get(name) or role_by_name(name)
    return how.chosen(name) or (guessed if name in names else NOT_A_SPEAKER)


def _line(how: HowToRead, name: str) -> str:
    return how.doubts[name].line[:SHOWN_CHARACTERS] if name in how.doubts else ""
