"""What every reader of somebody else's conversations yields, and how people and times become ours.

A reader gives the names of a file as they stand there; who is the user and who the analyst is
decided here, by what the person who imports says, else by names that say it themselves.
"""

from __future__ import annotations

import csv
import hashlib
import re
import shutil
import unicodedata
from codecs import BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from tempfile import NamedTemporaryFile, TemporaryFile
from typing import Any, BinaryIO, NamedTuple, cast

from labeling.conversations.formats.times import BEGINNING as BEGINNING
from labeling.conversations.formats.times import month_first_in, time_in
from labeling.conversations.formats.times import shown_time as shown_time
from labeling.conversations.rules.importing import (
    MAX_LENGTHS,
    MIN_MESSAGES,
    LeftOut,
    Problem,
    Record,
    record_of,
)
from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid

MAX_BYTES = 16 * 1024 * 1024  # of one conversation, as of a line of a native file
MAX_WRITTEN = 100_000  # characters of roles and columns
MAX_SPEAKERS = 10_000  # counted for a preview
EVERYBODY_ELSE = "*"
PARTICIPANT = "participant"
ENCODINGS = ("windows-1252",)
"""In which a file may be read that is not UTF-8, where a person says so."""
LEFT_OUT, NOT_A_SPEAKER = "-", "text"
"""What a role may say instead: leave the messages out, or read the lines as text."""

_USERS = """
    user client customer interviewee human patient caller respondent requester
    kunde kundin nutzer nutzerin befragter befragte
"""
_ANALYSTS = """
    analyst interviewer moderator agent consultant engineer
    analystin interviewerin moderatorin berater beraterin
"""
_ASSISTANTS = "assistant gpt chatgpt bot ai model chatbot assistent assistentin"
USERS, ANALYSTS, ASSISTANTS = (
    frozenset(names.split()) for names in (_USERS, _ANALYSTS, _ASSISTANTS)
)
ROLES = USERS | ANALYSTS | ASSISTANTS
_MACHINES = """
    system developer tool function ipython observation function_call function_response tool_call
    tool_result tool_response environment
"""
MACHINES = frozenset(_MACHINES.split())
"""Nobody in the conversation reads what they say, so it is left out unless asked for."""

NOT_STORABLE = re.compile("[\0\ud800-\udfff]")


