"""What was said aloud, as text: transcripts with speaker lines, WebVTT and SubRip subtitles.

A file is one conversation, named by its file. It is held while it is read, so it has a limit.
"""

from __future__ import annotations

import html
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from labeling.domain.errors import FileFault
from labeling.domain.exchange.importing import LeftOut, Problem
from labeling.domain.facts import Fact
from labeling.domain.formats.talks import (
    MAX_BYTES,
    ROLES,
    HowToRead,
    SaidTurn,
    Talk,
    stem_of,
)

CLOCK = r"(?:\d{1,3}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?"
STAMP = re.compile(rf"[\[(]?({CLOCK})[\])]?")
ENDING_STAMP = re.compile(rf"(?:\s*[\[(]({CLOCK})[\])]|\s\s*({CLOCK}))\Z")
ARROW = re.compile(rf"\s*({CLOCK})\s*-->\s*({CLOCK})")
VOICE = re.compile(r"<v(?:\.[^\s<>]{0,100})?\s++([^<>]{1,200})>", re.IGNORECASE)
TAG = re.compile(r"</?[A-Za-z0-9:.][^<>]{0,200}>|\{\\[^{}]{0,50}\}")
NAME_CHARACTERS, NAME_WORDS = 50, 5
HEAD_CHARACTERS = 120
SPEAKER = "speaker"
DASH = re.compile(r"[-–—‐](?:\s+|(?!\d))")
"""Before what another person says within a cue; before a digit it is a minus."""
BAD_IN_NAMES = frozenset('.?!,;:"“”„<>{}=|')


class SpeakerLine(NamedTuple):
    name: str
    time: str
    text: str


def read_transcript(stream: BinaryIO, *, name: str, how: HowToRead) -> Iterator[Talk | Problem]:
    """``Name: text`` and what follows it, with or without a time before or after the name."""
    try:
        lines = lines_of(stream)
        first, turns = 0, _Turns()
        for number, line in enumerate(lines, 1):
            spoken = speaker_line(line)
            if spoken and not how.is_no_speaker(spoken.name):
                first = first or number
                turns.begin(spoken.name, spoken.text, spoken.time)
            elif time := _time_alone(line):
                turns.time = time
            elif line.strip():
                turns.go_on(line.strip(), "\n")
        if not first:
            raise FileFault("file.no_speaker_lines")
        yield turns.as_talk(first, name)
    except FileFault as fault:
        yield Problem(None, fault.fact)


def speaker_line(line: str) -> SpeakerLine | None:
    """Who speaks, when, and what of it stands on the same line; None for any other line.

    Examples
    --------
    >>> speaker_line("[00:01:02] Dr. Meyer: How are you?")
    SpeakerLine(name='Dr. Meyer', time='00:01:02', text='How are you?')
    >>> speaker_line("Ana (1:02):")
    SpeakerLine(name='Ana', time='1:02', text='')
    >>> speaker_line("See https://example.org, it says: no"), speaker_line("And so on.")
    (None, None)
    """
    text = line.strip()
    head = text[:HEAD_CHARACTERS]
    time = ""
    if stamp := STAMP.match(head):
        time = stamp[1]
        text = text[stamp.end() :].lstrip(" \t-–—|")
        head = text[:HEAD_CHARACTERS]
    at = next(
        (
            place
            for place, character in enumerate(head)
            if character in ":："
            and (character == "：" or place + 1 == len(text) or text[place + 1].isspace())
        ),
        -1,
    )
    if at < 0:
        stamped = ENDING_STAMP.search(head) if len(text) <= HEAD_CHARACTERS else None
        if stamped is None or time:
            return None
        written, rest = text[: stamped.start()], ""
    else:
        written, rest = text[:at], text[at + 1 :].strip()
    if stamped := ENDING_STAMP.search(written):
        time = stamped[1] or stamped[2]
        written = written[: stamped.start()]
    elif at < 0 and (stamped := ENDING_STAMP.search(head)):
        time = stamped[1] or stamped[2]
    name = written.strip(" \t*_#-–>[]()").strip()
    rest = rest.removeprefix("**").strip()
    return SpeakerLine(name, time, rest) if is_name(name, stamped=bool(time)) else None


def is_name(text: str, *, stamped: bool = False) -> bool:
    """Whether a text before a colon can be who speaks.

    Examples
    --------
    >>> [is_name(text) for text in ("Ana", "Speaker 2", "Dr. Meyer", "منى", "for example", "12")]
    [True, True, True, True, False, False]
    """
    words = text.split()
    if not words or len(text) > NAME_CHARACTERS or len(words) > NAME_WORDS:
        return False
    if not any(character.isalpha() for character in text):
        return False
    whole = " ".join(word[:-1] if _is_short(word) else word for word in words)
    if not BAD_IN_NAMES.isdisjoint(whole):
        return False
    if stamped or not words[0][0].islower():
        return True
    known = text.casefold() in ROLES
    return known or len(words) == 1 or any(character.isdigit() for character in text)


def _is_short(word: str) -> bool:
    return word.endswith(".") and len(word) <= len("Prof.")


def _time_alone(line: str) -> str:
    match = STAMP.fullmatch(line.strip()[:HEAD_CHARACTERS])
    return match[1] if match else ""


@dataclass(slots=True)
class _Open:
    name: str
    time: str
    parts: list[str]


