"""Talks about choosing something: what is chosen, and what a question asks of it."""

from __future__ import annotations

import re
from dataclasses import replace

from pipelines.requirements.extraction.state import Criterion, Utterance
from pipelines.requirements.lexicon import criteria_patterns
from pipelines.requirements.text import singular

_ARTICLE = re.compile(r"\b(?:a|an|the|this|that|each|any|of) (?P<noun>[a-z]{3,})\b", re.I)


_YOU = re.compile(r"^(?!.*\b(?:should|shall|must|system|app)\b).*\byou(?:r|'re)?\b", re.I)
_SOMEBODY = re.compile(
    r"^(?:someone|somebody|anyone|anybody|a person|people)\b(?= (?:who|that))", re.I
)


def asked_after(text: str, known: str = "one") -> str:
    """What is chosen, where a question asks how somebody chooses it; empty where it does not."""
    found = criteria_patterns("choosing").search(text) if _YOU.search(text) else None
    if found:
        return singular(named(found, "noun").lower())
    weighs = criteria_patterns("weighs").search(text)
    unnamed = weighs or (_YOU.search(text) and criteria_patterns("choosing_unnamed").search(text))
    return known if unnamed else ""


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
    return named(found, "what") if found else ""


def with_person(one: Criterion, question: Utterance | None) -> Criterion:
    """ "Somebody who smokes", after a question about a flatmate, is a flatmate who smokes."""
    meant = _SOMEBODY.match(one.what)
    asked = list(_ARTICLE.finditer(question.text)) if question else []
    if meant is None or not asked or asked[-1]["noun"] == one.noun:
        return one
    return replace(one, what=f"{asked[-1]['noun']}{one.what[meant.end() :]}", form="person")
