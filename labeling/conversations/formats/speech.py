"""What was said aloud, as text: transcripts with speaker lines, WebVTT and SubRip subtitles.

A file is one conversation, named by its file. It is held while it is read, so it has a limit.
Every word of it is in a message, is who speaks or when, or is listed as left out.
"""

from __future__ import annotations

import html
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import BinaryIO, NamedTuple

from labeling.conversations.formats.speakers import (
    STAMP,
    Head,
    Line,
    certainty,
    seconds_of,
    time_of,
    who_speaks,
)
from labeling.conversations.formats.talks import (
    MAX_BYTES,
    NOT_A_SPEAKER,
    HowToRead,
    SaidTurn,
    Talk,
    name_of,
    stem_of,
)
from labeling.conversations.formats.times import time_in
from labeling.conversations.rules.importing import MIN_MESSAGES, LeftOut, Problem
from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact

SPEAKER = "speaker"
BEFORE = Fact("left_out.before_anybody")
_NUMBER = re.compile(r"\s{0,8}(\d{1,5})[.)]?(?:\s{1,8}|\Z)")
_BY_PROGRAM = re.compile(
    r"Meeting ended after [\d:]{4,10}.{0,20}|Transcribed by https?://otter\.ai\S{0,40}|"
    r".{1,80} (?:started|stopped) transcription|"
    r"[\[(]?\d{1,2}:\d{2}(?::\d{2})?[\])]? (?:\*{1,3}|-!-|<?--+>?) \S.*|"
    r"\((?:Read|Delivered|Edited) [^()]{1,60}\)"
)
"""What recorders say at the end, and what chats of IRC say of people."""
_DAYS = (
    r"(?:(?:today|yesterday|heute|gestern|(?:mon|tues|wednes|thurs|fri|satur|sun)day|"
    r"(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|\d{1,2}[/.]\d{1,2}[/.]?(?:\d{2,4})?|"
    r"[a-z]{3,9}\s\d{1,2},\s\d{4}),?\s{1,2}(?:at\s|um\s)?)"
)
_DATED = re.compile(
    rf"(?P<time>{_DAYS}(?P<clock>\d{{1,2}}:\d{{2}}(?::\d{{2}})?)(?P<half>\s?[ap]\.?m\.?)?)"
    r"(?:\s(?P<note>\((?:Read|Delivered|Edited) [^()]{1,60}\)))?",
    re.I,
)
_COPIED = re.compile(r"\[([^\[\]]{4,40})\]\s([^:]{1,80})")
"""“[Yesterday 10:12 AM] Ana Costa”, as Teams has it above what is said."""


@dataclass(slots=True)
class _Open:
    line: int
    name: str
    time: str
    parts: list[str]


@dataclass(slots=True)
class _Turns:
    """Messages as they grow line by line, and what is in none of them."""

    glue: str
    left_out: list[LeftOut] = field(default_factory=list)
    _open: list[_Open] = field(default_factory=list)

    @property
    def last(self) -> str:
        return self._open[-1].name if self._open else ""

    def begin(self, line: int, name: str, text: str, time: str) -> None:
        self._open.append(_Open(line, name, time, [text] if text else []))

    def go_on(self, line: int, text: str) -> None:
        if self._open:
            self._open[-1].parts.append(text)
        else:
            self.leave_out(line, BEFORE, text)

    def leave_out(self, line: int, why: Fact, text: str) -> None:
        self.left_out.append(LeftOut(line, why, text))

    def as_talk(self, name: str) -> Talk:
        turns = []
        for said in self._open:
            if said.parts:
                turns.append(SaidTurn(said.name, self.glue.join(said.parts), said.time))
            else:
                self.leave_out(said.line, Fact("left_out.no_text", name=said.name), "")
        self.left_out.sort(key=lambda left: left.line)
        first = self._open[0].line
        return Talk(first, stem_of(name), turns, left_out=tuple(self.left_out))


def read_transcript(lines: list[str], name: str, how: HowToRead) -> Talk:
    """``Name: text`` and what follows it, with or without a time before or after the name."""
    return _of_lines(_unnumbered(lines), name, how)


def _unnumbered(lines: list[str]) -> list[str]:
    """Without the numbers of lines, where every one has the next."""
    numbers = [_NUMBER.match(line) for line in lines if line.strip()]
    counted = [int(number[1]) for number in numbers if number]
    is_counted = counted == list(range(counted[0], counted[0] + len(numbers))) if counted else False
    return [_NUMBER.sub("", line, count=1) for line in lines] if is_counted else lines


