"""Personal data in a requirement: candidates are validated before they are reported.

A number counts as a telephone number only if such a number can be dialled, an account or card
number only if its check digits are right, an e-mail address only if it is one by its syntax.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pipelines.requirements.labels import FIELDS, Flaw, Requirement, field_text

REGIONS = ("US", "GB", "DE", "FR", "IN", "AU")
"""Where a telephone number without a country's code is looked up."""
MOST_TRIES = 1000
"""After so many numbers of a text that are none, no more are looked at."""


class Piece(NamedTuple):
    """Where personal data is in a text; ``kind`` is one of :data:`KINDS`."""

    start: int
    end: int
    kind: str


_SEVEN_DIGITS = re.compile(r"\d(?:\D*\d){6}")
# it begins where no character of it stands before, so that a run of them is read once
_MAIL = re.compile(
    r"(?<![\w.!#$%&'*+/=?^`{|}~-])[\w!#$%&'*+/=?^`{|}~-]++(?:\.[\w!#$%&'*+/=?^`{|}~-]++)*+"
    r"@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]",
    re.I,
)
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8}\b")
_CARD = re.compile(r"(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)")
_SSN = re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")
_IP = re.compile(r"(?<![\w.])(?<!version )\d{1,3}(?:\.\d{1,3}){3}(?![\w.])", re.I)
_OTHER_NUMBERS = re.compile(
    r"\b(?:[a-z][a-z0-9+.-]{1,15}://|www\.)\S+"  # an address on the web
    r"|(?<![\w-])[\w-]+\.(?:jpe?g|png|gif|webp|pdf|mp[34]|docx?|xlsx?|csv|txt|zip|html?)\b"
    r"|(?<![\d./-])\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})(?![./-]?\d)"  # a date
    r"|(?<![\d./-])\d{4}[./-]\d{1,2}[./-]\d{1,2}(?![./-]?\d)"
    r"|(?<![\d:])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])",  # a time
    re.I,
)
_ISSUED = re.compile(r"3[47]|4|5[1-5]|6|2[2-7]")
"""How the numbers of cards begin, unlike those of books and devices."""

CUE_REACH = 40
_TELEPHONE_CUE = re.compile(
    r"\b(?:call|calling|cell|dial|fax|handy|mobile|mobil|nummer|number is|phone|reach|ring|sms|tel"
    r"|telefon|telephone|text|whats ?app)\b",
    re.I,
)
_NAME = re.compile(
    r"\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Herr|Frau)\.? +"
    r"(?P<name>[A-ZÀ-Þ][\w'’-]+(?: +[A-ZÀ-Þ][\w'’-]+){0,2})"
)
_STREET = re.compile(
    r"\b\d{1,5}[a-z]? +(?:[A-ZÀ-Þ][\w'’-]+ +){1,3}"
    r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Square|Court|Way)\b\.?"
)
_BIRTH = re.compile(
    r"\b(?:born(?: on)?|date of birth|dob)[:\s]+(?P<date>\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|"
    r"\d{4}-\d{2}-\d{2}|\d{1,2}(?:st|nd|rd|th)? \w+ \d{4}|\w+ \d{1,2},? \d{4})",
    re.I,
)


KINDS: Mapping[str, tuple[str, re.Pattern[str] | None]] = {
    "mail": ("an e-mail address", _MAIL),
    "account": ("an account number", _IBAN),
    "card": ("a card number", _CARD),
    "social_security": ("a social security number", _SSN),
    "ip": ("an IP address", _IP),
    "telephone": ("a telephone number", None),  # as a library of such numbers finds them
    "name": ("a person's name", _NAME),
    "address": ("an address", _STREET),
    "birth": ("a date of birth", _BIRTH),
}
"""In words, and how it looks."""
NUMBERS = ("account", "card", "social_security", "ip", "telephone")


