"""Chats as REALTALK and LoCoMo publish them: one JSON file per chat, with questions about it.

What cannot be a chat at all refuses the file (:class:`ChatRefused`). What is merely odd (a message
that is missing, an id written wrongly) is kept as a :class:`ChatFault`, so that nothing is lost
unseen.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

from labeling.conversations.formats.answers import Unreadable, as_dict, as_list, as_text
from labeling.conversations.formats.foreign import published_format
from labeling.conversations.published.faults import ChatFault
from labeling.conversations.rules.evidence import MessageId
from labeling.conversations.rules.importing import (
    MAX_LENGTHS,
    MIN_MESSAGES,
    Turn,
)
from labeling.domain.canonical import with_line_feeds
from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.domain.strict_json import why_no_json, without_repeats

MAX_FILE_BYTES = 256 * 1024 * 1024
RARELY = 0.1  # of the questions: a name that is in fewer is not the name they use
_KEY = re.compile(r"D([1-9]\d{0,5}):([1-9]\d{0,5})")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}")  # a capital inside a sentence
_DATES = """
    January February March April May June July August September October November December Monday
    Tuesday Wednesday Thursday Friday Saturday Sunday New Year Day Eve Christmas
"""
_NO_NAMES = frozenset(_DATES.split())


ChatRefused = Unreadable
"""The file is not a chat of this format; the fact names the place and the reason."""


class NoChat(NamedTuple):
    """Why a part of a file is none, and its name."""

    name: str
    reason: Fact


class Line(NamedTuple):
    """One message as published."""

    key: MessageId
    speaker: str
    text: str
    time: datetime | None
    pictured: bool


class Question(NamedTuple):
    """A question as published; ``place`` is where it is in its file."""

    place: str
    question: str
    answer: str
    evidence: tuple[str, ...]
    category: str
    adversarial_answer: str = ""


@dataclass(frozen=True)
class Chat:
    """One conversation in stable time order. ``lines[0]`` has localId 1; ``gaps`` says why an id
    is missing.
    """

    id: str
    format: str
    lines: tuple[Line, ...]
    sessions: int = 0
    questions: tuple[Question, ...] = ()
    faults: tuple[ChatFault, ...] = ()
    gaps: Mapping[MessageId, str] = field(default_factory=dict)

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(
            Turn(role="speaker", content=line.text, speaker=line.speaker, time=line.time)
            for line in self.lines
        )

    @cached_property
    def positions(self) -> dict[MessageId, int]:
        """0-based position by published id."""
        return {line.key: position for position, line in enumerate(self.lines)}

    @property
    def dia_ids(self) -> list[str]:
        """The published id of each message, in order: that of localId 1 comes first."""
        return [str(line.key) for line in self.lines]


class Shape(NamedTuple):
    """How a data set writes its chats: under which keys, and what its numbers mean.

    Where only sessions have times, each of their messages gets that time and a second more.
    """

    within: str
    names: tuple[str, str, str]
    text: str
    pictures: tuple[str, str]
    time: str
    example: str
    by_session: bool
    categories: Mapping[int, str]


FORMATS = {
    "realtalk": Shape(
        within="",
        names=("name", "speaker_1", "speaker_2"),
        text="clean_text",
        pictures=("img_file", "img_url"),
        time="%d.%m.%Y, %H:%M:%S",
        example="29.12.2023, 22:42:04",
        by_session=False,
        categories={1: "multi-hop", 2: "temporal", 3: "commonsense"},
    ),
    "locomo": Shape(
        within="conversation",
        names=("conversation", "speaker_a", "speaker_b"),
        text="text",
        pictures=("blip_caption", "img_url"),
        time="%I:%M %p on %d %B, %Y",
        example="1:56 pm on 8 May, 2023",
        by_session=True,
        categories={
            1: "multi-hop",
            2: "temporal",
            3: "open-domain",
            4: "single-hop",
            5: "adversarial",
        },
    ),
}
"""The categories by the data sets' own scoring."""


