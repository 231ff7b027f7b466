"""Times and orders as files write them, read by what the whole column says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import Any

from labeling.domain.errors import FileFault
from labeling.domain.msgids import msgid
from labeling.domain.numbers import natural_bytes

BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
"""Where a file counts time from the start of a recording, its times are on this day."""
OFFSET = re.compile(r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})(?:[.,](\d{1,6}))?")
CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s*([AP])\.?M\.?)?", re.I)
DATED = re.compile(
    r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})"
    r"(?:(?:,?\s+|T)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?:\s*([AP])\.?\s?M\.?)?)?",
    re.I,
)
ZONE = re.compile(r"\s*(?:\b(?:UTC|GMT)\b|(?<=\d)Z)?\s*(?:([+-])(\d{1,2})(?::?(\d{2}))?)?\Z", re.I)
DIGITS = re.compile(r"(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})?")
WRITTEN = (
    *("%b %d, %Y %I:%M %p", "%B %d, %Y %I:%M %p", "%b %d, %Y %H:%M", "%d %B %Y %H:%M"),
    *("%b %d, %Y %I:%M:%S %p", "%A, %B %d, %Y at %I:%M:%S %p", "%A, %d %B %Y at %H:%M:%S"),
)
MILLISECONDS_FROM = 1e11  # a number of seconds that large lies in the year 5138
YEARS = range(1990, 2100)
"""Of a time that is a number alone: outside of them, it counts something else."""
CENTURY = 100


def time_in(written: str, *, month_first: bool | None = None) -> str | None:
    """A time as files write it, in the form of ISO 8601: dates, seconds since 1970, offsets.

    Raises
    ------
    FileFault
        It is none of these, or whether the day or the month is first is not known.

    Examples
    --------
    >>> time_in("2026-01-31 14:05"), time_in("1767225600"), time_in("31.1.2026 14:05")
    ('2026-01-31T14:05:00', '2026-01-01T00:00:00+00:00', '2026-01-31T14:05:00')
    >>> time_in("01:02:03.5"), time_in("20260131140500"), time_in("")
    ('1970-01-01T01:02:03.500000+00:00', '2026-01-31T14:05:00', None)
    >>> time_in("3/14/2026 9:15 PM"), time_in("2026-03-14 21:15 GMT+2")
    ('2026-03-14T21:15:00', '2026-03-14T21:15:00+02:00')
    """
    text = " ".join(written.split())
    if not text:
        return None
    try:
        if match := OFFSET.fullmatch(text):
            hours, minutes, seconds, part = match.groups()
            whole = timedelta(hours=int(hours or 0), minutes=int(minutes), seconds=int(seconds))
            return (BEGINNING + whole + timedelta(seconds=float(f"0.{part or 0}"))).isoformat()
        if counted := _counted(text):
            return counted.isoformat()
        bare, zone = _without_zone(text)
        moment = _dated(bare, month_first) or _worded(bare, text)
        return (moment.replace(tzinfo=zone) if zone and not moment.tzinfo else moment).isoformat()
    except (ValueError, OverflowError, OSError):
        raise FileFault("file.no_time_known", value=shown_time(text)) from None


def _counted(text: str) -> datetime | None:
    """Of digits alone."""
    if (match := DIGITS.fullmatch(text)) and int(match[1]) in YEARS:
        year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
        return datetime(year, month, day, hour, minute, second)  # noqa: DTZ001 - as written
    if len(text) > len("1767225600000.123456") or not re.fullmatch(r"\d{9,14}(?:\.\d+)?", text):
        return None
    number = float(text)
    counted = datetime.fromtimestamp(number / (1000 if number > MILLISECONDS_FROM else 1), UTC)
    if counted.year not in YEARS:
        raise ValueError(text)
    return counted


def _without_zone(text: str) -> tuple[str, timezone | None]:
    match = ZONE.search(text)
    if match is None or not match[0].strip() or ":" not in text[: match.start()]:
        return text, None
    sign, hours, minutes = match.groups()
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    return text[: match.start()].rstrip(), timezone(-offset if sign == "-" else offset)


def _dated(text: str, month_first: bool | None) -> datetime | None:
    """Of a day in three numbers."""
    match = DATED.fullmatch(text)
    if match is None:
        return None
    ways = _ways(match)
    if month_first is None and all(ways) and ways[0] != ways[1]:
        raise FileFault("file.day_or_month", value=shown_time(text))
    moment = ways[month_first] if month_first is not None else ways[0] or ways[1]
    if moment is None:
        raise ValueError(text)
    return moment


def _ways(match: re.Match[str]) -> tuple[datetime | None, datetime | None]:
    """With the day first, and with the month first; with dots, the day always is."""
    first, sign, second, year, hour, minute, of_second, half = match.groups()
    hours = int(hour or 0)
    if half:
        hours = hours % 12 + (12 if half in "Pp" else 0)
    years = int(year) + (2000 if int(year) < CENTURY else 0)
    found: list[datetime | None] = []
    for day, month in ((first, second), (second, first)):
        try:
            at = int(minute or 0), int(of_second or 0)
            found.append(datetime(years, int(month), int(day), hours, *at))  # noqa: DTZ001
        except ValueError:
            found.append(None)
    return (found[0], found[0]) if sign == "." else (found[0], found[1])


def _worded(bare: str, text: str) -> datetime:
    try:
        return datetime.fromisoformat(bare.replace("/", "-"))
    except ValueError:
        pass
    for form in WRITTEN:
        try:
            return datetime.strptime(bare, form)  # noqa: DTZ007 - as written
        except ValueError:
            pass
    return parsedate_to_datetime(text)


def month_first_in(times: Iterable[tuple[str, str]]) -> bool | None:
    """Whether the month comes first, by all times of conversations; None where both are right.

    What makes no day decides, then the order in which times of one conversation follow.

    Examples
    --------
    >>> month_first_in([("a", "3/4/2026"), ("a", "3/14/2026")]), month_first_in([("a", "3/4/26")])
    (True, None)
    """
    impossible, back = [0, 0], [0, 0]
    before: list[tuple[str, datetime] | None] = [None, None]
    for conversation, text in times:
        match = DATED.fullmatch(_without_zone(" ".join(text.split()))[0])
        for way, moment in enumerate(_ways(match) if match else ()):
            if moment is None:
                impossible[way] += 1
                continue
            last = before[way]
            back[way] += last is not None and last[0] == conversation and moment < last[1]
            before[way] = conversation, moment
    for counts in (impossible, back):
        if counts[0] != counts[1]:
            return counts[1] < counts[0]
    return None


def is_clock(times: Iterable[tuple[str, str]]) -> bool:
    """Whether a column has times of day, not positions in a recording, which begin near zero.

    Examples
    --------
    >>> is_clock([("a", "21:15"), ("a", "21:16")]), is_clock([("a", "0:03"), ("a", "21:15")])
    (True, False)
    """
    seen: set[str] = set()
    found = False
    for conversation, text in times:
        match = CLOCK.fullmatch(text.strip())
        if match is None or int(match[1]) >= 24:
            return False
        if match[4]:
            return True
        if conversation not in seen and int(match[1]) < (1 if match[3] else 5):
            return False
        seen.add(conversation)
        found = True
    return found


NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?")
GROUPED = re.compile(r"[1-9]\d{0,2}(?:([.,'’ \u00a0\u202f\u2009])\d{3})(?:\1\d{3})*")


def order_of(values: Callable[[], Iterable[tuple[str, str]]]) -> Callable[[str], float | bytes]:
    """How a column puts the messages of conversations in order, by all of its values.

    “1,000” is a thousand where counting on leads there, else a number with decimals; “1.10” comes
    after “1.9” where the file has them so. What is neither a number nor a time is compared by the
    numbers in it.

    Raises
    ------
    FileFault
        Both readings of a sign in the numbers are possible, and they differ.

    Examples
    --------
    >>> place = order_of(lambda: [("a", "999"), ("a", "1,000")])
    >>> place("1,000"), order_of(lambda: [("a", "m9"), ("a", "m10")])("m10") > b""
    (1000.0, True)
    >>> parts = order_of(lambda: [("a", "1.9"), ("a", "1.10"), ("a", "2.1")])
    >>> parts("1.9") < parts("1.10") < parts("2.1")
    True
    """
    texts = [(conversation, _bare(text)) for conversation, text in values()]
    is_number = [bool(NUMBER.fullmatch(text) or GROUPED.fullmatch(text)) for _, text in texts]
    if all(is_number):
        if _are_thousands(texts):
            return _grouped_numbers
        return (
            _natural
            if _steps_back(texts, _decimal_number) > _steps_back(texts, _natural) == 0
            else _decimal_number
        )
    if sum(is_number) * 10 >= len(texts) * 9:
        return _decimal_number
    month_first = month_first_in(values())
    try:
        for _, text in values():
            _moment(text, month_first)
    except FileFault as fault:
        if fault.fact.code == "file.day_or_month":
            raise
        return _natural
    return lambda text: _moment(text, month_first)


def _bare(text: str) -> str:
    return text.strip().lstrip("#№").rstrip(".)").strip()


def _decimal_number(text: str) -> float:
    bare = _bare(text)
    if not NUMBER.fullmatch(bare):
        raise FileFault("file.no_order", value=shown_time(text))
    return float(bare.replace(",", "."))


def _grouped_numbers(text: str) -> float:
    return float(re.sub(r"[^\d+-]", "", _bare(text)))


def _natural(text: str) -> bytes:
    if not any(character.isdigit() for character in text):
        raise FileFault("file.no_order", value=shown_time(text))
    return natural_bytes(text)


def _moment(text: str, month_first: bool | None) -> float:
    time = datetime.fromisoformat(time_in(text, month_first=month_first) or "")
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def _are_thousands(texts: list[tuple[str, str]]) -> bool:
    signed = [text for _, text in texts if not text.lstrip("+-").isdigit()]
    signs = {sign for text in signed for sign in re.sub(r"[\d+-]", "", text)}
    if not all(GROUPED.fullmatch(text) for text in signed) or len(signs) > 1:
        return False
    if not signed or not signs <= set(".,"):
        return True
    try:
        found = [_steps_back(texts, read) for read in (_grouped_numbers, _decimal_number)]
    except FileFault:  # with two signs, as in 1,000,000
        return True
    if not all(found):
        return found[0] <= found[1]
    numbers = {_grouped_numbers(text) for _, text in texts}
    if max(numbers) - min(numbers) + 1 == len(numbers):  # one after the other
        return True
    raise FileFault(
        msgid(
            "“{value}” in the column of the order may be a thousand or a number with "
            "decimals: write whole numbers without a sign, or use the order of the rows "
            "(order=-)"
        ),
        value=shown_time(signed[0]),
    )


def _steps_back(texts: list[tuple[str, str]], read: Callable[[str], Any]) -> int:
    """How many rows would come before the row above them of the same conversation."""
    last: dict[str, Any] = {}
    back = 0
    for conversation, text in texts:
        place = read(text)
        back += place < last.get(conversation, place)
        last[conversation] = place
    return back


def shown_time(text: str) -> str:
    """What was written for a time, short and printable."""
    return text if len(text) <= 60 and text.isprintable() else ascii(text[:60])[1:-1]