class SaidTurn(NamedTuple):
    """One message as a file has it; ``role`` only where a file has both name and role."""

    name: str
    text: str
    time: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation of a file, where it begins, and what of it is no message."""

    line: int
    id: str
    turns: Sequence[SaidTurn]
    left_out: Sequence[LeftOut] = ()
    domain: str = ""
    split: str = ""


class Doubt(NamedTuple):
    """A name that may be none, or a text that may be one: how often, and where it stands first."""

    times: int
    line: str
    is_speaker: bool


@dataclass(frozen=True, slots=True)
class HowToRead:
    """What the person who imports says of a file: which columns, and who has which role.

    ``encoding`` is that of files which are not UTF-8; without it they are refused. ``names``
    counts the messages of everybody by the names in the file, for a preview; ``doubts`` has the
    names that it asks for.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    encoding: str = ""
    names: Counter[str] | None = None
    doubts: dict[str, Doubt] = field(default_factory=dict)
    by_header: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Columns of tables with a certain header, instead of those for all."""

    def columns_of(self, header: Sequence[str]) -> Mapping[str, str]:
        return self.by_header.get(header_key(header), self.columns)

    @classmethod
    def written(cls, columns: str = "", roles: str = "", encoding: str = "") -> HowToRead:
        """From ``text=Body,time=Sent`` and ``Ana=analyst,*=user``, as commands and programs say.

        A name of a role may have commas, in quotation marks or without: ``Costa, Ana=analyst``.

        Raises
        ------
        FileFault
            A part is not such a pair, or names what a column cannot be.
        """
        known = {"conversation", "speaker", "role", "text", "time", "order"}
        chosen = _pairs(columns, "columns")
        unknown = next((what for what in chosen if what not in known), None)
        if unknown is not None:
            raise FileFault(
                msgid("a column cannot be the {what}; it can be {known}"),
                what=unknown[:60],
                known=sorted(known),
            )
        named = {name_of(name): role for name, role in _pairs(roles, "roles").items()}
        return cls(chosen, named, encoding)

    def chosen(self, name: str) -> str:
        """What was said of this name itself; empty where nothing was."""
        return self.roles.get(name) or self.roles.get(name_of(name), "")

    def role_of(self, name: str) -> str:
        """The role that was chosen; empty where nothing was said."""
        everybody = "" if name.casefold() in MACHINES else self.roles.get(EVERYBODY_ELSE, "")
        return self.chosen(name) or everybody

    def doubt(self, name: str, line: str, *, is_speaker: bool) -> None:
        """That somebody should say whether a name is one."""
        if is_storable(name) and (name in self.doubts or len(self.doubts) < MAX_SPEAKERS):
            before = self.doubts.get(name, Doubt(0, line, is_speaker))
            self.doubts[name] = before._replace(times=before.times + 1)

    def count(self, name: str) -> None:
        """Names come here as files have them, before they are checked."""
        if self.names is None or not is_storable(name):
            return
        if name in self.names or len(self.names) < MAX_SPEAKERS:
            self.names[name] += 1


def header_key(header: Sequence[str]) -> str:
    """By which tables with these columns are known."""
    return hashlib.sha256("\0".join(header).encode(errors="replace")).hexdigest()[:12]


def is_storable(text: str) -> bool:
    """Whether a database and a page can hold it.

    Examples
    --------
    >>> is_storable("Zoé 🙂"), is_storable(chr(0xD83D)), is_storable("a" + chr(0))
    (True, False, False)
    """
    return NOT_STORABLE.search(text) is None


_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
)


def name_of(written: str) -> str:
    """One form for a name, however it is composed, blanked and marked.

    Examples
    --------
    >>> name_of("\\u200eAna\\u00a0 Costa\\u200b"), name_of("Zoe\\u0301")
    ('Ana Costa', 'Zoé')
    """
    return " ".join(_INVISIBLE.sub("", unicodedata.normalize("NFC", written)).split())


def _pairs(written: str, what: str) -> dict[str, str]:
    """Pairs between commas; a part without a sign belongs to the name in the next one."""
    pairs: dict[str, str] = {}
    begun = ""
    rows = csv.reader(written[:MAX_WRITTEN].splitlines(), skipinitialspace=True)
    for part in filter(None, (part.strip() for row in rows for part in row)):
        whole = f"{begun}, {part}" if begun else part
        name, sign, value = (side.strip() for side in whole.rpartition("="))
        begun = "" if sign else whole
        if sign and not (name and value):
            raise FileFault("file.no_pair", what=what, part=whole[:60])
        if sign:
            pairs[name] = value
    if begun or len(written) > MAX_WRITTEN:
        raise FileFault("file.no_pair", what=what, part=(begun or written)[:60])
    return pairs


def role_by_name(name: str) -> str:
    """The role that a name says by itself.

    Examples
    --------
    >>> [role_by_name(name) for name in ("Interviewer", "human", "GPT", "tool", "Dana")]
    ['analyst', 'user', 'assistant', '-', 'participant']
    """
    word = name.casefold().strip().rstrip("0123456789 ")
    if word in USERS:
        return "user"
    if word in ANALYSTS:
        return "analyst"
    if word in ASSISTANTS:
        return "assistant"
    return LEFT_OUT if word in MACHINES else PARTICIPANT


def records(
    talks: Iterable[Talk | Problem], how: HowToRead
) -> Iterator[tuple[int, Record] | Problem]:
    """Each conversation with its people in their roles, checked as a native line is."""
    for talk in talks:
        yield talk if isinstance(talk, Problem) else _record(talk, how)


def _roles_in(talk: Talk, how: HowToRead) -> dict[str, str]:
    """The role of each name: of a user and an analyst, who says of one says of the other."""
    roles = {}
    for turn in talk.turns:
        if turn.name not in roles:
            roles[turn.name] = how.role_of(turn.name) or turn.role or role_by_name(turn.name)
    if _answers_as_system([turn.name.casefold() for turn in talk.turns]):
        roles = {
            name: how.role_of(name) or ("assistant" if role == LEFT_OUT else role)
            for name, role in roles.items()
        }
    taken = set(roles.values())
    if "user" in taken:
        others = PARTICIPANT if taken & {"analyst", "assistant"} else "analyst"
    else:
        others = "user" if taken & {"analyst", "assistant"} else PARTICIPANT
    return {
        name: others if role == PARTICIPANT and not how.role_of(name) else role
        for name, role in roles.items()
    }


def _answers_as_system(names: Sequence[str]) -> bool:
    """Whether “system” is who talks with the user, and no prompt before the first message."""
    is_alone = set(names) - USERS == {"system"} and len(set(names)) > 1
    return is_alone and (names[0] != "system" or names.count("system") > 1)


def _record(talk: Talk, how: HowToRead) -> tuple[int, Record] | Problem:
    talk = replace(talk, turns=[turn._replace(name=name_of(turn.name)) for turn in talk.turns])
    roles = _roles_in(talk, how)
    month_first = month_first_in((talk.id, turn.time) for turn in talk.turns)
    messages: list[dict[str, Any]] = []
    left_out = list(talk.left_out)
    try:
        for turn in talk.turns:
            how.count(turn.name)
            role = how.role_of(turn.name) or turn.role or roles[turn.name]
            if role == LEFT_OUT:
                why = Fact("left_out.by_role", name=turn.name)
                left_out.append(LeftOut(talk.line, why, turn.text))
                continue
            is_said_by_role = turn.name.casefold() in {role.casefold(), *ROLES}
            speaker = "" if is_said_by_role else turn.name
            time = time_in(turn.time, month_first=month_first)
            messages.append({"role": role, "content": turn.text, "speaker": speaker, "time": time})
    except FileFault as fault:
        return Problem(talk.line, fault.fact, talk.id)
    document = {"id": talk.id, "domain": talk.domain, "split": talk.split, "messages": messages}
    entry = record_of(talk.line, document)
    if isinstance(entry, Problem) or not left_out:
        return entry
    line, record = entry
    return line, replace(record, left_out=tuple(left_out))


def with_roles(
    entries: Iterable[tuple[int, Record] | Problem], how: HowToRead
) -> Iterator[tuple[int, Record] | Problem]:
    """Records of formats that say roles themselves, with those that the person chose instead."""
    most = MAX_LENGTHS["role"]
    for entry in entries:
        if isinstance(entry, Problem):
            yield entry
            continue
        line, record = entry
        turns, left_out = [], list(record.left_out)
        for turn in record.turns:
            name = turn.speaker or turn.role
            how.count(name)
            role = how.role_of(name) or turn.role
            if role == LEFT_OUT:
                why = Fact("left_out.by_role", name=name)
                left_out.append(LeftOut(line, why, turn.content))
            else:
                turns.append(turn._replace(role=role))
        if (messages := len(turns)) < MIN_MESSAGES:
            why = Fact("file.few_messages", least=MIN_MESSAGES, messages=messages)
            yield Problem(line, why, record.id)
        elif any(len(turn.role) > most for turn in turns):
            yield Problem(line, Fact("file.longer_than", path='"role"', most=most), record.id)
        elif tuple(turns) == record.turns:
            yield entry
        else:
            yield line, replace(record, turns=tuple(turns), left_out=tuple(left_out))


# --- files ----------------------------------------------------------------------------------------

HEAD_BYTES = 64 * 1024


def seekable(stream: BinaryIO) -> BinaryIO:
    """The stream, or a copy of it on disk: some formats are read from their end.

    What Windows and Excel save as “Unicode”, UTF-16 with its mark at the beginning, becomes UTF-8.
    """
    if not stream.seekable():
        copy = TemporaryFile()  # noqa: SIM115 - closed when nobody reads it any more
        shutil.copyfileobj(stream, copy)
        copy.seek(0)
        stream = cast(BinaryIO, copy)
    mark = stream.read(2)
    stream.seek(0)
    return _in_utf8(stream, "utf-16") if mark in (BOM_UTF16_LE, BOM_UTF16_BE) else stream


def _in_utf8(stream: BinaryIO, encoding: str) -> BinaryIO:
    """A copy of a file in that encoding; what is not in it is left for its reader to refuse."""
    copy = NamedTemporaryFile()  # noqa: SIM115 - closes itself when nobody reads it any more
    try:
        for text in _decoded(stream, encoding):
            copy.write(text.encode())
    except UnicodeError:
        copy.close()
        stream.seek(0)
        return stream
    copy.seek(0)
    return cast(BinaryIO, copy)


def _decoded(stream: BinaryIO, encoding: str) -> Iterator[str]:
    decoder = getincrementaldecoder(encoding)()
    while part := stream.read(HEAD_BYTES):
        yield decoder.decode(part)
    yield decoder.decode(b"", final=True)


def unless_utf8(stream: BinaryIO, encoding: str) -> BinaryIO:
    """The stream if it is UTF-8, else a copy in UTF-8 of what is written in ``encoding``."""
    try:
        for _ in _decoded(stream, "utf-8"):
            pass
    except UnicodeError:
        stream.seek(0)
        return _in_utf8(stream, encoding)
    stream.seek(0)
    return stream


def head_of(stream: BinaryIO) -> bytes:
    """The beginning of a file, which is then read from there again."""
    head = stream.read(HEAD_BYTES)
    stream.seek(0)
    return head


# --- ids ------------------------------------------------------------------------------------------


def stem_of(name: str) -> str:
    """The name of a file as the id of what is in it.

    Examples
    --------
    >>> stem_of("Interview 3.vtt"), stem_of(""), stem_of("a" * 300)[:3]
    ('Interview 3', 'conversation', 'aaa')
    """
    stem = PurePath(name.replace("\\", "/")).stem
    stem = "".join(character if character.isprintable() else "_" for character in stem)
    return stem.strip()[:150].strip() or "conversation"


def id_by_content(name: str, turns: Iterable[SaidTurn]) -> str:
    """An id for a conversation that has none: the same text in a file of the same name, the same.

    Examples
    --------
    >>> id_by_content("chats.jsonl", [SaidTurn("user", "Hi"), SaidTurn("assistant", "Yes?")])
    'chats-f17f279785'
    """
    digest = hashlib.sha256()
    for turn in turns:
        digest.update(turn.text.encode(errors="replace") + b"\0")
    return f"{stem_of(name)}-{digest.hexdigest()[:10]}"