def _of_lines(written: Sequence[str], name: str, how: HowToRead) -> Talk:
    lines = [
        Line(number, text.strip(), number == 1 or not written[number - 2].strip())
        for number, text in enumerate(written, 1)
    ]
    lines = _with_times_near(lines)
    heads = who_speaks(lines, how) or _names_above(lines, how) or _times_before(lines)
    if not heads:
        raise FileFault("file.no_speaker_lines")
    times = _times_alone(lines, heads)
    turns, time = _Turns("\n"), ""
    for at, line in enumerate(lines):
        if head := heads.get(at):
            turns.begin(line.number, head.name, head.text, head.time or time)
            time = ""
        elif at in times:
            time = times[at]
        elif _BY_PROGRAM.fullmatch(line.text):
            turns.leave_out(line.number, Fact("left_out.by_program"), line.text)
        elif line.text.strip("> "):
            turns.go_on(line.number, line.text)
    return turns.as_talk(name)


def _with_times_near(lines: list[Line]) -> list[Line]:
    """Where a file begins with a name and has a time alone on the line before or after it, or a day
    in brackets before it, as chats are copied, they are one line.
    """
    copied = {at: match for at, line in enumerate(lines) if (match := _COPIED.fullmatch(line.text))}
    has_days = any(_DATED.fullmatch(match[1]) for match in copied.values())
    joined, found = list(lines), list[int]()
    for at, (line, after) in enumerate(pairwise(lines)):
        is_time, note = STAMP.fullmatch(after.text) or _DATED.fullmatch(after.text), ""
        if has_days and at in copied and certainty(copied[at][2]):
            time, name = copied[at].groups()
        elif line.opens and certainty(line.text) > 1 and is_time:
            name, time = line.text, after.text
        elif line.opens and certainty(after.text) > 1 and (dated := _DATED.fullmatch(line.text)):
            name, time, note = after.text, line.text, dated["note"] or ""
        else:
            continue
        found.append(at)
        joined[at] = line._replace(text=f"{name}  {_moment(time)}")
        if name in (line.text, after.text):
            joined[at + 1] = after._replace(text=note)
    if len(found) < MIN_MESSAGES or any(line.text for line in lines[: found[0]]):
        return lines
    return joined


def _moment(written: str) -> str:
    """Without its day, where that is not known."""
    dated = _DATED.fullmatch(written)
    if dated is None:
        return written
    try:
        return (time_in(dated["time"]) or "").replace("T", " ")
    except FileFault:
        return dated["clock"] + (dated["half"] or " am")  # no place in a recording


def _names_above(lines: Sequence[Line], how: HowToRead) -> dict[int, Head]:
    """Lines that are a name and nothing else, above what is said: in a file that says in no other
    way who speaks, that begins with one, and in which each comes back.
    """
    filled = [at for at, line in enumerate(lines) if line.text and not STAMP.fullmatch(line.text)]
    named = Counter(lines[at].text for at in filled)
    heads = {
        at: Head(name_of(lines[at].text), "", "", "above")
        for at in filled
        if (lines[at].opens or STAMP.fullmatch(lines[at - 1].text))
        and named[lines[at].text] > 1
        and certainty(lines[at].text) > 1
        and how.chosen(lines[at].text) != NOT_A_SPEAKER
    }
    is_form = bool(heads) and filled[0] in heads and len({head.name for head in heads.values()}) > 1
    if not is_form or any(at in heads and after in heads for at, after in pairwise(filled)):
        return {}
    for at, head in heads.items():
        how.doubt(head.name, lines[at].text, is_speaker=True)
    return heads


def _times_before(lines: Sequence[Line]) -> dict[int, Head]:
    """Lines that begin with a time, where nobody is named: in a file that begins with one."""
    stamps = {at: found for at, line in enumerate(lines) if (found := STAMP.match(line.text))}
    times = [seconds_of(time_of(stamp)) for stamp in stamps.values()]
    first = next((at for at, line in enumerate(lines) if line.text), -1)
    if first not in stamps or len(stamps) < MIN_MESSAGES or times != sorted(times):
        return {}
    return {
        at: Head(SPEAKER, time_of(stamp), lines[at].text[stamp.end() :].strip(), "time")
        for at, stamp in stamps.items()
    }


