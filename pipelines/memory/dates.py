"""The days that a question refers to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_MONTH = r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"  # noqa: E501
_YEAR = r"(?:,?\s+(?:of\s+)?(\d{4}))?"
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_DOTTED = re.compile(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b")
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\b{_YEAR}", re.I)
_MONTH_DAY = re.compile(rf"\b{_MONTH}\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d){_YEAR}", re.I)
_MONTH_YEAR = re.compile(rf"\b{_MONTH}\s+(\d{{4}})\b", re.I)
_ONLY_MONTH = re.compile(rf"\b(?:in|during|of|since|until|late|early)\s+{_MONTH}(?!\w)", re.I)
_HOLIDAYS = {"new year": (1, 1), "christmas": (12, 25), "valentine": (2, 14)}


class Days(NamedTuple):
    """From the first to the last day, both included."""

    first: date
    last: date

    def hold(self, day: date | None, *, slack: int = 0) -> bool:
        margin = timedelta(days=slack)
        return day is not None and self.first - margin <= day <= self.last + margin


def days_in(question: str, *, span: Days | None) -> Days | None:
    """What the question says about time; ``span``, the conversation's days, decides the year."""
    mentioned = sorted(set(_mentioned(question, span)))
    if not mentioned:
        return None
    first, last = mentioned[0].first, max(days.last for days in mentioned)
    if len(mentioned) == 1 and span is not None:
        first, last = _opened(question, Days(first, last), span)
    return Days(first, last)


def _opened(question: str, days: Days, span: Days) -> Days:
    """“before” and “after” leave a side open."""
    if re.search(r"\b(?:before|until|till|prior to|by)\b", question, re.I):
        return Days(min(span.first, days.first), days.last)
    if re.search(r"\b(?:after|since|from)\b", question, re.I):
        return Days(days.first, max(span.last, days.last))
    return days


def _mentioned(question: str, span: Days | None) -> Iterator[Days]:
    for year, month, day in _ISO.findall(question):
        yield from _day(int(year), int(month), int(day))
    for day, month, year in _DOTTED.findall(question):
        yield from _day(int(year), int(month), int(day))
    for day, month, year in _DAY_MONTH.findall(question):
        yield from _day(_year(year, month, span), _month(month), int(day))
    for month, day, year in _MONTH_DAY.findall(question):
        yield from _day(_year(year, month, span), _month(month), int(day))
    yield from _whole_months(question, span)
    for name, (month, day) in _HOLIDAYS.items():
        if name in question.lower() and span is not None:
            yield from _day(_fitting_year(month, span), month, day)


def _whole_months(question: str, span: Days | None) -> Iterator[Days]:
    rest = _MONTH_DAY.sub(" ", _DAY_MONTH.sub(" ", question))
    for month, year in _MONTH_YEAR.findall(rest):
        yield from _whole_month(int(year), _month(month))
    for month in _ONLY_MONTH.findall(_MONTH_YEAR.sub(" ", rest)):
        yield from _whole_month(_year("", month, span), _month(month))


def _day(year: int, month: int, day: int) -> Iterator[Days]:
    try:
        only = date(year, month, day)
    except ValueError:  # 31 February doesn't exist, so the question names no day
        return
    yield Days(only, only)


def _whole_month(year: int, month: int) -> Iterator[Days]:
    if date.min.year <= year < date.max.year:
        following = date(year + month // 12, month % 12 + 1, 1)
        yield Days(date(year, month, 1), following - timedelta(days=1))


def _month(name: str) -> int:
    return next(
        at for at, month in enumerate(MONTHS, start=1) if month.startswith(name.lower()[:3])
    )


def _year(year: str, month: str, span: Days | None) -> int:
    return int(year) if year else _fitting_year(_month(month), span)


def _fitting_year(month: int, span: Days | None) -> int:
    """The year in which that month is closest to the conversation."""
    if span is None:
        return date.min.year
    years = range(span.first.year - 1, span.last.year + 2)
    middle = span.first + (span.last - span.first) / 2
    return min(years, key=lambda year: abs((date(year, month, 15) - middle).days))
