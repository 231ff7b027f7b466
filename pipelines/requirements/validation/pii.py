"""Personal data in a requirement: candidates are validated before they are reported.

A number counts as a telephone number only if such a number can be dialled, an account or card
number only if its check digits are right, an e-mail address only if it is one by its syntax.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from pipelines.requirements.labels import FIELDS, Issue, Requirement, field_text, issue

REGIONS = ("US", "GB", "DE", "FR", "IN", "AU")
"""Where a telephone number without a country's code is looked up."""
MOST_ADDRESS = 254  # characters of an e-mail address
MOST_LOCAL = 64  # and of its part before the @


class Piece(NamedTuple):
    start: int
    end: int
    kind: str


_MAIL = re.compile(r"(?<![\w.+-])[\w.!#$%&'*+/=?^`{|}~-]+@[\w-]+(?:\.[\w-]+)+")
_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)", re.I)
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8}\b")
_CARD = re.compile(r"(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)")
_SSN = re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")
_IP = re.compile(r"(?<![\w.])(?<!version )\d{1,3}(?:\.\d{1,3}){3}(?![\w.])", re.I)
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


def personal_data(requirement: Requirement) -> Iterator[Issue]:
    for field in FIELDS:
        for piece in pieces(field_text(requirement, field)):
            yield issue(
                requirement,
                "pii",
                field,
                message=f"It holds {piece.kind}",
                fix="Say what kind of person or value is meant instead",
                place=(piece.start, piece.end),
            )


def pieces(text: str) -> list[Piece]:
    """Personal data in a text, in its order; of overlapping pieces the first and longest."""
    apart: list[Piece] = []
    candidates = [piece for find in _FINDERS for piece in find(text)]
    for piece in sorted(candidates, key=lambda piece: (piece.start, -piece.end)):
        if not apart or piece.start >= apart[-1].end:
            apart.append(piece)
    return apart


def is_mail_address(text: str) -> bool:
    local, _, domain = text.rpartition("@")
    labels = domain.split(".")
    return (
        0 < len(local) <= MOST_LOCAL
        and len(text) <= MOST_ADDRESS
        and not local.startswith(".")
        and not local.endswith(".")
        and ".." not in local
        and all(_LABEL.fullmatch(label) for label in labels)
        and len(labels[-1]) > 1
        and not labels[-1].isdigit()
    )


def is_iban(text: str) -> bool:
    from stdnum import iban

    return bool(iban.is_valid(text, check_country=False))


def is_card_number(text: str) -> bool:
    from stdnum import luhn

    digits = re.sub(r"\D", "", text)
    return len(set(digits)) > 1 and bool(luhn.is_valid(digits))


def is_social_security_number(text: str) -> bool:
    from stdnum.us import ssn

    return bool(ssn.is_valid(text))


def is_ip_address(text: str) -> bool:
    """Of a machine on the internet; a private or reserved address says nothing about a person."""
    try:
        return ipaddress.ip_address(text).is_global
    except ValueError:
        return False


def _telephones(text: str) -> Iterator[Piece]:
    """What can be dialled, with its country's code or from one of the regions."""
    if sum(letter.isdigit() for letter in text) < 7:
        return
    from phonenumbers import Leniency, PhoneNumberMatcher

    for region in REGIONS:
        for match in PhoneNumberMatcher(text, region, leniency=Leniency.VALID):
            yield Piece(match.start, match.end, "a telephone number")


def _checked(
    pattern: re.Pattern[str], is_valid: Callable[[str], bool], kind: str
) -> Callable[[str], Iterator[Piece]]:
    def find(text: str) -> Iterator[Piece]:
        for match in pattern.finditer(text):
            end = match.end() - (len(match[0]) - len(match[0].rstrip(".")))
            if is_valid(text[match.start() : end]):
                yield Piece(match.start(), end, kind)

    return find


def _named(
    pattern: re.Pattern[str], group: str | int, kind: str
) -> Callable[[str], Iterator[Piece]]:
    def find(text: str) -> Iterator[Piece]:
        for match in pattern.finditer(text):
            yield Piece(*match.span(group), kind)

    return find


_FINDERS: Sequence[Callable[[str], Iterator[Piece]]] = (
    _checked(_MAIL, is_mail_address, "an e-mail address"),
    _checked(_IBAN, is_iban, "an account number"),
    _checked(_CARD, is_card_number, "a card number"),
    _checked(_SSN, is_social_security_number, "a social security number"),
    _checked(_IP, is_ip_address, "an IP address"),
    _telephones,
    _named(_NAME, "name", "a person's name"),
    _named(_STREET, 0, "an address"),
    _named(_BIRTH, "date", "a date of birth"),
)