def _times_alone(lines: Sequence[Line], heads: Mapping[int, Head]) -> dict[int, str]:
    """Lines that say when the next person speaks: in a file where one comes before the first, or
    where several stand between blank lines.
    """
    filled = [at for at, line in enumerate(lines) if line.text]
    alone = {
        at: time_of(stamp)
        for at, following in pairwise(filled)
        if following in heads and (stamp := STAMP.fullmatch(lines[at].text))
    }
    first = filled.index(min(heads))
    counted = [seconds_of(time) for time in alone.values()]
    is_first = first > 0 and filled[first - 1] in alone
    is_apart = len(alone) > 1 and all(lines[at].opens and not lines[at + 1].text for at in alone)
    return alone if (is_first or is_apart) and counted == sorted(counted) else {}


# --- subtitles ------------------------------------------------------------------------------------

_PART = r"\d{1,3}(?::\d{1,2}){1,2}(?:[.,]\d{1,6})?"
_TIMES = re.compile(
    rf"\s{{0,20}}({_PART})\s{{0,20}}(?:-->|,(?=\d{{1,2}}:\d\d:\d\d\.\d{{3}}\Z))\s{{0,20}}({_PART})(?=\s|\Z)"
)
_SETTING = re.compile(r"[A-Za-z]\w{0,20}:\S+")
_SRT_TAG = re.compile(r"</?(?:[bius]|font(?:\s[^<>]{0,200})?)>|\{\\[^{}]{0,80}\}", re.IGNORECASE)
_ASS_TAG = re.compile(r"\{[^{}]{0,2000}\}|\\h")
_ASS_LINE = re.compile(r"\\[Nn]")
_VTT_TAG = re.compile(
    r"</?(?:[cibu]|ruby|rt)(?:\.[^\s<>]{0,200})?>|</?(?:v|lang)(?:[.\s][^<>]{0,200})?>|"
    r"<(?:\d{1,3}:)?\d{1,2}:\d{2}\.\d{3}>",
    re.IGNORECASE,
)
_VOICE = re.compile(r"<v(?:\.[^\s<>]{0,100})?\s++([^<>]{1,200})>|</v>", re.IGNORECASE)
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,31});")
_BLOCK = re.compile(r"(?:NOTE|STYLE|REGION)(?=\s|\Z)")
_DASH = re.compile(r"[-–—‐](?:\s+|(?!\d))")
"""Before what another person says within a cue; before a digit it is a minus."""
_CHANGE = re.compile(r">>>?(?!>)\s*")
_CHANGE_WITHIN = re.compile(r"\s(?=>>>?\s)")
_REPEATS = 2  # cues that repeat what the one before shows, and go on
_FLASH = 0.1  # seconds, in which nobody says anything


class _Said(NamedTuple):
    """A line of a cue as it is shown, or what of it somebody says whom a voice tag names."""

    line: int
    text: str
    who: str = ""


class _Cue(NamedTuple):
    line: int
    start: float
    end: float
    said: list[_Said]

    @property
    def time(self) -> str:
        whole, part = divmod(round(self.start * 1000), 1000)
        return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}.{part:03}"

    @property
    def words(self) -> list[str]:
        return [word for said in self.said for word in said.text.split()]


class _Part(NamedTuple):
    """``opens`` at the beginning of a cue, or where a sign says that somebody else speaks."""

    line: int
    time: str
    text: str
    who: str
    opens: bool
    is_other: bool


def read_subtitles(lines: list[str], name: str, how: HowToRead, *, is_vtt: bool) -> Talk:
    """Names before a colon, or the voice tags of WebVTT; cues of one speaker in a row are one
    message.
    """
    if is_vtt:
        if not lines[0].startswith("WEBVTT"):
            raise FileFault("file.not_webvtt")
        lines[0] = lines[0].removeprefix("WEBVTT")
    turns = _Turns(" ")
    return _of_cues(_cues(lines, turns, is_vtt=is_vtt), turns, name, how)