class _Turns:
    """Messages as they grow line by line; what comes before the first speaker is left out."""

    def __init__(self) -> None:
        self.time = ""
        self._open: list[_Open] = []
        self._glue = "\n"
        self._before: list[str] = []

    @property
    def last(self) -> str:
        return self._open[-1].name if self._open else ""

    def begin(self, name: str, text: str, time: str = "") -> None:
        time, self.time = time or self.time, ""
        self._open.append(_Open(name, time, [text] if text else []))

    def go_on(self, text: str, glue: str) -> None:
        self._glue = glue
        if self._open:
            self._open[-1].parts.append(text)
        else:
            self._before.append(text)

    def as_talk(self, line: int, name: str) -> Talk:
        turns = [
            SaidTurn(turn.name, self._glue.join(turn.parts), turn.time)
            for turn in self._open
            if turn.parts
        ]
        without = (turn.name for turn in self._open if not turn.parts)
        left_out = [LeftOut(line, Fact("left_out.no_text", name=who), "") for who in without]
        if self._before:
            why = Fact("left_out.before_anybody")
            left_out.insert(0, LeftOut(line, why, "\n".join(self._before)))
        return Talk(line, stem_of(name), turns, left_out)


# --- subtitles ------------------------------------------------------------------------------------


def read_vtt(stream: BinaryIO, *, name: str, how: HowToRead) -> Iterator[Talk | Problem]:
    """WebVTT: voice tags, or names before a colon; cues of one speaker in a row are one message."""
    try:
        lines = lines_of(stream)
        if not lines or not lines[0].startswith("WEBVTT"):
            raise FileFault("file.not_webvtt")
        yield _of_cues(lines, name, how)
    except FileFault as fault:
        yield Problem(None, fault.fact)


def read_srt(stream: BinaryIO, *, name: str, how: HowToRead) -> Iterator[Talk | Problem]:
    try:
        yield _of_cues(lines_of(stream), name, how)
    except FileFault as fault:
        yield Problem(None, fault.fact)


class _Cue(NamedTuple):
    line: int
    time: str
    text: list[str]


def _cues(lines: list[str]) -> Iterator[_Cue]:
    """Blocks with times; notes, style sheets and regions have none."""
    cue: _Cue | None = None
    for number, line in enumerate(lines, 1):
        if "-->" in line:
            match = ARROW.match(line[:HEAD_CHARACTERS])
            if match is None:
                raise FileFault("file.bad_cue_time", line=number)
            if cue:
                yield cue
            cue = _Cue(number, match[1], [])
        elif cue and line.strip():
            cue.text.append(line.strip())
        elif cue:
            yield cue
            cue = None
    if cue:
        yield cue


def _of_cues(lines: list[str], name: str, how: HowToRead) -> Talk:
    turns, first = _Turns(), 0
    cues = list(_cues(lines))
    if not cues:
        raise FileFault("file.no_cues")
    said = [(cue, part) for cue in cues for part in _voices(cue.text, how)]
    has_names = any(part.who for _, part in said)
    for cue, (who, text, is_other) in said:
        first = first or cue.line
        if not has_names:
            turns.begin(SPEAKER, text, cue.time)
        elif turns.last and (who == turns.last or not (who or is_other)):
            turns.go_on(text, " ")
        else:
            turns.begin(who or SPEAKER, text, cue.time)
    return turns.as_talk(first, name)


class _Voice(NamedTuple):
    """What somebody says in a cue; ``is_other`` where a dash says that it is somebody else."""

    who: str
    text: str
    is_other: bool = False


def _voices(lines: list[str], how: HowToRead) -> Iterator[_Voice]:
    """Who says what in a cue; an empty name where it does not say."""
    text = "\n".join(lines)
    names = [(match.start(), match.end(), match[1]) for match in VOICE.finditer(text)]
    if names:
        if before := _plain(text[: names[0][0]]):
            yield _Voice("", before)
        ends = [start for start, _, _ in names[1:]] + [len(text)]
        for (_, start, who), end in zip(names, ends, strict=True):
            if spoken := _plain(text[start:end]):
                yield _Voice(_plain(who), spoken)
        return
    yield from _by_line(lines, how)


def _by_line(lines: list[str], how: HowToRead) -> Iterator[_Voice]:
    """By the names and dashes with which lines of a cue begin."""
    who, is_other = "", False
    parts: list[str] = []
    plains = [_plain(line) for line in lines]
    dashes = sum(bool(DASH.match(plain)) for plain in plains)
    for plain in plains:
        if dash := DASH.match(plain):
            plain = plain[dash.end() :]
            if parts:
                yield _Voice(who, " ".join(parts), is_other)
            who, is_other, parts = "", is_other or bool(parts) or dashes > 1, []
        named = speaker_line(plain)
        if named and named.text and not how.is_no_speaker(named.name):
            if parts:
                yield _Voice(who, " ".join(parts), is_other)
            who, parts = named.name, [named.text]
        elif plain:
            parts.append(plain)
    if parts:
        yield _Voice(who, " ".join(parts), is_other)


def _plain(text: str) -> str:
    """Without tags and references of characters, on one line."""
    return " ".join(html.unescape(TAG.sub("", text)).split())


def lines_of(stream: BinaryIO) -> list[str]:
    """Of a file that is held while it is read."""
    raw = stream.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise FileFault("file.too_long", limit=MAX_BYTES)
    if not raw.strip():
        raise FileFault("file.empty")
    try:
        text = raw.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        raise FileFault("file.not_utf8_at", byte=error.start + 1) from None
    if "\0" in text:
        raise FileFault(Fact("file.bad_character", path=Fact("place.text")))
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
