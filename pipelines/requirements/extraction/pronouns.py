"""Pronouns: those of the speakers made neutral, and "it" replaced where that is certain."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pipelines.requirements.extraction.actors import person
from pipelines.requirements.extraction.phrases import (
    base_form,
    grammar,
    is_content,
    is_plural,
    is_verb,
    third_person,
)
from pipelines.requirements.lexicon import actors, words
from pipelines.requirements.text import plain, singular, tokens

_OWN_CLAUSE = re.compile(
    r"(?<!let )(?<!lets )(?<!help )(?<!helps )(?<!makes )\b(?P<who>i|we|you)"
    r"(?P<modal>'d|'ll|'ve|'re|'m| would| will| can| could| should| must|"
    r" may| might| have to| need to| want to)?"
    r"(?P<adverb>(?: (?:also|always|only|just|really|[a-z]+ly))*) (?P<verb>[a-z]+)\b",
    re.I,
)
_SELF = re.compile(
    r"\s*\b(?:(?:by )?(?:myself|ourselves|yourself|yourselves)|"
    r"by (?:themselves|themself|himself|herself|him or herself))\b",
    re.I,
)
_OBJECT = re.compile(r"\b(?:me|us|you)\b", re.I)
_POSSESSIVE = re.compile(r"\b(?:my|our|your)(?: own)?\b", re.I)
_MINE = re.compile(r"\b(?:mine|ours|yours)\b", re.I)
_DEMONSTRATIVE = re.compile(r"\b(?:this|that|these|those)(?= (?P<noun>[a-z][\w-]+))", re.I)
_FIRST_OBJECT = re.compile(
    r"^(?P<verb>(?:never |always |automatically )?[a-z-]+(?: (?:up|out|in|off|back|only))?) "
    r"(?P<it>it|them|this|that(?=$| (?:to|on|in|from|for|by|at|with|within)\b)|these|those)(?=$|"
    r"[ ,.;])(?! (?:is|are|can|should|must|will|would|"
    r"has|have|was|were)\b)",
    re.I,
)
_LATER = re.compile(r"\b(?P<it>it|its)\b(?!')", re.I)
_NAMED = re.compile(
    r"\b(?P<det>the|a|an|each|every|our|my|your|all|their|any|some)\s+(?P<noun>(?:(?!(?:the|an?|"
    r"each|every|our|my|your|their)\b)[a-z][\w-]*\s+){0,3}?(?!(?:the|an?)\b)[a-z][\w-]*)"
    r"(?=\s+(?:of|for|in|on|at|to|with|from|by|after|before|that|which|who|and|or|is|are|was|"
    r"were|has|have|should|must|can|will|may|so|when|if|because|per|until|within|without|as)\b|"
    r"[,.;:!?]|$)",
    re.I,
)
_PLURAL = re.compile(r"\b(?P<before>[a-z]+) (?P<noun>[a-z]{3,}s)\b", re.I)
_JOINING = frozenset({"of", "for", "with", "and", "no", "all"})
_HAD = {
    "have": "has",
    "are": "is",
    "am": "is",
    "do": "does",
    "were": "was",
    "don't": "doesn't",
    "haven't": "hasn't",
}


_AND_DOES = re.compile(
    r"\b(?P<before>the user (?P<first>[a-z]+s)(?: (?:to|at|in|up|out|on|for))? (?:and|or) )"
    r"(?P<second>[a-z]+)\b(?= (?:the|a|an|my|our|your|it|them|all)\b)",
    re.I,
)
_SHORT = {"'d": "would", "'ll": "will"}


def neutral(text: str, *, of_person: bool) -> str:
    """Without first and second person; ``of_person``: somebody does it, with things of theirs."""
    text = re.sub(r"\b(all|both|each) of us\b", "everybody", _SELF.sub("", text), flags=re.I)
    if of_person:
        text = re.sub(r"\bus\b", "staff", text, flags=re.I)
    text = _OWN_CLAUSE.sub(_third, text)
    text = _AND_DOES.sub(_third_again, text)
    text = _POSSESSIVE.sub("their" if of_person else "the", text)
    text = _MINE.sub("theirs" if of_person else "those of the user", text)
    text = _OBJECT.sub("the user", text)
    text = re.sub(r"\b(?:i|we)\b", "the user", text)
    text = re.sub(r"\bI\b", "the user", text)
    return plain(_DEMONSTRATIVE.sub(_article, text))


_CAPITAL = re.compile(r"(?<=[a-z,] )[A-ZÀ-Þ][a-zß-ÿ]+\b")


def names_in(texts: Iterable[str]) -> frozenset[str]:
    """The words that have a capital within a sentence, and nowhere a small letter."""
    whole = " ".join(texts)
    named = {word.lower() for word in _CAPITAL.findall(whole)}
    return frozenset(named - set(re.findall(r"[a-zß-ÿ]+", whole)))


def with_names(text: str, names: frozenset[str]) -> str:
    """With the capitals of names that went as the first word of a sentence."""
    return re.sub(
        r"\b[a-zß-ÿ]{2,}\b", lambda word: word[0].title() if word[0] in names else word[0], text
    )


_USER_AGAIN = re.compile(r"\bthe user (?P<verb>[a-z]+)\b")
_AGREES = {"is": "are", "has": "have", "does": "do", "was": "were"}


def spoken_of_once(action: str, *, by_user: bool) -> str:
    """ "Print as often as the user wants" as "… as they want", where it is the user who prints."""
    named = by_user

    def shorter(found: re.Match[str]) -> str:
        nonlocal named
        if not named:
            named = True
            return found[0]
        verb = found["verb"]
        plural = _AGREES.get(verb) or (base_form(verb) if verb.endswith("s") else None)
        fits = plural or verb in {"can", "cannot", "will", "must", "should", "may", "would", "did"}
        return f"they {plural or verb}" if fits else found[0]

    return _USER_AGAIN.sub(shorter, action)


def _third(found: re.Match[str]) -> str:
    modal, verb = (found["modal"] or "").strip().lower(), found["verb"]
    if verb.lower() in words("prepositions") | words("determiners"):
        is_there = modal in {"'re", "'m"}
        return f"the user {'is ' + verb if is_there else found[0][len(found['who']) :].strip()}"
    adverb = found["adverb"]
    if modal in {"'re", "'m"}:
        return f"the user is{adverb} {verb}"
    if modal == "'ve":
        return f"the user has{adverb} {verb}"
    if modal in {"have to", "need to", "want to"}:
        return f"the user {third_person(modal.split()[0])} to{adverb} {verb}"
    if modal:
        return f"the user {_SHORT.get(modal, modal)}{adverb} {verb}"
    low = verb.lower()
    if low in _HAD:
        return f"the user{adverb} {_HAD[low]}"
    if is_verb(low):
        return f"the user{adverb} {third_person(low)}"
    return f"the user{adverb} {verb}"


def _third_again(found: re.Match[str]) -> str:
    """ "The user listens to or download the piece": the second verb as the first."""
    first, second = found["first"].lower(), found["second"].lower()
    both = base_form(first) not in {None, first} and is_verb(second)
    return f"{found['before']}{third_person(second)}" if both else found[0]


def _article(found: re.Match[str]) -> str:
    """ "This list" is the list; "that" before a clause stays."""
    noun, word = found["noun"].lower(), found[0].lower()
    if word == "that":
        before = re.findall(r"[\w'-]+", found.string[: found.start()])[-1:]
        if (
            before
            and is_verb(before[0])
            and is_content(noun)
            and before[0].lower() not in grammar("saying")
        ):
            return "the"
        joins = before and (
            is_content(before[0])
            or before[0].lower() in {"so", "such", "everything", "anything", "those"}
        )
        if joins or noun in words("determiners") | words("auxiliaries") | {
            "they",
            "it",
            "he",
            "she",
        }:
            return found[0]
    counted = noun in grammar("many")
    if not (is_content(noun) or counted) or noun in words("auxiliaries"):
        return found[0]
    return "the"


def resolved(action: str, *, before: str, by_them: bool = False) -> str:
    """ "Delete it" with what "it" stands for, if just one thing was named that it may be."""
    found = _FIRST_OBJECT.match(action) or _LATER.search(action)
    if found is None or (found.re is _LATER and _names_already(action[: found.start()])):
        return action
    low = found["it"].lower()
    many = low in {"them", "these", "those", "their"}
    fitting = [name for name in things_named(before) if is_plural(name) == many]
    people_too = many and not by_them and any(map(_are_people, tokens(before)))
    if len(fitting) != 1 or people_too:
        return action
    name = f"{fitting[0]}'s" if low == "its" else fitting[0]
    return f"{action[: found.start('it')]}{name}{action[found.end('it') :]}"


def _names_already(part: str) -> bool:
    """Whether "it" may stand for something that the action itself names before it."""
    named = (
        word
        for word in tokens(part)[1:]
        if is_content(word)
        and singular(word) not in {"user", *grammar("time_nouns")}
        and person(word) is None
    )
    return bool(things_named(part)) or any(named)


def _are_people(word: str) -> bool:
    return person(word) is not None and is_plural(word)


def things_named(text: str) -> list[str]:
    """The things that a sentence names, each once; no person, no time, not the system."""
    names: list[str] = []
    for found in _NAMED.finditer(plain(text)):
        noun = found["noun"].lower()
        spoken = noun.split()
        if any(not is_content(word) for word in spoken) or (
            base_form(spoken[0]) == spoken[0] and len(spoken) > 2
        ):
            continue
        last = singular(spoken[-1])
        led_by = re.findall(r"[a-z]+", found.string[: found.start()].lower())[-1:]
        if led_by and led_by[0] in {"on", "in", "at", "from", "to", "by", "with"}:
            continue  # names the place or the means, rarely what is spoken of
        if last in grammar("time_nouns") or noun in actors("system") or person(noun):
            continue
        name = f"the {noun}"
        if name not in names:
            names.append(name)
    known = " ".join(names).split()
    plain_text = plain(text)
    for found in _PLURAL.finditer(plain_text):
        noun, before = found["noun"].lower(), found["before"].lower()
        last = singular(noun)
        if noun in known or last == noun or not is_content(noun) or last in grammar("time_nouns"):
            continue
        if person(noun) or noun in actors("system") or not (is_verb(before) or before in _JOINING):
            continue
        names.append(f"the {noun}")
    return names
