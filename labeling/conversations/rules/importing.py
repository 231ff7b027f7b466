"""Conversations read line by line from a native file, each checked before anything is stored.

A native file holds one JSON object per line, in UTF-8. Reading is bounded: no more than one line is
held, and of a line that is too long only its beginning.
"""

import codecs
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any, BinaryIO, NamedTuple

from labeling.conversations.rules import transcripts
from labeling.conversations.rules.transcripts import Turn as Turn
from labeling.domain.canonical import with_line_feeds
from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.domain.strict_json import shown, why_no_json, without_repeats
from labeling.gold.rules.release import text_sha256

MAX_LINE_BYTES = 16 * 1024 * 1024
CHUNK_BYTES = 1024 * 1024
MIN_MESSAGES = 2
DIFFICULTIES = ("easy", "medium", "hard")
SPLITS = ("train", "dev", "test")
ORIGINS = ("collected", "synthetic")
CONVERSATION_KEYS = (
    "id",
    "domain",
    "difficulty",
    "split",
    "origin",
    "generator",
    "priority",
    "messages",
)
PASSED_OVER = ("schema_version", "answers", "decisions")
"""Keys in the same line where labels are exported; importing labels is another command."""
MESSAGE_KEYS = ("role", "content", "speaker", "time")
EXAMPLE = (
    '{"id": "a", "messages": [{"role": "user", "content": "…"}, '
    '{"role": "analyst", "content": "…"}]}'
)
MAX_LENGTHS = {"id": 200, "domain": 100, "role": 50, "speaker": 200, "generator": 200}
"""Characters that the database holds."""
MAX_PRIORITY = 32_767  # what the database holds, either side of 0


class Problem(NamedTuple):
    """Why a line, or (``line`` is None) a whole file, cannot be taken.

    ``title`` is by what people know the conversation.
    """

    line: int | None
    reason: Fact
    title: str = ""


class LeftOut(NamedTuple):
    """Words of a file that are in no message: on which line, why, and all of them."""

    line: int
    reason: Fact
    text: str


