"""A figure put right later: "… within five minutes." "No, make that ten minutes."."""

from __future__ import annotations

import re

from pipelines.requirements.text import plain, singular, tokens

SHORT = 14  # words; a longer sentence says something separate
_NUMBER = (
    r"\d[\d.,]*\d|\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|(?:a|one|two) hundred"
)
_FIGURE = re.compile(rf"\b(?P<number>{_NUMBER})\b(?:[ -](?P<unit>[a-z%]+))?", re.I)
MAKES_IT = re.compile(
    r"\W*(?:(?:no|wait|sorry|actually|rather|better|hm+|well|or)\b[\s,.!…-]*)*"
    r"(?:let's )?(?:make|say) (?:it|that|this)?\b",
    re.I,
)


def amended(text: str, correction: str) -> str | None:
    """A text with the figure that a correction names, or None where it has none of that unit."""
    said = plain(correction).rstrip(" .!?")
    if len(tokens(said)) > SHORT:
        return None
    for new in reversed([*_FIGURE.finditer(said)]):
        for old in _FIGURE.finditer(text):
            if _same_unit(old, new) and old["number"].lower() != new["number"].lower():
                end = old.end() if new["unit"] else old.end("number")
                return f"{text[: old.start()]}{new[0]}{text[end:]}"
    return None


def _same_unit(old: re.Match[str], new: re.Match[str]) -> bool:
    left, right = (singular((one["unit"] or "").lower()) for one in (old, new))
    return left == right or (new.end() == len(new.string.rstrip(" .!")) and not new["unit"])