def read_ass(lines: list[str], name: str, how: HowToRead) -> Talk | Problem:
    """SubStation Alpha: a cue a line, with a field for who speaks; in the order of their times."""
    turns, cues, fields = _Turns(" "), list[_Cue](), list[str]()
    for number, line in enumerate(lines, 1):
        kind, _, rest = line.strip().partition(":")
        if kind == "Format":
            fields = [field.strip() for field in rest.split(",")]
        values = dict(zip(fields, rest.split(",", max(0, len(fields) - 1)), strict=False))
        if kind != "Dialogue" or not {"Start", "End", "Text"} <= values.keys():
            if line.strip():
                turns.leave_out(number, Fact("left_out.note"), line.strip())
            continue
        who = name_of(values.get("Name", values.get("Actor", "")))
        shown = (_plain(text, _ASS_TAG) for text in _ASS_LINE.split(values["Text"]))
        try:
            start, end = (seconds_of(values[key].strip()) for key in ("Start", "End"))
        except ValueError:
            return Problem(number, Fact("file.bad_cue_time", line=number))
        cues.append(_Cue(number, start, end, [_Said(number, text, who) for text in shown if text]))
    return _of_cues(sorted(cues, key=lambda cue: cue.start), turns, name, how)


def is_cues(head: bytes) -> bool:
    """Whether a file begins like subtitles, whatever it is called."""
    first = head[:1000].decode("utf-8-sig", errors="replace").splitlines()
    return any(map(_TIMES.match, [line for line in first if line.strip()][:2]))


def _of_cues(cues: Sequence[_Cue], turns: _Turns, name: str, how: HowToRead) -> Talk:
    if not any(cue.said for cue in cues):
        raise FileFault("file.no_cues")
    _show_once(cues, turns)
    _take_names_above(cues)
    has_changes = any(_CHANGE.match(said.text) for cue in cues for said in cue.said)
    parts = [part for cue in cues for part in _parts(cue, has_changes=has_changes)]
    spoken = [Line(part.line, "" if part.who else part.text, part.opens) for part in parts]
    voices = {part.who for part in parts} - {""}
    heads = who_speaks(spoken, how, forms=("colon", "bold colon", "bracket"), known=voices)
    opening = sum(part.opens for part in parts)
    is_named = 10 * (len(heads) + sum(bool(part.who) for part in parts)) >= opening
    for at, part in enumerate(parts):
        head = heads.get(at)
        who, text = (head.name, head.text) if head else (part.who, part.text)
        is_next = part.is_other or (part.opens and not (is_named or has_changes))
        if not turns.last or (who != turns.last if who else is_next):
            turns.begin(part.line, who or SPEAKER, text, part.time)
        elif text:
            turns.go_on(part.line, text)
    return turns.as_talk(name)


def _cues(lines: Sequence[str], turns: _Turns, *, is_vtt: bool) -> list[_Cue]:
    """What stands between times, however many blank lines are in it. Numbers and names of cues are
    no part of it; notes, style sheets and regions are left out.
    """
    starts = _starts(lines)
    names = _names(lines, list(starts), turns, is_vtt=is_vtt)
    cues: list[_Cue] = []
    block: Fact | None = BEFORE
    for at, line in enumerate(lines):
        text = line.strip()
        if times := starts.get(at):
            cues.append(_Cue(at + 1, seconds_of(times[1]), seconds_of(times[2]), []))
            block, text = None, _unless_settings(line[times.end() :])
        elif is_vtt and at and not lines[at - 1].strip() and _BLOCK.match(text):
            block = Fact("left_out.note")
        elif not text:
            block = None if cues else BEFORE
        if not text or at in names:
            continue
        if block:
            turns.leave_out(at + 1, block, text)
        else:
            cues[-1].said.extend(_said(at + 1, text, cues[-1].said, is_vtt=is_vtt))
    return cues


def _starts(lines: Sequence[str]) -> dict[int, re.Match[str]]:
    starts: dict[int, re.Match[str]] = {}
    for at, line in enumerate(lines):
        if times := _TIMES.match(line[:200]):
            starts[at] = times
        elif "-->" in line and (not starts or line.lstrip()[:1].isdigit()):
            before = lines[at - 1].strip() if at else ""
            if not before or before.isdigit():  # where the times of a cue stand
                raise FileFault("file.bad_cue_time", line=at + 1)
    return starts


def _unless_settings(after: str) -> str:
    """What stands behind the times and says no position: a text that lost its line."""
    return "" if all(map(_SETTING.fullmatch, after.split())) else after.strip()