class Fingerprint(NamedTuple):
    """What must stay the same when a conversation is imported again. Empty text says nothing."""

    sha256: str
    domain: str
    difficulty: str
    split: str
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One conversation that passed every check."""

    id: str
    turns: tuple[Turn, ...]
    domain: str = ""
    difficulty: str = ""
    split: str = ""
    priority: int = 0
    origin: str = ""
    """``collected`` or ``synthetic``; where nothing is said, it is collected."""
    generator: str = ""
    left_out: tuple[LeftOut, ...] = ()
    """What the file says besides: messages without text or of nobody who speaks, other values."""

    @property
    def fingerprint(self) -> Fingerprint:
        named = (self.domain, self.difficulty, self.split)
        return Fingerprint(content_sha256(self.turns), *named, self.origin)

    @property
    def speakers(self) -> list[str]:
        """Who speaks, in order of appearance: by name where there is one, else by role."""
        return list(dict.fromkeys(turn.speaker or turn.role for turn in self.turns))

    @property
    def size(self) -> int:
        """Characters of text."""
        return sum(len(turn.content) for turn in self.turns)


def read_native(
    stream: BinaryIO, *, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[tuple[int, Record] | Problem]:
    """The conversations of one file with their line numbers, and a problem for each bad line.

    Parameters
    ----------
    stream
        Opened in binary mode; read once, forwards.
    max_line_bytes
        A longer line is a problem and is passed over without being held.

    Yields
    ------
    (line, Record) or Problem
        In the order of the file; blank lines are skipped. A file without any line is one problem.

    Examples
    --------
    >>> from io import BytesIO
    >>> next(read_native(BytesIO(b'{"id": "a"}')))
    Problem(line=1, reason=Fact(code='file.missing', values={'path': '"messages"'}), title='a')
    """
    found_any = False
    for number, raw in _lines(stream, max_line_bytes):
        if raw is not None and not raw.strip():
            continue
        if not found_any and raw is not None and (kind := _other_kind(raw)):
            yield Problem(
                number,
                Fact(
                    msgid(
                        "{why}: write a conversation a line, as {example}, or name the format"
                        " of the file"
                    ),
                    why=kind,
                    example=EXAMPLE,
                ),
            )
            return
        found_any = True
        try:
            if raw is None:
                raise FileFault("file.line_too_long", limit=max_line_bytes)
            yield record_of(number, _parse(raw))
        except FileFault as refused:
            yield Problem(number, refused.fact)
    if not found_any:
        yield Problem(None, Fact("file.empty"))


def record_of(line: int, document: Mapping[str, Any]) -> tuple[int, Record] | Problem:
    """One conversation in the keys of a native line, however its file was written."""
    try:
        return line, _record(document)
    except FileFault as refused:
        return Problem(line, refused.fact, str(document.get("id") or ""))


def content_sha256(turns: Sequence[Turn]) -> str:
    """SHA-256 of the canonical JSON of the messages: equal hashes, equal text."""
    return text_sha256(transcripts.written(turns))


def conflict(known: Fingerprint, new: Fingerprint) -> Fact | None:
    """Why ``new`` cannot have an id that is taken by ``known``; None if it can.

    A split that ``known`` does not have is not a conflict: it may get one.

    Examples
    --------
    >>> conflict(Fingerprint("1", "", "", ""), Fingerprint("1", "", "", "test"))
    >>> conflict(Fingerprint("1", "", "", "test"), Fingerprint("1", "", "", ""))
    >>> why = conflict(Fingerprint("1", "", "", "test"), Fingerprint("1", "", "", "train"))
    >>> print(why)
    import.known_otherwise key=split known=test wanted=train
    """
    if known.sha256 != new.sha256:
        return Fact("import.known_with_other_text")
    for name in ("domain", "difficulty", "split", "origin"):
        old, wanted = getattr(known, name), getattr(new, name)
        if wanted and wanted != old and not (name == "split" and not old):
            return Fact("import.known_otherwise", key=name, known=old, wanted=wanted)
    return None


def _lines(stream: BinaryIO, limit: int) -> Iterator[tuple[int, bytes | None]]:
    """Numbered lines; None for a line that is longer than ``limit`` bytes."""
    number = 0
    while raw := stream.readline(limit + 1):
        number += 1
        if number == 1:
            raw = raw.removeprefix(codecs.BOM_UTF8)
        if len(raw) <= limit or raw.endswith(b"\n"):
            yield number, raw
        else:
            _pass_over_line(stream)
            yield number, None


def _pass_over_line(stream: BinaryIO) -> None:
    while (rest := stream.readline(CHUNK_BYTES)) and not rest.endswith(b"\n"):
        pass


def _other_kind(first: bytes) -> Fact | None:
    """Why the file is not a native one, by its first line: a table, plain text, one long document.

    Then no other line can be read either, and a problem for each of them would help nobody.
    """
    try:
        text = first.decode().strip()
        document = json.loads(text)
    except json.JSONDecodeError:
        is_other = text in ("", "{", "[") or text[0] not in "{["
        said = msgid("not valid JSON, but a table, plain text or one long document")
        return Fact(said) if is_other else None
    except (ValueError, RecursionError):
        return None
    return None if isinstance(document, dict) else _not_an_object(document)


def _parse(raw: bytes) -> dict[str, Any]:
    try:
        document = json.loads(raw.rstrip().decode(), object_pairs_hook=without_repeats)
    except UnicodeDecodeError as error:
        bad = f"0x{raw[error.start]:02X}"
        raise FileFault("file.line_not_utf8_at", byte=bad, position=error.start + 1) from None
    except (ValueError, RecursionError) as error:
        raise FileFault("file.not_json", why=why_no_json(error)) from None
    if not isinstance(document, dict):
        raise FileFault(_not_an_object(document))
    return document


def _not_an_object(document: Any) -> Fact:
    return Fact("file.must_be_object_not", path=Fact("place.line"), kind=_kind(document))


def _record(document: Mapping[str, Any]) -> Record:
    keys = [key for key in document if key not in PASSED_OVER]
    _check_keys(keys, CONVERSATION_KEYS, where="")
    turns = _turns(document)
    return Record(
        id=_id(document),
        domain=_text(document, "domain", "domain"),
        difficulty=_choice(document, "difficulty", DIFFICULTIES),
        split=_choice(document, "split", SPLITS),
        origin=_choice(document, "origin", ORIGINS),
        generator=_text(document, "generator", "generator"),
        priority=_priority(document),
        turns=tuple(turn._replace(content=with_line_feeds(turn.content)) for turn in turns),
    )


def _id(document: Mapping[str, Any]) -> str:
    value = _text(document, "id", "id", required=True)
    if value != value.strip() or not value.isprintable():
        raise FileFault(
            msgid("{path} has white space around it or a control character in it"), path='"id"'
        )
    return value


def _priority(document: Mapping[str, Any]) -> int:
    value = document.get("priority")
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > MAX_PRIORITY:
        raise FileFault(
            msgid("{path} must be a whole number up to {most}, either side of 0"),
            path='"priority"',
            most=MAX_PRIORITY,
        )
    return value


def _turns(document: Mapping[str, Any]) -> tuple[Turn, ...]:
    messages = document.get("messages")
    if messages is None:
        raise FileFault("file.missing", path='"messages"')
    if not isinstance(messages, list):
        raise FileFault(
            msgid("{path} must be a list, not {kind}"), path='"messages"', kind=_kind(messages)
        )
    if len(messages) < MIN_MESSAGES:
        raise FileFault("file.few_messages", least=MIN_MESSAGES, messages=len(messages))
    return tuple(_turn(message, f"messages[{index}]") for index, message in enumerate(messages))


def _turn(message: Any, where: str) -> Turn:
    if not isinstance(message, dict):
        raise FileFault("file.must_be_object_not", path=where, kind=_kind(message))
    _check_keys(message, MESSAGE_KEYS, where=where)
    return Turn(
        role=_text(message, "role", f"{where}.role", required=True),
        content=_text(message, "content", f"{where}.content", required=True),
        speaker=_text(message, "speaker", f"{where}.speaker"),
        time=_time(message, f"{where}.time"),
    )


def _check_keys(keys: Iterable[str], known: Sequence[str], *, where: str) -> None:
    for key in keys:
        if key not in known:
            nearest = get_close_matches(key, known, n=1)
            hint = (
                Fact(msgid('did you mean "{name}"?'), name=nearest[0])
                if nearest
                else Fact("file.known_are", names=list(known))
            )
            unknown = Fact("file.unknown_key", key=shown(key), hint=hint)
            raise FileFault(Fact("file.in_place", place=where, why=unknown) if where else unknown)


def _text(document: Mapping[str, Any], key: str, path: str, *, required: bool = False) -> str:
    """The text under ``key``; null counts as not given."""
    value = document.get(key)
    if value is not None and not isinstance(value, str):
        raise FileFault(
            msgid("{path} must be text, not {kind}"), path=f'"{path}"', kind=_kind(value)
        )
    text = value or ""
    if required and not text.strip():
        raise FileFault("file.missing" if value is None else "file.blank", path=f'"{path}"')
    _check_text(text, path, MAX_LENGTHS.get(key))
    return text


def _check_text(text: str, path: str, max_length: int | None) -> None:
    if max_length is not None and len(text) > max_length:
        raise FileFault(
            msgid("{path} has {characters} characters; {most} are allowed"),
            path=f'"{path}"',
            characters=len(text),
            most=max_length,
        )
    if "\0" in text:
        raise FileFault(
            msgid("{path} contains a NUL character (\\u0000), which cannot be stored"),
            path=f'"{path}"',
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise FileFault(
            msgid("{path} contains half of a surrogate pair, which is not text"), path=f'"{path}"'
        ) from None


def _choice(document: Mapping[str, Any], key: str, known: Sequence[str]) -> str:
    value = _text(document, key, key)
    if value and value not in known:
        raise FileFault(
            msgid('unknown {key} "{value}"; known are {known}'),
            key=key,
            value=shown(value),
            known=list(known),
        )
    return value


def _time(message: Mapping[str, Any], path: str) -> datetime | None:
    text = _text(message, "time", path)
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return zoned.astimezone(UTC)
    except (ValueError, OverflowError):
        raise FileFault(
            msgid(
                '{path} is "{value}", which is not an ISO 8601 time such as 2026-01-31T14:05:00Z'
            ),
            path=f'"{path}"',
            value=shown(text),
        ) from None


_KINDS: dict[type, Fact] = {
    type(None): Fact("json.null"),
    bool: Fact(msgid("true or false")),
    int: Fact("json.number"),
    float: Fact("json.number"),
    str: Fact("json.text"),
    list: Fact(msgid("a list")),
    dict: Fact(msgid("an object")),
}


def _kind(value: Any) -> Fact:
    return _KINDS[type(value)]
