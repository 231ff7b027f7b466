"""A thing or somebody as it may stand in an action, and the verb that goes with a thing."""

from __future__ import annotations

import re

from pipelines.requirements.extraction.built import POLITE_END, SPEAKERS, Built
from pipelines.requirements.extraction.phrases import (
    base_form,
    grammar,
    head_of,
    is_content,
    is_noun_phrase,
    is_plural,
)
from pipelines.requirements.extraction.wellformed import ends_well
from pipelines.requirements.lexicon import words
from pipelines.requirements.text import lower_first


def provided(what: str) -> Built | None:
    """A thing that is wanted, with the verb that goes with it."""
    what = re.sub(
        r"^(?:like |maybe |also |just |some kind of |some sort of |a kind of |a sort of |"
        r"kind of |something like |to have |definitely )+",
        "",
        what.strip(),
        flags=re.I,
    )
    what = POLITE_END.sub("", what).strip(" ,.;:!?")
    if not names_thing(what) or re.search(rf"\b{SPEAKERS}'", what, re.I):
        return None
    noun = re.findall(r"[\w-]+", head_of(what).lower())
    verb = (
        "send" if noun and any(_single(noun[-1]) == sent for sent in grammar("send")) else "provide"
    )
    return Built(f"{verb} {lower_first(what)}")


def _single(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


_TIME_BEFORE = re.compile(
    r",? (?:the|an?|one|two|three|some|\d+)(?: \w+)? (?:minute|hour|day|night|evening|"
    r"morning|week|month|year)s? "
    r"(?:before|after|later|ahead)$",
    re.I,
)


def names_thing(what: str) -> bool:
    what = _TIME_BEFORE.sub("", what)
    head = head_of(what)
    spoken = head.lower().split()
    if not spoken or not ends_well(what):
        return False
    if re.match(
        r"(?:it|this|that|these|those|them|him|her|me|us|you|to|for|with|in|on|at|if|when|so|"
        r"because|and|but|or|not|what|how|who|only)\b",
        what,
        re.I,
    ):
        return False
    first = spoken[0]
    bare = base_form(first) == first and len(spoken) > 1 and spoken[1] in words("determiners")
    return not bare and is_noun_phrase(head) and any(map(is_content, spoken))


def named_phrase(who: str) -> str:
    """A noun phrase as it may stand in an action, or nothing."""
    who = who.strip(" ,")
    if re.fullmatch(r"i|we|me|us|you|myself", who, re.I):
        return "the user"
    if is_pronoun(who) or not is_noun_phrase(who):
        return ""
    return lower_first(re.sub(r"^(?:our|my|your)\b", "the", who, flags=re.I))


_COMMA_OR_AND = re.compile(r",\s+(?:and |or )?|\s+and\s+(?!.*,)", re.I)
_EMBEDDED = re.compile(r"(?:how|what|which|who|whose|when|where|whether|if) [\w-]+", re.I)


def _listed(what: str) -> str:
    """Several things named one after the other, "the name, the date and how many come"."""
    parts = [part for part in _COMMA_OR_AND.split(what) if part]
    if len(parts) < 3 or "," not in what:
        return ""
    named = (
        _EMBEDDED.match(part) or (names_thing(part) and not _FINITE.search(part)) for part in parts
    )
    return lower_first(what) if all(named) and not is_pronoun(parts[-1]) else ""


_FINITE = re.compile(
    r"\b(?:is|are|was|were|can|should|must|will|has|have|i|we|you|they|he|she|it|that|this)\b", re.I
)


def is_pronoun(who: str) -> bool:
    return (
        re.fullmatch(r"i|we|you|they|he|she|it|this|that|these|those", who.strip(), re.I)
        is not None
    )


def is_or_are(what: str) -> str:
    return "are" if is_plural(what) else "is"
