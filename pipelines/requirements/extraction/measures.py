"""Checks drafted from the amounts and conditions of the talk: sentences, or nothing."""

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
_ONE = re.compile(r"(?:an?|one)\b", re.I)
_BOUNDS = {
    "at least": "The minimum is {}",
    "no less than": "The minimum is {}",
    "after": "It happens after {}",
    "every": "It happens every {}",
}
_LOWER = ("more than", "longer than", "over")
_DENIED = re.compile(r"\b(?:never|not?|nobody|none|nothing|cannot)\b|n['’]t\b", re.I)
_CLAUSE = re.compile(
    r"(?:when|whenever|if|once|as soon as|as long as|unless|until|while|in case)\b"
)
_BEYOND = re.compile(r",\s+(?=(?:i|we|you|he|she|it|they|then)\b)|\s+because\b", re.I)


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


def conditions(condition: str | None) -> list[str]:
    """When it happens and when not, if the condition can be understood by itself.

    Examples
    --------
    >>> conditions("When a book is overdue")
    ['Happens when a book is overdue', 'Does not happen in other cases']
    >>> conditions("Above that")
    []
    """
    when = lower_first(_BEYOND.split(plain(condition or ""))[0]).rstrip(" ,.;:")
    if not _CLAUSE.match(when):
        return []
    return [f"Happens {when}", "Does not happen in other cases"]


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
