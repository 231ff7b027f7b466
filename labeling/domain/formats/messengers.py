"""Chats that WhatsApp exports: a time and a name before each message, in the forms of its phones.

A file is one conversation. Whether its dates begin with the day or the month, no line says; the
whole file does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import BinaryIO, NamedTuple

from labeling.domain.errors import FileFault
from labeling.domain.exchange.importing import LeftOut, Problem
from labeling.domain.facts import Fact
from labeling.domain.formats.speech import lines_of
from labeling.domain.formats.talks import SaidTurn, Talk, id_by_content, shown_time, stem_of

MARK = "\u200e"
"""Before what WhatsApp itself says: of a picture that is left out, of a message that is deleted."""
_MARKS = "\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
_BLANK = r"[ \t\u00a0\u202f]"
START = re.compile(
    rf"[{_MARKS}]*(?P<open>\[)?(?P<a>\d{{1,4}})(?P<sign>[./-])(?P<b>\d{{1,2}})(?P=sign)"
    rf"(?P<c>\d{{2,4}}),?{_BLANK}+(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}})(?::(?P<second>\d{{2}}))?"
    rf"(?:{_BLANK}*(?P<half>[AaPp])\.?{_BLANK}?[Mm]\.?)?(?(open)\]{_BLANK}|{_BLANK}+[-–]{_BLANK})"
)
NAME_CHARACTERS = 100
ONLY_EXPORT = "_chat"
"""The name of every file that an iPhone exports."""
_EDITED = re.compile(
    rf"[{_MARKS}]*<(?:This message was edited|Diese Nachricht wurde bearbeitet)\.?>\Z"
)
_DELETED = re.compile(
    r"(?:this message was deleted|you deleted this message|"
    r"diese nachricht wurde gelöscht|du hast diese nachricht gelöscht)\.?",
    re.I,
)
_FILE = re.compile(r"[^\n/\\]{1,200}\.(\w{2,5}) \([^()\n]{2,40}\)")
_ATTACHED = re.compile(r"<[^<>\n:]{2,40}: [^<>\n]{1,200}\.(\w{2,5})>")
_IN_BRACKETS = re.compile(r"<[^<>\n]{2,40}>")
_LEFT_OUT = re.compile(r".{2,60} (?:omitted|weggelassen|ausgeschlossen)\.?", re.I)
_PICTURE = re.compile(r"image|photo|picture|sticker|gif|bild|foto|jpe?g|png|webp|heic", re.I)
_SOUND = re.compile(r"audio|voice|sprach|opus|mp3|m4a|ogg|aac", re.I)


class Stamp(NamedTuple):
    """A time as it is written: three numbers for the day, in an order that is not known yet."""

    written: str
    first: int
    second: int
    third: int
    hour: int
    minute: int
    of_second: int

    def moment(self, *, month_first: bool) -> datetime | None:
        """None if there is no such day or time."""
        if self.first > 31:
            year, month, day = self.first, self.second, self.third
        else:
            year = self.third + (2000 if self.third < 100 else 0)
            day, month = self.first, self.second
            day, month = (month, day) if month_first else (day, month)
        try:
            return datetime(year, month, day, self.hour, self.minute, self.of_second)  # noqa: DTZ001
        except ValueError:
            return None


@dataclass(slots=True)
class _Said:
    line: int
    stamp: Stamp
    name: str
    parts: list[str] = field(default_factory=list)


def read_whatsapp(stream: BinaryIO, *, name: str) -> Iterator[Talk | Problem]:
    try:
        said, left_out = _said(lines_of(stream))
        if not said:
            raise FileFault("file.no_whatsapp_lines")
    except FileFault as fault:
        yield Problem(None, fault.fact)
        return
    month_first = is_month_first([each.stamp for each in said])
    turns = []
    for each in said:
        moment = each.stamp.moment(month_first=month_first)
        if moment is None:
            value = shown_time(each.stamp.written)
            yield Problem(each.line, Fact("file.no_time_known", value=value))
            return
        if text := _text("\n".join(each.parts)):
            turns.append(SaidTurn(each.name, text, moment.isoformat()))
        else:
            why = Fact("left_out.no_text", name=each.name)
            left_out.append(LeftOut(each.line, why, "\n".join(each.parts)))
    stem = stem_of(name)
    id = id_by_content(name, turns) if stem == ONLY_EXPORT else stem
    yield Talk(said[0].line, id, turns, left_out=left_out)


def _said(lines: Sequence[str]) -> tuple[list[_Said], list[LeftOut]]:
    """The messages, and lines somebody saw that nobody wrote ("Ana left")."""
    said: list[_Said] = []
    left_out: list[LeftOut] = []
    going_on = False
    for number, line in enumerate(lines, 1):
        begun = START.match(line)
        if begun is None:
            if going_on:
                said[-1].parts.append(line)
            elif line.strip():
                left_out.append(LeftOut(number, Fact("left_out.by_program"), line))
            continue
        name, colon, text = line[begun.end() : begun.end() + NAME_CHARACTERS].partition(": ")
        if not colon and name.endswith(":"):  # an empty first line
            name, colon = name[:-1], ":"
        name = re.sub(f"[{_MARKS}]", "", name).strip().removeprefix("~").strip()
        going_on = bool(colon and name)
        if going_on:
            text = line[line.index(colon, begun.end()) + len(colon) :]
            said.append(_Said(number, _stamp(begun), name, [text]))
        else:
            left_out.append(LeftOut(number, Fact("left_out.by_program"), line[begun.end() :]))
    return said, left_out


def _stamp(begun: re.Match[str]) -> Stamp:
    hour = int(begun["hour"])
    if half := begun["half"]:
        hour = hour % 12 + (12 if half in "Pp" else 0)
    day = int(begun["a"]), int(begun["b"]), int(begun["c"])
    return Stamp(begun[0].strip(), *day, hour, int(begun["minute"]), int(begun["second"] or 0))


def is_month_first(stamps: Sequence[Stamp]) -> bool:
    """By what makes days of all of them, and by the order in which they follow each other."""
    stamps = list(dict.fromkeys(stamps))
    ways = [[stamp.moment(month_first=first) for stamp in stamps] for first in (False, True)]
    impossible = [way.count(None) for way in ways]
    if impossible[0] != impossible[1]:
        return impossible[1] < impossible[0]
    back = []
    for way in ways:
        known = [moment for moment in way if moment]
        back.append(sum(later < before for before, later in pairwise(known)))
    return back[1] < back[0]


def _text(text: str) -> str:
    """As somebody wrote it; an attachment stands there by its kind, a deleted message is empty."""
    text = _EDITED.sub("", text)
    first, _, rest = text.partition("\n")
    bare = first.lstrip(MARK).strip()
    if _DELETED.fullmatch(bare):
        return rest.strip()
    if named := _FILE.fullmatch(bare) or _ATTACHED.fullmatch(bare):
        return "\n".join(filter(None, (_kind(named[1]), rest.strip())))
    is_said_by_program = first.startswith(MARK)
    if _IN_BRACKETS.fullmatch(bare) or (is_said_by_program and _LEFT_OUT.fullmatch(bare)):
        return "\n".join(filter(None, (_kind(bare), rest.strip())))
    return rest.strip() if is_said_by_program else text.strip(MARK).strip()


def _kind(named: str) -> str:
    if _PICTURE.search(named):
        return "[image]"
    return "[audio]" if _SOUND.search(named) else "[file]"


def is_whatsapp(head: bytes) -> bool:
    """Whether a file begins like an export.

    Examples
    --------
    >>> is_whatsapp(b"[12.03.24, 09:15:22] Ana: Hi"), is_whatsapp(b"3/12/24, 9:15 PM - Ana: Hi")
    (True, True)
    >>> is_whatsapp(b"[00:01:02] Ana: Hi"), is_whatsapp(b"12.03.2024, 09:15 Ana: Hi")
    (False, False)
    """
    return START.match(head[:200].decode("utf-8-sig", errors="replace").lstrip()) is not None