def number_of(file: str) -> int | None:
    """The number of a chat, from the name of its file.

    Examples
    --------
    >>> number_of("Chat_10_Fahim_Muhhamed.json"), number_of("notes.json")
    (10, None)
    """
    digits = re.search(r"(?<!\d)(\d{1,4})(?!\d)", file)
    return int(digits[1]) if digits else None


def read_chats(file: str, raw: bytes, *, format: str) -> Iterator[Chat | NoChat]:
    """The chat of a file, or each of a list of them, named by its sample; what is none."""
    try:
        document = parse(raw)
    except ChatRefused as refused:
        yield NoChat("", refused.fact)
        return
    found = [("", file, document)]
    if isinstance(document, list) and any(published_format(each) == format for each in document):
        found = []
        for number, each in enumerate(document, start=1):
            named = each.get("sample_id") if isinstance(each, dict) else None
            by_place = f"{file.rsplit('.', 1)[0]}-{number}"
            name = named if isinstance(named, str) and named else by_place
            found.append((name, f"{name}.json", each))
    for name, place, each in found:
        try:
            yield _read(place, each, format)
        except ChatRefused as refused:
            yield NoChat(name, refused.fact)


def read_chat(file: str, raw: bytes, *, format: str) -> Chat:
    """The chat of one file, named after the file.

    Raises
    ------
    ChatRefused
        Its fact says where in the file, and why.
    """
    return _read(file, parse(raw), format)


def _read(file: str, document: Any, format: str) -> Chat:
    name = file.rsplit(".", 1)[0]
    if not name.strip() or not name.isprintable() or len(name) > MAX_LENGTHS["id"]:
        raise ChatRefused(msgid("the file's name cannot name a conversation"))
    if isinstance(document, list):
        raise ChatRefused(
            msgid("the file holds a list of cases: import it with import_gold --layer arc")
        )
    if published_format(document) != format:
        raise ChatRefused(
            msgid("this is not a {format} chat: it has no sessions where {format} has them"),
            format=format,
        )
    shape = FORMATS[format]
    faults: list[ChatFault] = []
    talk = as_dict(document[shape.within], shape.within) if shape.within else document
    sessions = [(key, as_list(talk[key], key)) for _, key in _numbered(talk, r"session_(\d+)")]
    lines = tuple(_lines(shape, talk, sessions, faults))
    if len(lines) < MIN_MESSAGES:
        raise ChatRefused(
            msgid("a chat needs at least {least} messages, not {messages}"),
            least=MIN_MESSAGES,
            messages=len(lines),
        )
    if twice := [key for key, times in Counter(line.key for line in lines).items() if times > 1]:
        raise ChatRefused(msgid("the id {key} is in the file twice"), key=str(twice[0]))
    gaps, gap_faults = gaps_of(lines)
    questions = read_questions(document.get("qa") or [], format=format, faults=faults)
    under, *keys = shape.names
    head = as_dict(document.get(under) or {}, under)
    names = [str(head[key]) for key in keys if head.get(key)]
    return Chat(
        id=name,
        format=format,
        lines=_in_time_order(lines),
        sessions=sum(bool(messages) for _, messages in sessions),
        questions=questions,
        faults=(*faults, *gap_faults, *_name_faults(names, lines, questions)),
        gaps=gaps,
    )


def _numbered(document: Mapping[str, Any], pattern: str) -> list[tuple[int, str]]:
    """Keys such as ``session_12`` with their numbers, in numerical order."""
    matches = ((re.fullmatch(pattern, key), key) for key in document)
    return sorted((int(match[1]), key) for match, key in matches if match)


