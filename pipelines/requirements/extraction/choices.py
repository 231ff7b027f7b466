"""Talks about choosing something: what is chosen, and what a question asks of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from pipelines.requirements.extraction.acts import options_of
from pipelines.requirements.extraction.state import Criterion, Utterance
from pipelines.requirements.lexicon import criteria_patterns, words
from pipelines.requirements.text import singular

_ARTICLE = re.compile(r"\b(?:a|an|the|this|that|each|any|of) (?P<noun>[a-z]{3,})\b", re.I)


_YOU = re.compile(r"^(?!.*\b(?:should|shall|must|system|app)\b).*\byou(?:r|'re)?\b", re.I)
_SOMEBODY = re.compile(
    r"^(?:someone|somebody|anyone|anybody|a person|people)\b(?= (?:who|that))", re.I
)


_I = re.compile(r"\b(?:i|we|my|our)\b", re.I)
_CHOICE_OF = re.compile(r"\b(?P<noun>[a-z]+) (?:finding|search|searching|selection|choice)$", re.I)
UNNAMED = "option"
"""What is chosen, where nobody says what."""


def chosen_in(spoken: Sequence[Utterance], domain: str = "") -> str:
    """What is chosen, by the questions of a talk, its answers, or the name of its domain."""
    for asked in (True, False):
        named_there = Counter(
            _noun(found)
            for each in spoken
            if each.asked == asked and (_YOU if asked else _I).search(each.text)
            for found in criteria_patterns("choosing").finditer(each.text)
        )
        if named_there:
            return named_there.most_common(1)[0][0]
    in_name = _CHOICE_OF.search(domain)
    return singular(in_name["noun"].lower()) if in_name else UNNAMED


def _noun(found: re.Match[str]) -> str:
    return singular(named(found, "noun").lower())


def asked_after(text: str, known: str = UNNAMED, *, goes_on: bool = False) -> str:
    """What is chosen, where a question asks how somebody chooses it; empty where it does not."""
    found = criteria_patterns("choosing").search(text) if _YOU.search(text) else None
    if found:
        return _noun(found)
    weighs = criteria_patterns("weighs").search(text)
    unnamed = weighs or (_YOU.search(text) and criteria_patterns("choosing_unnamed").search(text))
    return known if unnamed and (goes_on or not options_of(text)) else ""


def stays_with(question: Utterance, noun: str) -> bool:
    """A further question after what is chosen, once a talk has come to that."""
    if not noun or not _YOU.search(question.text):
        return False
    return asks_criteria(question) or bool(topic_of(question))


def named(found: re.Match[str], group: str) -> str:
    """A group that several alternatives may have."""
    numbered = (value for name, value in found.groupdict().items() if name.startswith(group))
    return next((value for value in numbered if value), "")


def asks_criteria(question: Utterance | None) -> bool:
    if question is None:
        return False
    after_what_was = criteria_patterns("asks_experience").search(question.text)
    return bool(criteria_patterns("asks_criteria").search(question.text)) and not after_what_was


def asks_experience(question: Utterance | None) -> bool:
    return question is not None and bool(criteria_patterns("asks_experience").search(question.text))


def topic_of(question: Utterance | None) -> str:
    """What a question names as perhaps of weight ("How important is the price?")."""
    found = criteria_patterns("about").search(question.text) if question else None
    topic = named(found, "what") if found else ""
    return "" if {*topic.lower().split()[:1]} & words("prepositions") else topic


def with_person(one: Criterion, question: Utterance | None) -> Criterion:
    """ "Somebody who smokes", after a question about a flatmate, is a flatmate who smokes."""
    meant = _SOMEBODY.match(one.what)
    asked = list(_ARTICLE.finditer(question.text)) if question else []
    if meant is None or not asked or asked[-1]["noun"] == one.noun:
        return one
    return replace(one, what=f"{asked[-1]['noun']}{one.what[meant.end() :]}", form="person")
