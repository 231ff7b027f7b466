"""Words put right later: "… within five minutes." "No, make that ten minutes."."""

from __future__ import annotations

import re

from pipelines.requirements.lexicon import words
from pipelines.requirements.text import plain, singular, tokens

SHORT = 14  # words; a longer sentence says something separate
LONGEST_THING = 6  # words of what is exchanged
_NUMBER = (
    r"\d[\d.,]*\d|\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|(?:a|one|two) hundred"
)
_FIGURE = re.compile(rf"\b(?P<number>{_NUMBER})\b(?:[ -](?P<unit>[a-z%]+))?", re.I)
_NEW, _OLD = r"(?P<new>[\w' -]{2,60}?)", r"(?P<old>[\w' -]{2,60}?)"
_IT = r"(?:it|that|this|they)"
_EXCHANGES = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"{_NEW},? (?:instead of|rather than|in place of) {_OLD}$",
        rf"\bnot {_OLD},? but (?:rather )?{_NEW}$",
        rf"{_NEW},? (?:and )?not {_OLD}$",
        rf"\b(?:change|replace|swap) {_OLD} (?:to|with|by|into|for) {_NEW}$",
        rf"\b{_IT}(?: is|'s| are|'re)?(?: not|n't) {_OLD}[,;.] {_IT}(?:'s| is| are|'re) {_NEW}$",
    )
)
_IS_NOW = re.compile(
    r"(?:\b(?:it|that|this|they|there)(?: should| must| has to| have to| needs? to| ought to|'d|"
    r" would|'ll| will)? (?:rather |actually |better |always |only )?(?:be|is|are)\b|'s\b|"
    r"\bmake (?:it|that|this|them)\b|\blet's (?:say|make it|take)\b|"
    r"\b(?:i|we) (?:meant?|said|asked for|wanted)\b|"
    r"\brather\b|\bactually\b|\bcorrection\b|^no+\b|\bsorry\b)[\s,:;]*(?P<new>[^,;.!?]{2,60})",
    re.I,
)
_KINDS = (
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday",
    r"hourly|daily|weekly|monthly|quarterly|yearly|annually|"
    r"(?:every|each|once an?|once per|per|an?) "
    r"(?:hour|day|week|month|quarter|year|morning|evening|night)",
    r"january|february|march|april|may|june|july|august|september|october|november|december",
    r"morning|noon|afternoon|evening|night|midnight",
    r"black|white|red|green|blue|yellow|orange|grey|gray|purple|brown|pink",
)


def amended(text: str, correction: str) -> str | None:
    """A text with the words that a correction exchanges, or None where nothing fits."""
    said = plain(correction).rstrip(" .!?")
    return _exchanged(text, said) or _new_figure(text, said) or _same_kind(text, said)


def _exchanged(text: str, said: str) -> str | None:
    """ "Tea instead of coffee" puts tea where the coffee was."""
    for pattern in _EXCHANGES:
        for exchange in pattern.finditer(said):
            old = _thing(exchange["old"])
            place = re.search(rf"(?<!\w){re.escape(old)}(?!\w)", text, re.I) if old else None
            new = _thing(_last_clause(exchange["new"]))
            if place and new and len(tokens(new)) <= LONGEST_THING:
                return f"{text[: place.start()]}{new}{text[place.end() :]}"
    return None


def _last_clause(text: str) -> str:
    """What the new thing is, without the words that bring it in: "it should be tea"."""
    brought = _IS_NOW.search(text)
    return brought["new"] if brought else text


def _thing(phrase: str) -> str:
    spoken = phrase.strip(" ,.-'").split()
    while spoken and spoken[0].lower() in words("determiners") | {"be", "use", "have", "want"}:
        spoken = spoken[1:]
    return " ".join(spoken)


def _new_figure(text: str, said: str) -> str | None:
    if len(tokens(said)) > SHORT:
        return None
    for new in reversed([*_FIGURE.finditer(said)]):
        for old in _FIGURE.finditer(text):
            if _same_unit(old, new) and old["number"].lower() != new["number"].lower():
                return f"{text[: old.start('number')]}{new['number']}{text[old.end('number') :]}"
    return None


def _same_unit(old: re.Match[str], new: re.Match[str]) -> bool:
    left, right = (singular((one["unit"] or "").lower()) for one in (old, new))
    return left == right or (new.end() == len(new.string.rstrip(" .!")) and not new["unit"])


def _same_kind(text: str, said: str) -> str | None:
    """Another weekday, another time, another way: what can stand in one place only."""
    if len(tokens(said)) > SHORT:
        return None
    for kind in _KINDS:
        new = [*re.finditer(rf"\b(?:{kind})s?\b", said, re.I)]
        old = [*re.finditer(rf"\b(?:{kind})s?\b", text, re.I)]
        if len(old) == 1 and new and new[-1][0].lower() != old[0][0].lower():
            return f"{text[: old[0].start()]}{new[-1][0]}{text[old[0].end() :]}"
    return _same_preposition(text, said)


def _same_preposition(text: str, said: str) -> str | None:
    """ "No, by letter" in the place of "by e-mail"."""
    new = _IS_NOW.search(said)
    spoken = (new["new"] if new else said).split()
    if not 2 <= len(spoken) <= LONGEST_THING or spoken[0].lower() not in {
        "by", "via", "on", "at", "within", "through",
    }:  # fmt: skip
        return None
    place = [
        *re.finditer(rf"\b{spoken[0]} (?:the |an? )?[\w-]+(?: [\w-]+)?$", text.rstrip(" ?."), re.I)
    ]
    if len(place) != 1:
        return None
    return f"{text[: place[0].start()]}{' '.join(spoken)}{text[place[0].end() :]}".rstrip(" ?.")
