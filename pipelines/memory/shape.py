"""How a question is asked, by its wording."""

from __future__ import annotations

import re

SHAPES = ("when", "count", "yes_no", "why", "many")
_WHEN = re.compile(
    r"^\s*(?:when|since when|(?:on |in )?(?:what|which) (?:date|day|month|year|time)|how long)\b",
    re.I,
)
_COUNT = re.compile(r"\bhow (?:many|much|often)\b", re.I)
_YES_NO = re.compile(
    r"^\s*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|might|may|should)\b",
    re.I,
)
_WHY = re.compile(r"\b(?:why|what (?:made|caused|reason))\b", re.I)
_MANY = re.compile(
    r"\b(?:what|which|whose)(?: are| were| kinds? of| types? of| other| different| new)*"
    r"(?: [\w'-]+){0,4}? (?!was\b|is\b|does\b|has\b|his\b|this\b)[\w-]{2,}[^s\W]s\b",
    re.I,
)
_BOTH = re.compile(r"\b(?:both|each other|in common|share[sd]?|together|similar)\b", re.I)


def shape_of(question: str) -> str:
    """One of ``SHAPES``, or other."""
    if _COUNT.search(question):
        return "count"
    if _WHEN.match(question):
        return "when"
    if _YES_NO.match(question):
        return "yes_no"
    if _WHY.search(question):
        return "why"
    return "many" if _MANY.search(question) else "other"


def asks_both(question: str) -> bool:
    return bool(_BOTH.search(question))