def _names(lines: Sequence[str], starts: Sequence[int], turns: _Turns, *, is_vtt: bool) -> set[int]:
    """The lines that are the number or the name of the cue after them; a name is listed."""
    before = {
        at - 1: text
        for at in starts
        if at and (text := lines[at - 1].strip()) and at - 1 not in starts
    }
    numbers = {at for at, text in before.items() if text.isdecimal()}
    opens = {at for at in before if not at or not lines[at - 1].strip()}
    named = opens - numbers if is_vtt else set()
    names, last = set[int](), -1
    for at in sorted(numbers):
        number = int(before[at][:18])
        is_numbered = 2 * len(numbers) >= len(starts)
        if (is_numbered and (at in opens or number > last)) or (is_vtt and at in opens):
            names.add(at)
            last = number
    for at in named:
        has_digits = re.search(r"\A\S*\d\S*\Z", before[at]) is not None
        are_usual = 2 * len(named) >= len(starts)
        if has_digits or are_usual:
            names.add(at)
            if not (has_digits and are_usual):
                turns.leave_out(at + 1, Fact("left_out.cue_name"), before[at])
    return names


def _said(number: int, text: str, before: Sequence[_Said], *, is_vtt: bool) -> Iterator[_Said]:
    """What is shown of a line, by who says it; a voice lasts to the end of its cue."""
    if not is_vtt:
        pieces: list[str | None] = [text]
    else:
        pieces = list(_VOICE.split(text))
    who = before[-1].who if before else ""
    for at, piece in enumerate(pieces):
        if at % 2:
            who = name_of(_plain(piece or "", _VTT_TAG))
        elif shown := _plain(piece or "", _VTT_TAG if is_vtt else _SRT_TAG):
            yield _Said(number, shown, who)


def _plain(text: str, tag: re.Pattern[str]) -> str:
    """Without tags and references of characters, on one line."""
    shown = _REFERENCE.sub(lambda found: html.unescape(found[0]), tag.sub("", text))
    return " ".join(shown.split()) if name_of(shown) else ""


def _show_once(cues: Sequence[_Cue], turns: _Turns) -> None:
    """Captions that roll show each line again with the next one; what is shown again is listed."""
    pairs = [(before, cue) for before, cue in pairwise(cues) if before.said and cue.said]
    again = [_shown_again(before, cue) for before, cue in pairs]
    grown = sum(
        0 < words < len(cue.words) or (words > 0 and cue.end - cue.start < _FLASH)
        for words, (_, cue) in zip(again, pairs, strict=True)
    )
    if grown < _REPEATS or 2 * sum(map(bool, again)) < len(pairs):
        return
    for words, (_, cue) in zip(again, pairs, strict=True):
        left = []
        for said in cue.said:
            spoken = said.text.split()
            if words:
                turns.leave_out(said.line, Fact("left_out.repeated"), " ".join(spoken[:words]))
            if rest := " ".join(spoken[words:]):
                left.append(said._replace(text=rest))
            words = max(0, words - len(spoken))
        cue.said[:] = left


def _take_names_above(cues: Sequence[_Cue]) -> None:
    """Where every cue has who speaks on a line above what is said, as Teams writes it."""
    filled = [cue for cue in cues if cue.said]
    first = [name_of(cue.said[0].text) for cue in filled]
    if any(len(cue.said) < 2 or cue.said[0].who for cue in filled):
        return
    names = set(first)
    if 2 * len(names) <= len(first) + 1 and all(
        certainty(name.replace(",", "")) > 1 for name in names
    ):
        for cue, name in zip(filled, first, strict=True):
            cue.said[:] = [said._replace(who=name) for said in cue.said[1:]]


def _shown_again(before: _Cue, cue: _Cue) -> int:
    """How many words of a cue are the last lines of the one before, which it follows at once."""
    words, last, most = cue.words, list[str](), 0
    if cue.start > before.end + 0.5:
        return 0
    for said in reversed(before.said[-10:]):
        last = said.text.split() + last
        if words[: len(last)] == last and not _DASH.match(said.text):
            most = len(last)
    return most


def _parts(cue: _Cue, *, has_changes: bool) -> Iterator[_Part]:
    """What is said in a cue, by the signs that somebody else says it."""
    dashes = sum(bool(_DASH.match(said.text)) for said in cue.said)
    opens, is_other = True, False
    for number, line, who in cue.said:
        pieces = _CHANGE_WITHIN.split(line) if has_changes else [line]
        for text in pieces:
            if change := _CHANGE.match(text) if has_changes else None:
                text, opens, is_other = text[change.end() :], True, True
            elif dash := _DASH.match(text):
                is_other = is_other or dashes > 1 or not opens
                text, opens = text[dash.end() :], True
            if text:
                yield _Part(number, cue.time, text, who, opens, is_other)
                opens = is_other = False


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
    return text.replace("\ufeff", "").splitlines() or [""]