def _lines(
    shape: Shape,
    talk: Mapping[str, Any],
    sessions: Sequence[tuple[str, list[Any]]],
    faults: list[ChatFault],
) -> Iterator[Line]:
    for key, messages in sessions:
        start = None
        if shape.by_session:
            start = _time(shape, talk, f"{key}_date_time", "conversation", key, faults)
            if start and messages:
                faults.append(ChatFault("made_time", key, str(len(messages))))
        for number, value in enumerate(messages):
            place = f"{key}[{number}]"
            line = _line(shape, as_dict(value, place), place)
            if not shape.by_session:
                place = f"{place} ({line.key})"
                time = _time(shape, value, "date_time", place, place, faults)
            else:
                time = start + timedelta(seconds=number) if start else None
            yield line._replace(time=time)
    for number, key in _numbered(talk, r"session_(\d+)_date_time") if shape.by_session else ():
        if not talk.get(f"session_{number}"):
            faults.append(ChatFault("unused_time", key, str(talk[key])))


def _line(shape: Shape, message: Mapping[str, Any], place: str) -> Line:
    """Without its time; a picture is a last line that describes it."""
    key = _key_of(message, place)
    speaker = text_of(message, "speaker", place)
    if len(speaker) > MAX_LENGTHS["speaker"]:
        path, most = f'{place}: "speaker"', MAX_LENGTHS["speaker"]
        raise ChatRefused("file.longer_than", path=path, most=most)
    caption = " ".join(text_of(message, "blip_caption", place, required=False).split())
    pictured = any(message.get(each) for each in shape.pictures)
    text = text_of(message, shape.text, place, required=not pictured)
    if pictured:
        picture = f"[image: {caption}]" if caption else "[image]"
        text = f"{text}\n{picture}" if text.strip() else picture
    return Line(key, speaker, text, None, pictured)


def _time(
    shape: Shape,
    within: Mapping[str, Any],
    key: str,
    place: str,
    missing: str,
    faults: list[ChatFault],
) -> datetime | None:
    text = text_of(within, key, place, required=False).strip()
    if not text:
        faults.append(ChatFault("no_time", missing, ""))
        return None
    try:
        return datetime.strptime(text, shape.time).replace(tzinfo=UTC)
    except ValueError:
        raise _bad_value(place, key, text, shape.example) from None


def _key_of(message: Mapping[str, Any], place: str) -> MessageId:
    text = text_of(message, "dia_id", place)
    match = _KEY.fullmatch(text)
    if not match:
        raise _bad_value(place, "dia_id", text, "D1:14")
    return MessageId(int(match[1]), int(match[2]))


def _bad_value(place: str, key: str, text: str, example: str) -> ChatRefused:
    value = ascii(text[:40])
    return ChatRefused("chat.bad_value", place=place, key=key, value=value, example=example)


