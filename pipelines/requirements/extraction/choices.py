"""Talks about choosing something: what is chosen, and what a question asks of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pipelines.requirements.extraction.state import Criterion, Utterance
from pipelines.requirements.lexicon import criteria_patterns, criteria_words
from pipelines.requirements.text import singular, tokens
from pipelines.types import Case

_ARTICLE = re.compile(r"\b(?:a|an|the|this|that|each|any|of) (?P<noun>[a-z]{3,})\b", re.I)


_YOU = re.compile(r"^(?!.*\b(?:should|shall|must|system|app)\b).*\byou(?:r|'re)?\b", re.I)
_SOMEBODY = re.compile(
    r"^(?:someone|somebody|anyone|anybody|a person|people)\b(?= (?:who|that))", re.I
)


def chosen(case: Case, spoken: Sequence[Utterance]) -> str | None:
    """What the talk is about choosing, or None if it is about something else."""
    named = [word.lower() for word in tokens(case.domain)]
    if len(named) > 1 and named[-1] in criteria_words("choosing_domains"):
        return singular(named[-2])
    asked = (one.text for one in spoken if one.asked and _YOU.search(one.text))
    return next((noun for text in asked if (noun := _asked_after(text))), None)


def _asked_after(text: str) -> str | None:
    found = criteria_patterns("choosing").search(text)
    return singular(named(found, "noun").lower()) if found else None


def named(found: re.Match[str], group: str) -> str:
    """A group that several alternatives may have."""
    numbered = (value for name, value in found.groupdict().items() if name.startswith(group))
    return next((value for value in numbered if value), "")


def own_word(noun: str, domain: str, said: Iterable[str]) -> str:
    """The speakers' word for it: "hike" where the domain says "hiking trail"."""
    known = {form for word in tokens(domain.lower())[:-1] for form in _forms(word)}
    for text in said:
        for found in _ARTICLE.finditer(text):
            word, after = singular(found["noun"].lower()), tokens(text[found.end() :])[:1]
            if word in known and not (after and singular(after[0].lower()) in known):
                return word
    return noun


def _forms(word: str) -> tuple[str, ...]:
    stem = word.removesuffix("ing")
    if stem == word:
        return (singular(word),)
    return (stem, f"{stem}e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem)


def asks_criteria(question: Utterance | None) -> bool:
    if question is None:
        return False
    after_what_was = criteria_patterns("asks_experience").search(question.text)
    return bool(criteria_patterns("asks_criteria").search(question.text)) and not after_what_was


def whole_question(spoken: Sequence[Utterance], question: Utterance | None) -> Utterance | None:
    """All that was asked in the message of a question, as one sentence."""
    if question is None:
        return None
    asked = [one for one in spoken if one.message == question.message]
    texts = [one.text for one in asked if one.question] or [question.text]
    return replace(question, text=" ".join(texts))


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