def personal_data(requirement: Requirement) -> Iterator[Flaw]:
    for field in FIELDS:
        for start, end, kind in pieces(field_text(requirement, field)):
            said = f"It holds {KINDS[kind][0]}"
            fix = "Say what kind of person or value is meant instead"
            yield Flaw("pii", field, (start, end), said, fix)


def pieces(text: str) -> list[Piece]:
    """Personal data in a text, in its order; of overlapping pieces the first and longest."""
    return _apart(piece for kind in KINDS for piece in _found(kind, text))


def validated_pieces(text: str) -> list[Piece]:
    """What can be confirmed: names, addresses and dates of birth can't, and are left out.

    It reads whole conversations, in which most long numbers are dates, prices, orders, or part of
    an address on the web. So these are passed over, and digits alone are a telephone number only
    after a word that says so.

    Examples
    --------
    >>> [piece.kind for piece in validated_pieces("Call 2025550143, or write to ana@example.org.")]
    ['telephone', 'mail']
    >>> validated_pieces("Order 2025550143 of 02.01.2024, 00:42:45, for 1 250 000 in 2026")
    []
    """
    if "@" not in text and not _SEVEN_DIGITS.search(text) and not _IP.search(text):
        return []
    numbers = _OTHER_NUMBERS.sub(lambda match: "|" * len(match[0]), text)
    found = (piece for kind in NUMBERS for piece in _found(kind, numbers))
    confirmed = (piece for piece in found if _is_confirmed(numbers, piece))
    return _apart([*_found("mail", text), *confirmed])


def _is_confirmed(text: str, piece: Piece) -> bool:
    """Not a part of a longer word; a card that is issued; a telephone number told as one."""
    around = text[max(0, piece.start - 1) : piece.start] + text[piece.end : piece.end + 1]
    if any(letter.isalnum() or letter == "_" for letter in around):
        return False
    number = text[piece.start : piece.end]
    if piece.kind == "card":
        return bool(_ISSUED.match(number))
    if piece.kind == "telephone" and number.isdigit():
        before = text[max(0, piece.start - CUE_REACH) : piece.start]
        return bool(_TELEPHONE_CUE.search(before))
    return True


def _apart(candidates: Iterable[Piece]) -> list[Piece]:
    apart: list[Piece] = []
    for piece in sorted(candidates, key=lambda piece: (piece.start, -piece.end)):
        if not apart or piece.start >= apart[-1].end:
            apart.append(piece)
    return apart


def _found(kind: str, text: str) -> Iterator[Piece]:
    pattern = KINDS[kind][1]
    if pattern is None:
        yield from _telephones(text)
        return
    for match in pattern.finditer(text):
        start, end = match.span(match.lastgroup or 0)
        if _is_valid(kind, text[start:end]):
            yield Piece(start, end, kind)


def _is_valid(kind: str, text: str) -> bool:
    if kind == "ip":
        return _is_public_address(text)
    if kind not in NUMBERS:
        return True
    from stdnum import iban, luhn
    from stdnum.us import ssn

    if kind == "account":
        return bool(iban.is_valid(text, check_country=False))
    if kind == "social_security":
        return bool(ssn.is_valid(text))
    digits = re.sub(r"\D", "", text)
    return len(set(digits)) > 1 and bool(luhn.is_valid(digits))


def _is_public_address(text: str) -> bool:
    """Of a machine on the internet; a private or reserved address says nothing about a person."""
    try:
        return ipaddress.ip_address(text).is_global
    except ValueError:
        return False


def _telephones(text: str) -> Iterator[Piece]:
    """What can be dialled, with its country's code or from one of the regions."""
    if not _SEVEN_DIGITS.search(text):
        return
    from phonenumbers import Leniency, PhoneNumberMatcher

    for region in REGIONS:
        for match in PhoneNumberMatcher(text, region, Leniency.VALID, MOST_TRIES):
            yield Piece(match.start, match.end, "telephone")