def _in_time_order(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Stable: equal times keep the order of the file, and a line without a time its place."""
    latest = datetime.min.replace(tzinfo=UTC)
    places = []
    for line in lines:
        latest = line.time or latest
        places.append(latest)
    return tuple(lines[at] for at in sorted(range(len(lines)), key=places.__getitem__))


def gaps_of(lines: Sequence[Line]) -> tuple[dict[MessageId, str], list[ChatFault]]:
    """The kind of each missing id, and one fault for each gap; ``lines`` as in the file.

    The published ids were given before messages that were only a picture were dropped, so a number
    that is missing next to a message with a picture most likely was one.
    """
    missing: dict[MessageId, str] = {}
    faults: list[ChatFault] = []
    before: Line | None = None
    for line in lines:
        part, number = line.key
        first = before.key.number + 1 if before and before.key.part == part else 1
        if ids := [MessageId(part, each) for each in range(first, number)]:
            pictured = line.pictured or (before is not None and before.pictured)
            missing |= dict.fromkeys(ids, "picture_only" if pictured else "absent")
            place = f"between {before.key} and {line.key}" if before else f"before {line.key}"
            kind = "picture_gap" if pictured else "gap"
            faults.append(ChatFault(kind, place, ", ".join(map(str, ids))))
        before = line
    return missing, faults


def _name_faults(
    names: Sequence[str], lines: Sequence[Line], questions: Sequence[Question]
) -> Iterator[ChatFault]:
    """Names that differ between the head of the file, its messages and its questions.

    Counted, not guessed: which speaker no question names, and whom they name instead.
    """
    spoken = list(dict.fromkeys(line.speaker for line in lines))
    for name in spoken if names else ():
        if name not in names:
            head = f"the head of the file names {', '.join(names)}"
            yield ChatFault("speaker_name", name, head)
    known = {word.casefold() for name in spoken for word in name.split()}
    others = Counter(
        word
        for each in questions
        for word in set(_NAME.findall(each.question)) - _NO_NAMES
        if word.casefold() not in known
    )
    least = RARELY * len(questions)
    common = ", ".join(f"{word} in {n}" for word, n in others.most_common(3) if n >= least)
    for name in spoken if common else ():
        says = re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE).search
        named = sum(bool(says(f"{each.question} {each.answer}")) for each in questions)
        if named < least:
            said = f"named in {named} of {len(questions)} questions; they name {common}"
            yield ChatFault("other_name", name, said)


# --- questions ------------------------------------------------------------------------------------


def read_questions(
    listed: Any, *, format: str, faults: list[ChatFault], where: str = "qa"
) -> tuple[Question, ...]:
    """Each question of a list, with its place; oddities are added to ``faults``."""
    rows = enumerate(as_list(listed, where))
    return tuple(_question(row, f"{where}[{number}]", format, faults) for number, row in rows)


def _question(value: Any, place: str, format: str, faults: list[ChatFault]) -> Question:
    row = as_dict(value, place)
    known, category = FORMATS[format].categories, row.get("category")
    question = text_of(row, "question", place)
    answer = row.get("answer", row.get("expected_answer"))
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        faults.append(ChatFault("answer_number", place, str(answer)))
        answer = str(answer)
    answer = text_of({"answer": answer}, "answer", place, required=False)
    if not answer.strip():
        faults.append(ChatFault("no_answer", place, question))
    evidence = row.get("evidence", row.get("evidence_dia_ids"))
    evidence = [evidence] if isinstance(evidence, str) else evidence
    if type(category) is not int or category not in known:
        raise ChatRefused(
            msgid('{place}: "category" is {value}; known are {known}'),
            place=place,
            value=ascii(category),
            known=list(known),
        )
    return Question(
        place=place,
        question=question,
        answer=answer,
        evidence=texts_of([] if evidence is None else evidence, f'{place}: "evidence"'),
        category=known[category],
        adversarial_answer=text_of(row, "adversarial_answer", place, required=False),
    )


# --- JSON, with the place of everything that is wrong ---------------------------------------------


def parse(raw: bytes) -> Any:
    """The document; refused where it is not JSON in UTF-8."""
    if len(raw) > MAX_FILE_BYTES:
        raise ChatRefused("file.too_long", limit=MAX_FILE_BYTES)
    try:
        return json.loads(raw.decode("utf-8-sig"), object_pairs_hook=without_repeats)
    except UnicodeDecodeError as error:
        raise ChatRefused("file.not_utf8_at", byte=error.start + 1) from None
    except json.JSONDecodeError as error:
        raise ChatRefused(
            msgid("line {line:d}, column {column:d}: not valid JSON: {said}"),
            line=error.lineno,
            column=error.colno,
            said=error.msg,
        ) from None
    except (FileFault, ValueError, RecursionError) as error:
        raise ChatRefused("file.not_json", why=why_no_json(error)) from None


def text_of(document: Mapping[str, Any], key: str, place: str, *, required: bool = True) -> str:
    """The text under ``key``; null and a missing key are empty."""
    path = f'{place}: "{key}"'
    if required and document.get(key) is None:
        raise ChatRefused("file.missing", path=path)
    return with_line_feeds(as_text(document.get(key), path, required=required))


def texts_of(value: Any, place: str) -> tuple[str, ...]:
    listed = as_list(value, place)
    return tuple(as_text(element, place, required=element is None) for element in listed)
