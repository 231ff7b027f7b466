"""Chats that WhatsApp exports: a time and a name before each message, in the forms of its phones.

A file is one conversation. Whether its dates begin with the day or the month, no line says; the
whole file does. What WhatsApp itself says is listed as left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from itertools import pairwise
from typing import NamedTuple

from labeling.conversations.formats.speakers import CERTAIN_WORDS, certainty, words_of
from labeling.conversations.formats.talks import (
    NOT_A_SPEAKER,
    HowToRead,
    SaidTurn,
    Talk,
    id_by_content,
    name_of,
    shown_time,
    stem_of,
)
from labeling.conversations.rules.importing import LeftOut, Problem
from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact

MARK = "\u200e"
"""Before what WhatsApp itself says: of a picture that is left out, of a message that is deleted."""
_MARKS = "\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
_BLANK = r"[ \t\u00a0\u202f]"
_BETWEEN = rf"[,،、]?[ \t\u00a0\u202f{_MARKS}]{{1,4}}"
_SIGN = rf"[{_MARKS}]{{0,4}}[./年月년월-]{_BLANK}?"
_DAY = rf"(?P<a>\d{{1,4}}){_SIGN}(?P<b>\d{{1,2}}){_SIGN}(?P<c>\d{{1,4}})[.日일]?(?:{_BLANK}?г\.)?"
_WORD = rf"[^\d\s:,،\[\]()–{_MARKS}-]"
_HALF = rf"{_WORD}{{1,12}}(?:{_BLANK}{_WORD}{{1,6}})?"
_CLOCK = (
    rf"(?:(?P<before>{_HALF}){_BLANK}*)?(?P<hour>\d{{1,2}})(?:[:.]|{_BLANK}?h{_BLANK}?)"
    rf"(?P<minute>\d{{2}})(?:[:.](?P<second>\d{{2}}))?(?:{_BLANK}*(?P<after>{_HALF}))?"
)
_END = (
    rf"(?(open)[{_MARKS}]*\]{_BLANK}*|{_BLANK}*(?:(?<={_BLANK})(?P<dash>[-–]){_BLANK}|"
    rf"(?P<colon>:){_BLANK}|(?P<comma>,){_BLANK}(?=[^:\n]{{1,100}} : )))"
)
_STARTS = tuple(
    re.compile(rf"[{_MARKS}]{{0,8}}(?P<open>\[)?{first}{_BETWEEN}{then}{_END}")
    for first, then in ((_DAY, _CLOCK), (_CLOCK, _DAY))
)
_NEARLY = re.compile(
    r"\W{0,4}\d{1,4}[^\d:]{1,3}\d{1,2}[^\d:]{1,3}\d{1,4}\D{1,15}\d{1,2}\D{1,3}\d{2}"
    r"[^:]{0,15}?(?:\]|\s[-–]\s)"
)
_MORNING = words_of(
    """
    am a 오전 上午 午前 凌晨 早上 清晨 ص صباحا قظ قبلازظهر पूर्वाह्न पू πμ de pg sa fm dop asubuhi
    """
)
_AFTERNOON = words_of(
    """
    pm p 오후 下午 午後 晚上 傍晚 中午 م مساء بظ بعدازظهر अपराह्न अप μμ du ptg ch em odp mchana jioni
    """
)
_NO_HALF = words_of(
    """
    klo kl um uhr h ч às a à alle om ob
    """
)
_DAY_ALONE = re.compile(
    rf"{_DAY}(?:{_BLANK}+{_WORD}{{1,12}})?(?:{_BLANK}*\d{{1,2}}:\d{{2}})?{_BLANK}*(?:,.*)?\Z"
)
"""Between the messages of KakaoTalk: a day, or who came and left."""
NAME_CHARACTERS = 100
ONLY_EXPORT = "_chat"
"""The name of every file that an iPhone exports."""
_COLON = re.compile(rf":(?=[\s{_MARKS}]|\Z)")
_IN_QUOTES = re.compile(r"""(?:(?:^|\s)(?:"|'(?=\S))|[“„«「‘])[^"”“»」’']*\Z""")
_EDITED = re.compile(
    rf"[{_MARKS}]{{0,4}}<(?:This message was edited|Diese Nachricht wurde bearbeitet)\.?>\Z"
)
_DELETED = re.compile(
    r"(?:this message was deleted|you deleted this message|diese nachricht wurde gelöscht|"
    r"du hast diese nachricht gelöscht|se eliminó este mensaje|eliminaste este mensaje|"
    r"ce message a été supprimé|vous avez supprimé ce message|mensagem apagada|"
    r"questo messaggio è stato eliminato|dit bericht is verwijderd|bu mesaj silindi)\.?",
    re.I,
)
_BY_PROGRAM = re.compile(
    r"encrypt|verschlüssel|cifrad|chiffr|crittografat|versleuteld|şifrele|مشفر|加密|암호화|暗号化|"
    r"missed (?:voice|video)|verpasster|(?:You|Du|Tú|Vous|Você|Tu|Je|Hai)\s",
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

    def moment(self, order: str) -> datetime | None:
        """None if there is no such day or time. ``order`` is such as ``dmy``."""
        order = "ymd" if self.first > 31 else order
        day = dict(zip(order, (self.first, self.second, self.third), strict=True))
        try:
            known = _day(day["y"], day["m"], day["d"])
            clock = time(self.hour, self.minute, self.of_second)
            return datetime.combine(known, clock)
        except ValueError:
            return None


def _day(year: int, month: int, day: int) -> date:
    """Of our calendar; years of others are known by their number.

    Examples
    --------
    >>> _day(2567, 3, 12) == _day(1402, 12, 22) == _day(24, 3, 12) == date(2024, 3, 12)
    True
    """
    if 1300 <= year < 1500:
        since = year + 1595
        days = 365 * since + since // 33 * 8 + (since % 33 + 3) // 4 + 30 * (month - 1)
        return date.fromordinal(days + min(month - 1, 6) + day - 356_033)
    return date(year + (2000 if year < 100 else -543 if year > 2400 else 0), month, day)


class _Begun(NamedTuple):
    """The beginning of a line with a time: what stands behind it begins at ``end``."""

    stamp: Stamp
    end: int
    form: str


def begun(line: str) -> _Begun | None:
    """The time with which a message begins, in the digits and words of any language."""
    head = line[:120]
    if not head.isascii():
        head = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in head)
    for start in _STARTS:
        if (found := start.match(head)) and (hour := _hour(found)) is not None:
            day = int(found["a"]), int(found["b"]), int(found["c"])
            clock = hour, int(found["minute"]), int(found["second"] or 0)
            form = next(filter(None, found.group("open", "dash", "colon", "comma")))
            return _Begun(Stamp(found[0].strip(), *day, *clock), found.end(), form)
    return None


def _hour(found: re.Match[str]) -> int | None:
    """None for a word that is no half of a day."""
    hour = int(found["hour"])
    words = [found[side] for side in ("before", "after") if found[side]]
    halves = {re.sub(r"[.\s\W]", "", word).casefold() for word in words} - _NO_HALF
    if not halves:
        return hour
    half = halves.pop()
    if half in _AFTERNOON:
        return hour % 12 + 12
    return hour % 12 if half in _MORNING or half.replace("m", "") in _MORNING else None


@dataclass(slots=True)
class _Said:
    line: int
    stamp: Stamp
    name: str
    parts: list[str] = field(default_factory=list)
    rest: str = ""
    """All that stands behind the time."""

    @property
    def is_marked(self) -> bool:
        return self.parts[:1] != [] and self.parts[0].startswith(MARK)


def read_whatsapp(lines: Sequence[str], name: str, how: HowToRead) -> Talk | Problem:
    starts = {at: start for at, line in enumerate(lines) if (start := begun(line))}
    nearly = [at for at, line in enumerate(lines) if at not in starts and _is_nearly(line)]
    if len(nearly) > len(starts):
        return Problem(nearly[0] + 1, Fact("file.nearly_whatsapp", text=lines[nearly[0]][:60]))
    said, left_out = _said(lines, starts)
    _rename_after_colons(said)
    by_program = _by_program(said, how)
    if len(by_program) == len(said):
        raise FileFault("file.no_whatsapp_lines")
    order = order_of([each.stamp for each in said])
    turns = []
    for at, each in enumerate(said):
        if at in by_program:
            left_out.append(_by_itself(each.line, "\n".join([each.rest, *each.parts[1:]])))
            continue
        moment = each.stamp.moment(order)
        if moment is None:
            value = shown_time(each.stamp.written)
            return Problem(each.line, Fact("file.no_time_known", value=value))
        text, without = _text("\n".join(each.parts))
        if text:
            turns.append(SaidTurn(each.name, text, moment.isoformat()))
            left_out += [_by_itself(each.line, piece) for piece in without]
        else:
            why = Fact("left_out.no_text", name=each.name)
            left_out.append(LeftOut(each.line, why, "\n".join(each.parts)))
    left_out.sort(key=lambda left: left.line)
    stem = stem_of(name)
    id = id_by_content(name, turns) if stem == ONLY_EXPORT else stem
    return Talk(said[0].line, id, turns, left_out=left_out)


def _by_itself(line: int, text: str) -> LeftOut:
    return LeftOut(line, Fact("left_out.by_program"), text)


def _said(lines: Sequence[str], starts: Mapping[int, _Begun]) -> tuple[list[_Said], list[LeftOut]]:
    """What begins with a time, as all of the file has it, with the lines that go on with it."""
    forms = Counter(start.form for start in starts.values())
    form = max(forms, key=forms.__getitem__, default="")
    said: list[_Said] = []
    left_out: list[LeftOut] = []
    for at, line in enumerate(lines):
        start = starts.get(at)
        if start and start.form == form:
            said.append(_message(at + 1, start, line[start.end :]))
        elif form == "," and _DAY_ALONE.match(line):
            left_out.append(_by_itself(at + 1, line))
        elif said:
            said[-1].parts.append(line)
        elif line.strip():
            left_out.append(LeftOut(at + 1, Fact("left_out.before_anybody"), line))
    return said, left_out


def _is_nearly(line: str) -> bool:
    return _NEARLY.match(line[:80]) is not None


def _message(number: int, start: _Begun, rest: str) -> _Said:
    """Without a name where nobody wrote it: no colon, or one within what is quoted."""
    colon = _COLON.search(rest[: NAME_CHARACTERS + 1])
    before = rest[: colon.start()] if colon else ""
    name = "" if _IN_QUOTES.search(before) else name_of(before)
    text = rest[colon.end() :].removeprefix(" ") if colon and name else rest
    return _Said(number, start.stamp, name, [text], rest)


def _rename_after_colons(said: Sequence[_Said]) -> None:
    """Who is saved as "Home: Ana" begins every message with "Ana: "; nobody else does so twice."""
    written = defaultdict[str, list[_Said]](list)
    for each in said:
        written[each.name].append(each)
    for name, all_of_them in written.items():
        rest = {each.parts[0].partition(": ")[0] for each in all_of_them}
        begun_alike = all(": " in each.parts[0] for each in all_of_them) and len(rest) == 1
        if name and len(all_of_them) > 1 and begun_alike and (second := name_of(rest.pop())):
            for each in all_of_them:
                each.name = f"{name}: {second}"
                each.parts[0] = each.parts[0].partition(": ")[2]


def _by_program(said: Sequence[_Said], how: HowToRead) -> set[int]:
    """The places of what WhatsApp itself says ("Ana left"), by all that is said in the file."""
    written = defaultdict[str, list[_Said]](list)
    for each in said:
        written[each.name].append(each)
    found = set()
    for at, each in enumerate(said):
        chosen = how.chosen(each.name) if each.name else NOT_A_SPEAKER
        is_event = len(written[each.name]) == 1 and _is_event(each.name, written)
        if is_event and len(each.name.split()) <= CERTAIN_WORDS:
            how.doubt(each.name, each.rest, is_speaker=False)
        if chosen == NOT_A_SPEAKER or (not chosen and (is_event or _is_notice(each, written))):
            found.add(at)
    return found


def _is_event(name: str, written: Mapping[str, Sequence[_Said]]) -> bool:
    """Whether what stands before a colon says what somebody did ("Omar created group Plan")."""
    words = name.split()
    small = [word for word in words[1:] if word[:1].islower() and len(word) > 1]
    begins = (" ".join(words[:count]) for count in range(1, len(words) - 1))
    if any(begun in written for begun in begins) and small:
        return True
    return len(words) > 3 and len(small) > 1


def _is_notice(each: _Said, written: Mapping[str, Sequence[_Said]]) -> bool:
    """Whether a marked text is about somebody, not by them: groups speak in this way only."""
    if not each.is_marked or _kind_of(each.parts[0]):
        return False
    first = each.parts[0].strip(MARK).strip()
    if _BY_PROGRAM.search(first) or first.startswith(each.name):
        return True
    return all(other.is_marked for other in written[each.name])


def order_of(stamps: Sequence[Stamp]) -> str:
    """Of day, month and year: by what makes days of all of them, and by how they follow."""
    stamps = list(dict.fromkeys(stamps))
    firsts, thirds = {stamp.first for stamp in stamps}, {stamp.third for stamp in stamps}
    is_year_first = len(firsts) < len(thirds) and min(firsts) > 12 and max(thirds) < 32
    orders = ("ymd", "dmy", "mdy") if is_year_first else ("dmy", "mdy")

    def faults(order: str) -> tuple[int, int]:
        moments = [stamp.moment(order) for stamp in stamps]
        known = [moment for moment in moments if moment]
        return moments.count(None), sum(later < before for before, later in pairwise(known))

    return min(orders, key=faults)


def _text(text: str) -> tuple[str, list[str]]:
    """As somebody wrote it, and what WhatsApp says in it; an attachment stands there by its kind, a
    deleted message is empty.
    """
    without = []
    if edited := _EDITED.search(text):
        text, without = text[: edited.start()], [edited[0].strip(MARK)]
    first, _, rest = text.partition("\n")
    bare = first.strip(MARK).strip()
    if _DELETED.fullmatch(bare):
        return rest.strip(), [*without, bare]
    if kind := _kind_of(first):
        return "\n".join(filter(None, (kind, rest.strip()))), [*without, bare]
    return text.strip(MARK).strip(), without


def _kind_of(first: str) -> str:
    """Of the attachment for which a line stands; empty for any other line."""
    bare = first.strip(MARK).strip()
    if named := _FILE.fullmatch(bare) or _ATTACHED.fullmatch(bare):
        return _kind(named[1])
    is_said_by_program = first.startswith(MARK)
    if _IN_BRACKETS.fullmatch(bare) or (is_said_by_program and _LEFT_OUT.fullmatch(bare)):
        return _kind(bare)
    return ""


def _kind(named: str) -> str:
    if _PICTURE.search(named):
        return "[image]"
    return "[audio]" if _SOUND.search(named) else "[file]"


def is_whatsapp(head: bytes) -> bool:
    """Whether a file begins like an export, or nearly so.

    Examples
    --------
    >>> is_whatsapp(b"[12.03.24, 09:15:22] Ana: Hi"), is_whatsapp(b"3/12/24, 9:15 PM - Ana: Hi")
    (True, True)
    >>> is_whatsapp(b"[00:01:02] Ana: Hi"), is_whatsapp(b"12.03.2024, 09:15 Ana: Hi")
    (False, False)
    """
    text = head[:2000].decode("utf-8-sig", errors="replace")
    first = [line for line in text.splitlines() if line.strip()][:5]
    begins = [(line, start.end) for line in text.splitlines() if (start := begun(line))]
    if begins and all(certainty(line[end:].replace(",", "")) > 1 for line, end in begins):
        return False  # a name alone, as Teams has it
    return any(begun(line) or _is_nearly(line) for line in first)
