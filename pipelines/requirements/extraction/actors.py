"""Whom a requirement speaks of: specific, singular, capitalised."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pipelines.requirements.lexicon import actors, mapping, words
from pipelines.requirements.text import MAX_SENTENCE, plain, singular, tokens

SYSTEM, USER = "System", "User"
NUMBERS = frozenset(["two", "three", "four", "five", "six", "several", "many", "both"])
_EVERYBODY = re.compile(r"\s*+(?:all|any|every|each)(?:one|body)?\b", re.I)


def resolve(subject: str, *, earlier: Sequence[str]) -> str:
    """The actor behind a subject; ``earlier`` is what was said before, the latest last."""
    low = _bare(subject)
    if low in actors("self"):
        return USER
    if low in actors("they"):
        return USER if _EVERYBODY.match(subject) else last_person(earlier) or USER
    if not low or low in actors("system"):
        return SYSTEM
    return person(low) or SYSTEM


def person(phrase: str) -> str | None:
    """The person a noun phrase names, or None if it names a thing."""
    low = _bare(phrase)
    if low in mapping("actors", "groups"):
        return mapping("actors", "groups")[low]
    spoken = [singular(word) for word in low.split()]
    for start in range(len(spoken)):
        if " ".join(spoken[start:]) in actors("people"):
            return _title(_qualified(spoken, start))
    if spoken and _sounds_like_person(" ".join(spoken), spoken[-1]):
        return _title(spoken[-2:])
    last = low.split()[-1:] and low.split()[-1]
    return mapping("actors", "groups").get(last or "")


def people(text: str) -> list[str]:
    """Everybody named in a text, in order, in the singular."""
    spoken = [word.lower() for word in tokens(text)]
    found = []
    for at, word in enumerate(spoken):
        pair = " ".join(spoken[max(0, at - 1) : at + 1])
        named = pair if singular(pair) in actors("people") else word
        if singular(named) in actors("people") or named in mapping("actors", "groups"):
            found.append(person(named) or USER)
    return found


def last_person(texts: Iterable[str]) -> str | None:
    for text in reversed(list(texts)):
        named = [one for one in people(text) if one != SYSTEM]
        if named:
            return named[-1]
    return None


def _bare(phrase: str) -> str:
    """Lower case, without article, quantifier or what follows the head noun."""
    low = re.split(
        r"\s(?:of|with|from|who|that|which|in|on|at|over|under|without|to)\s",
        plain(phrase[:MAX_SENTENCE]).lower(),
    )[0]
    spoken = tokens(low)
    while spoken and (spoken[0] in words("determiners") or spoken[0] in {"only", "even", "most"}):
        if len(spoken) == 1:
            break
        spoken = spoken[1:]
    return " ".join(spoken)


def _qualified(spoken: list[str], start: int) -> list[str]:
    """Keep one word before the noun if it tells which one ("branch manager")."""
    grammar = ("openers", "auxiliaries", "prepositions", "determiners")
    dull = frozenset[str]().union(*map(words, grammar)) | NUMBERS | {"same", "other"}
    return (
        spoken[max(0, start - 1) :] if start and spoken[start - 1] not in dull else spoken[start:]
    )


def _sounds_like_person(phrase: str, last: str) -> bool:
    things = actors("not_people")
    ending = tuple(actors("person_suffixes"))
    return len(last) > 4 and last.endswith(ending) and last not in things and phrase not in things


def _title(spoken: list[str]) -> str:
    return " ".join(word.capitalize() for word in spoken)
