"""Verbs in their forms, and which words make a noun phrase; by word lists, not by a tagger."""

from __future__ import annotations

import re
from functools import cache

from pipelines.requirements.extraction.actors import person
from pipelines.requirements.lexicon import actors, known_verbs, load, mapping, words
from pipelines.requirements.text import base, singular

LONGEST_SUBJECT = 9  # words
_PARTICLES = frozenset({"in", "out", "up", "off", "on", "down", "back", "over", "away", "through"})


_EVERYBODY = re.compile(
    r"(?:everybody|everyone|anybody|anyone|somebody|someone|those|"
    r"(?:(?:the|our|your|these|other|most|all|many|some|such) )?people)"
    r"(?: (?:who|with|without|in|on|from|at|of)\b.*)?$",
    re.I,
)


_ALL_THINGS = re.compile(
    r"(?:every|any)thing (?:over|above|under|below|older|newer|from|else) .+|"
    r"everything(?: that(?:'s| is| was) [a-z]+| (?:that |which )?(?:i|we|you|they) [a-z]+)?$",
    re.I,
)
_LY_ADJECTIVES = frozenset({"daily", "weekly", "monthly", "yearly", "hourly", "early", "family"})


@cache
def grammar(name: str) -> frozenset[str]:
    return frozenset(load("grammar")[name])


@cache
def base_form(word: str) -> str | None:
    """The verb behind a form, or None if the verb is not known."""
    low = word.lower()
    if low in known_verbs():
        return low
    for known in (mapping("words", "irregular"), mapping("grammar", "irregular_participles")):
        if low in known:
            return known[low]
    for ending in ("ies", "ied"):
        if low.endswith(ending) and low[:-3] + "y" in known_verbs():
            return low[:-3] + "y"
    for ending in ("ing", "ed", "es", "s"):
        if not low.endswith(ending) or len(low) <= len(ending) + 1:
            continue
        stem = low[: -len(ending)]
        undoubled = stem[:-1] if stem[-1:] == stem[-2:-1] else stem
        for verb in (stem, stem + "e", undoubled):
            if verb in known_verbs():
                return verb
    return base(low) or _prefixed(low)


def _prefixed(low: str) -> str | None:
    found = re.match(r"(?:re|un|pre|over|auto)-?(?=[a-z]{3})", low)
    if found and low[found.end() :] in known_verbs():
        return low
    return None


def is_verb(word: str) -> bool:
    low = word.lower()
    return low in known_verbs() or _prefixed(low) is not None


def is_participle(word: str) -> bool:
    low = word.lower()
    known = low in mapping("words", "irregular") or low in mapping(
        "grammar", "irregular_participles"
    )
    return known or (low.endswith("ed") and base_form(low) is not None)


def third_person(verb: str) -> str:
    if verb in {"be", "have"}:
        return {"be": "is", "have": "has"}[verb]
    if re.search(r"(?:s|x|z|ch|sh|o)$", verb):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if re.search(r"[^aeiou]y$", verb) else f"{verb}s"


def gerund(verb: str) -> str:
    """The -ing form.

    Examples
    --------
    >>> gerund("get"), gerund("make"), gerund("see"), gerund("tie"), gerund("send")
    ('getting', 'making', 'seeing', 'tying', 'sending')
    """
    low = verb.lower()
    if low in grammar("doubling"):
        return f"{verb}{verb[-1]}ing"
    if low.endswith("ie"):
        return f"{verb[:-2]}ying"
    if low.endswith("e") and not low.endswith(("ee", "oe", "ye")) and low != "be":
        return f"{verb[:-1]}ing"
    return f"{verb}ing"


def is_plural(phrase: str) -> bool:
    spoken = head_of(phrase).lower().split()
    if not spoken:
        return False
    if (
        spoken[0] in grammar("many")
        or spoken[-1] in grammar("many")
        or " and " in f" {phrase.lower()} "
    ):
        return spoken[0] not in {"every", "each"}
    if spoken[0] in {"a", "an", "every", "each", "this", "that", "one"}:
        return False
    return singular(spoken[-1]) != spoken[-1]


def head_of(phrase: str) -> str:
    """A noun phrase without what follows its noun."""
    return re.split(
        r",(?!\d)|\s(?:instead of|such as|of|for|in|on|at|with|without|from|to|by|about|per|who|"
        r"that|"
        r"which|where|under|over|"
        r"between|after|before|within)\s",
        phrase,
        maxsplit=1,
    )[0].strip()


def is_noun_phrase(phrase: str) -> bool:
    """Whether every word may stand in a noun phrase, and one of them names something."""
    spoken = re.findall(r"[^\s,]+", phrase.lower())
    if not spoken or len(spoken) > LONGEST_SUBJECT:
        return False
    barred = (
        words("auxiliaries")
        | grammar("discourse")
        | grammar("pointing") - {"this", "that", "these", "those"}
        | {"i", "we", "you", "me", "us"}
        | grammar("not_in_nouns")
    )
    if re.match(r"(?:that|this) (?:the|a|an|our|my|it)\b", phrase, re.I):
        return False
    if _EVERYBODY.match(phrase) or _ALL_THINGS.match(phrase):
        return True
    if ", " in phrase and not re.search(r"\b(?:and|or)\b", phrase):
        return False
    if spoken[0] in words("prepositions") - {"all", "like"} or (
        base_form(spoken[0]) == spoken[0] and len(spoken) > 1 and spoken[1] in words("determiners")
    ):
        return False
    head = head_of(phrase).lower().split()
    relative = re.search(r"\s(?:who|that|which)\s", phrase)
    inner = phrase[: relative.start()].lower().split() if relative else spoken
    if any(word.strip(".,;:!?") in barred for word in inner) or not head:
        return False
    last = spoken[-1].strip(".,;:!?\"'")
    if last in words("prepositions") | words("determiners") | {"that", "which", "who", "and", "or"}:
        return False
    if last.endswith("ly") and len(spoken) > 1 and not is_content(last):
        return False
    return names_something(" ".join(head))


def names_something(phrase: str) -> bool:
    """Whether some word of it is more than grammar and fillers."""
    return any(map(is_content, re.findall(r"[\w'&/-]+", phrase)))


def is_content(word: str) -> bool:
    low = word.lower().strip("'-")
    dull = (
        words("determiners") | words("prepositions") | words("auxiliaries") | words("pronouns")
        | grammar("discourse") | grammar("empty_nouns") | grammar("people_pronouns")
        | grammar("pointing")
        | {"itself", "themselves", "himself", "herself"}
        | {"not", "never", "only", "always", "too", "very", "also", "just", "them"}
    )  # fmt: skip
    adverb = low.endswith("ly") and low not in _LY_ADJECTIVES
    return low not in dull and not adverb and len(low) > 1 and not low.isdigit()


def is_person(phrase: str) -> bool:
    """Whether a noun phrase names somebody, not something."""
    head = head_of(phrase)
    return person(head) is not None and not is_system(head)


def is_system(phrase: str) -> bool:
    low = re.sub(r"^(?:the|this|our|my|your|a|new|whole|entire)\s+", "", phrase.lower().strip())
    low = re.sub(r"^(?:new|whole|entire|mobile|web|phone|desktop|online)\s+", "", low)
    return low in actors("system") and low not in {
        *("there", "it", "this", "that", "thing", "this thing", "something", "everything")
    }


def particles() -> frozenset[str]:
    return _PARTICLES
