"""Checks from the amounts, times and formats of the talk: sentences, or nothing."""

from __future__ import annotations

import re

from pipelines.requirements.text import lower_first, plain

MOST = 3
_COUNT = (
    r"(?:\d++(?:[.,]\d++)*+|half an?|(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|"
    r"eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety|hundred|thousand)"
    r"(?: (?:hundred|thousand|million|and a half))?)"
)
_TIME = r"(?:working |business |calendar )?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)"
_MONEY = r"(?:euros?|dollars?|pounds?|cents?)"
_SIZE = r"(?:%|percent|[kmg]b|(?:kilo|mega|giga)bytes?|kilomet(?:re|er)s?|km|met(?:re|er)s?)"
_AMOUNT = re.compile(
    r"(?:\b(?P<bound>no (?:more|less|later|longer) than|at (?:most|least)|within|under|up to|"
    r"in less than|more than|less than|longer than|over|after|every) |"
    r"(?<![\d.,][ .,–-])(?<! to )\b)"
    rf"(?P<amount>{_COUNT} ?(?:(?P<time>{_TIME})|(?P<money>{_MONEY})|{_SIZE}))(?!\w)",
    re.I,
)
_OFTEN = re.compile(
    r"\b(?:every (?:single )?(?:morning|evening|night|day|week|month|quarter|year|hour|minute|"
    r"monday|tuesday|wednesday|"
    r"thursday|friday|saturday|sunday|weekend)|(?:once|twice) (?:a|per|every) (?:day|week|month|"
    r"quarter|year|hour)"
    # "a weekly report" is a kind of report
    r"|(?:daily|weekly|monthly|quarterly|yearly|hourly)(?!\s+(?!(?:at|on|by|in|to|from|for|with|and|"
    r"or|as|before|after|until|via|but)\b)[a-z]))\b",
    re.I,
)
_FORMATS = {
    name.lower(): name
    for name in ("PDF", "CSV", "Excel", "Word", "JSON", "XML", "HTML", "PNG", "JPEG")
}
_FORMAT = re.compile(
    rf"\b(?:as|in|to|into|a|an|or|and) (?:an? )?(?P<format>{'|'.join(_FORMATS)})\b(?! (?:of|"
    rf"for) word)",
    re.I,
)
_ONE = re.compile(r"(?:an?|one)\b", re.I)
_BOUNDS = {
    "at least": "The minimum is {}",
    "no less than": "The minimum is {}",
    "after": "It happens after {}",
    "every": "It happens every {}",
}
_LOWER = ("more than", "longer than", "over")
_DENIED = re.compile(r"\b(?:never|not?|nobody|none|nothing|cannot)\b|n['’]t\b", re.I)


def amounts(text: str) -> list[str]:
    """A sentence for each time, sum of money and bounded size; what is only counted gives none.

    Examples
    --------
    >>> amounts("He has thirty minutes to take it, and up to ten euros come back.")
    ['The time is thirty minutes', 'The limit is ten euros']
    >>> amounts("One calendar for two doctors, and one of our days.")
    []
    """
    found = (_told(one) for one in _AMOUNT.finditer(text))
    return list(dict.fromkeys(one for one in found if one))[:MOST]


def times(text: str) -> list[str]:
    """How often, by the words for it.

    Examples
    --------
    >>> times("Send the list every Monday and a summary monthly.")
    ['It happens every Monday', 'It happens monthly']
    """
    return list(
        dict.fromkeys(f"It happens {lower_first(found[0])}" for found in _OFTEN.finditer(text))
    )[:MOST]


def formats(text: str) -> list[str]:
    """The file formats that were named as such.

    Examples
    --------
    >>> formats("Export the sales as CSV or to Excel")
    ['The format is CSV', 'The format is Excel']
    """
    named = (
        _FORMATS[found["format"].lower()]
        for found in _FORMAT.finditer(text)
        if found["format"] != "word"  # "in a word"
    )
    return list(dict.fromkeys(f"The format is {name}" for name in named))[:MOST]


def _told(found: re.Match[str]) -> str:
    amount, bound = lower_first(plain(found["amount"])), (found["bound"] or "").lower()
    if bound in _LOWER and not _DENIED.search(found.string[: found.start()]):
        return f"The value is more than {amount}"
    if bound:
        return _BOUNDS.get(bound, "The limit is {}").format(amount)
    if found["money"]:
        return f"The amount is {amount}"
    if not found["time"] or _ONE.match(amount):  # "a day" tells no time, "one day" rarely
        return ""
    short = re.search(r"second|minute|hour", amount)
    return f"The {'time' if short else 'period'} is {amount}"
