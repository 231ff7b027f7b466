"""Spoken words as one would write them down: no hums, nothing begun twice."""

from __future__ import annotations

import re

from pipelines.requirements.extraction.phrases import is_noun_phrase, is_plural
from pipelines.requirements.text import lower_first

LONGEST = 5  # words that are said again
_NOISE = re.compile(
    r"\s*\[[a-z][a-z ,'-]{2,40}\]|\s*\((?:laughs?|laughing|laughter|pauses?|inaudible|"
    r"unintelligible|crosstalk|silence|sighs?|coughs?)\)",
    re.I,
)
"""What a transcript notes besides the words."""
_HUM = re.compile(r"(?:u+h+m*|u+m+|e+r+m*|e+hm+|h+m+|m+hm+|m{2,}|o+h+|a+h+)", re.I)
_OPENS = frozenset(
    {"so", "and", "but", "okay", "ok", "well", "yes", "yeah", "no", "oh", "right", "then", "also"}
)
_MAY_DOUBLE = frozenset(
    {"had", "very", "really", "so", "much", "many", "far", "no", "bye", "again", "more", "all"}
)
_EDGE = ",.;:!?…\"'“”()–—-"
_ENDS = re.compile(r"[.!?;:]['\"”)]*$")
_SEARCHING = re.compile(
    r",?\s*\bhow do (?:you|i|we) (?:say|call)(?: (?:it|that|this))?\b,?"
    r"|(?<=\bhave )like,? (?=an?\b)|(?<=\bneed )like,? (?=an?\b)|(?<=\bget )like,? (?=an?\b)"
    r"|(?<=\bwant )like,? (?=an?\b)|(?<=\bwith )like,? (?=an?\b)"
    r"|(?<=\bthere should be )like,? (?=an?\b)|(?<=\bthere must be )like,? (?=an?\b)"
    r"|(?<!would )(?<!look )\blike,? (?=(?:an?|one|two|three|four|five|six|ten|twenty|"
    r"\d+) (?:seconds?|minutes?|"
    r"hours?|days?|weeks?|months?|years?|percent|people|euros?|pounds?|dollars?)\b)"
    r"|(?:,?\s+yeah)+(?=[.!?]?$)|,\s+(?:or|no)(?=\?$)",
    re.I,
)
_BEGINS = r"(?:^|(?<=[.!?,;] )|(?<=\band )|(?<=\bbut )|(?<=\bso )|(?<=\bbecause )|(?<=\bthat ))"
_THE = r"(?:the|our|my|your|these|those|this|each|every)"
_DOES = (
    r"(?:should|shouldn't|must|can|can't|cannot|could|will|won't|would|may|have|has|need|needs|"
    r"want|wants|are|is|do|does|don't|doesn't|just|only|also|get|gets)\b"
)
_NAMED_FIRST = re.compile(
    rf"{_BEGINS}(?P<who>{_THE} (?:[\w-]+ ){{0,2}}?[\w-]+)"
    rf"(?:(?P<where>(?: (?:at|in|on|with|of|from) (?:{_THE} )?[\w-]+)?), "
    rf"(?P<again>they|it|he|she) (?=[a-z])| (?P<too>they|it|he|she) (?={_DOES}))",
    re.I,
)
""" "The helpers, they need …": the subject, and once more as a pronoun."""
_TOPIC_FIRST = re.compile(
    rf"{_BEGINS}(?P<what>(?:the|our|my) (?:[\w-]+ ){{0,2}}?[\w-]+), "
    r"(?P<asks>(?:can|could|should|shall|must|may|will|do) (?:we|you|they|i) (?:\w+ )?[a-z]+) "
    r"(?P<it>it|them)\b",
    re.I,
)
""" "The weather, could we take it …": the object before the question about it."""


def mended(text: str) -> str:
    """The sentence without hums, false starts, words said again, and subjects named twice.

    Examples
    --------
    >>> mended("And, um, I want to I want to show the the list.")
    'And, I want to show the list.'
    >>> mended("The volunteers, they should not be able to delete it.")
    'The volunteers should not be able to delete it.'
    """
    kept: list[str] = []
    spoken = _SEARCHING.sub(
        "", " ".join(_without_hums(_NOISE.sub("", text).strip().split(" ")))
    ).split(" ")
    at = 0
    while at < len(spoken):
        again = _said_again(kept, spoken, at)
        if again:
            kept[-again:] = [kept[-again], *spoken[at + 1 : at + again]]
            if again == 1 and not spoken[at].endswith(","):
                kept[-1] = kept[-1].rstrip(",") + spoken[at][len(spoken[at].rstrip(_EDGE)) :]
            at += again
        else:
            if kept and _is_cut_off(kept[-1], spoken[at]):
                kept.pop()
            kept.append(spoken[at])
            at += 1
    return _NAMED_FIRST.sub(_once, _TOPIC_FIRST.sub(_behind, " ".join(kept)))


def _without_hums(spoken: list[str]) -> list[str]:
    kept: list[str] = []
    for word in spoken:
        if not _HUM.fullmatch(word.strip(_EDGE)):
            kept.append(word)
            continue
        if _ENDS.search(word) and kept and not _ENDS.search(kept[-1]):
            kept[-1] = kept[-1].rstrip(",") + word.strip("\"'“”()")[-1]
        elif kept and kept[-1].endswith(",") and _bare(kept[-1]) not in _OPENS:
            kept[-1] = kept[-1].rstrip(",")
    return kept


def _bare(word: str) -> str:
    return word.strip(_EDGE).lower()


def _said_again(kept: list[str], spoken: list[str], at: int) -> int:
    """How many of the last words come again right here."""
    for size in range(min(LONGEST, len(kept), len(spoken) - at), 0, -1):
        before, after = kept[-size:], spoken[at : at + size]
        if [*map(_bare, before)] != [*map(_bare, after)] or any(map(_ENDS.search, before)):
            continue
        if size == 1 and (_bare(after[0]) in _MAY_DOUBLE or not after[0][:1].isalpha()):
            continue
        if size == 1 and before[0].lower() == "that":
            continue  # "I think that that is good"
        return size
    return 0


def _is_cut_off(word: str, following: str) -> bool:
    """ "re- reserve": the beginning of the next word."""
    begun = word.rstrip("-–—").lower()
    return (
        word != begun and bool(begun) and word[-1] in "-–—" and _bare(following).startswith(begun)
    )


def _once(found: re.Match[str]) -> str:
    who, again = found["who"], found["again"] or found["too"]
    if not is_noun_phrase(who) or is_plural(who) != (again.lower() == "they"):
        return found[0]
    return f"{who}{found['where'] or ''} "


def _behind(found: re.Match[str]) -> str:
    return f"{found['asks']} {lower_first(found['what'])}"
