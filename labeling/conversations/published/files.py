"""Reading one published file as a chat."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from labeling.conversations.published import gaps, locomo, reading, realtalk
from labeling.conversations.published.chat import Chat, ChatRefused, Line, in_time_order
from labeling.conversations.published.faults import ChatFault
from labeling.conversations.published.names import name_faults
from labeling.conversations.published.questions import read_questions
from labeling.conversations.rules.importing import MAX_LENGTHS, MIN_MESSAGES
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid

FORMATS = {"realtalk": realtalk, "locomo": locomo}


def number_of(file: str) -> int | None:
    """The number of a chat, from the name of its file.

    Examples
    --------
    >>> number_of("Chat_10_Fahim_Muhhamed.json"), number_of("notes.json")
    (10, None)
    """
    digits = re.search(r"(?<!\d)(\d{1,4})(?!\d)", file)
    return int(digits[1]) if digits else None


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Sorts names by the numbers in them.

    Examples
    --------
    >>> sorted(["Chat_10", "Chat_9", "Chat"], key=natural_key)
    ['Chat', 'Chat_9', 'Chat_10']
    """
    parts = [part for part in re.split(r"(\d{1,18})", text) if part]
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


def natural_bytes(text: str) -> bytes:
    """The same order for what compares bytes.

    Examples
    --------
    >>> sorted(["Chat_10", "Chat_9", "Chat"], key=natural_bytes)
    ['Chat', 'Chat_9', 'Chat_10']
    """
    parts = natural_key(text)
    return b"".join(b"1%b\0" % part.encode() if kind else b"0%018d" % n for kind, n, part in parts)


def format_of(document: Any) -> str:
    """The format of a chat file; empty if it is something else."""
    if not isinstance(document, dict):
        return ""
    if isinstance(document.get("conversation"), dict):
        return "locomo"
    return "realtalk" if any(re.fullmatch(r"session_\d+", key) for key in document) else ""


class NoChat(NamedTuple):
    """Why a part of a file is none, and its name."""

    name: str
    reason: Fact


def read_chats(file: str, raw: bytes, *, format: str) -> Iterator[Chat | NoChat]:
    """The chat of a file, or each of a list of them, named by its sample; what is none."""
    try:
        document = reading.parse(raw)
    except ChatRefused as refused:
        yield NoChat("", refused.fact)
        return
    listed = document if isinstance(document, list) else []
    if not any(format_of(each) == format for each in listed):
        try:
            yield _read(_id(file), document, format)
        except ChatRefused as refused:
            yield NoChat("", refused.fact)
        return
    for number, each in enumerate(listed, start=1):
        named = each.get("sample_id") if isinstance(each, dict) else None
        name = named if isinstance(named, str) and named else f"{file.rsplit('.', 1)[0]}-{number}"
        try:
            yield _read(_id(f"{name}.json"), each, format)
        except ChatRefused as refused:
            yield NoChat(name, refused.fact)


def read_chat(file: str, raw: bytes, *, format: str) -> Chat:
    """The chat of one file, named after the file.

    Raises
    ------
    ChatRefused
        Its fact says where in the file, and why.
    """
    return _read(_id(file), reading.parse(raw), format)


def _read(name: str, document: Any, format: str) -> Chat:
    if isinstance(document, list):
        raise ChatRefused(
            msgid("the file holds a list of cases: import it with import_gold --layer arc")
        )
    if format_of(document) != format:
        raise ChatRefused(
            msgid("this is not a {format} chat: it has no sessions where {format} has them"),
            format=format,
        )
    return _chat(name, document, format)


def _id(file: str) -> str:
    name = file.rsplit(".", 1)[0]
    if not name.strip() or not name.isprintable() or len(name) > MAX_LENGTHS["id"]:
        raise ChatRefused(msgid("the file's name cannot name a conversation"))
    return name


def _chat(name: str, document: Mapping[str, Any], format: str) -> Chat:
    shape = FORMATS[format]
    faults: list[ChatFault] = []
    written = tuple(shape.lines_of(document, faults))
    _check(written)
    missing, gap_faults = gaps.gaps_of(written)
    questions = read_questions(document.get("qa") or [], format=format, faults=faults)
    names = shape.names_of(document)
    return Chat(
        id=name,
        format=format,
        lines=in_time_order(written),
        sessions=sum(bool(messages) for _, messages in shape.sessions_of(document)),
        names=names,
        questions=questions,
        faults=(*faults, *gap_faults, *name_faults(names, written, questions)),
        gaps=missing,
    )


def _check(lines: Sequence[Line]) -> None:
    if len(lines) < MIN_MESSAGES:
        raise ChatRefused(
            msgid("a chat needs at least {least} messages, not {messages}"),
            least=MIN_MESSAGES,
            messages=len(lines),
        )
    seen = set()
    for line in lines:
        if line.key in seen:
            raise ChatRefused(msgid("the id {key} is in the file twice"), key=str(line.key))
        seen.add(line.key)
