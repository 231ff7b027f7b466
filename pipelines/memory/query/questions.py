"""Shorter questions that together find what a long one asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipelines.memory.query.intent import Intent, topic_of
from pipelines.memory.query.talk import Talk

MOST = 4
_SECOND_CLAUSE = re.compile(
    r"(?:,|(?<!\s))\s++and\s+(?=(?:what|when|where|who|why|how|which)\b)", re.I
)
_COORDINATED = re.compile(
    r"\b([\w'-]{3,}(?: [\w'-]{3,})?) (?:and|or) ([\w'-]{3,}(?: [\w'-]{3,})?)\b"
)


@dataclass(frozen=True, slots=True)
class SubQuestion:
    text: str
    why: str
    """person, slot or topic."""


def sub_questions(question: str, intent: Intent, talk: Talk) -> tuple[SubQuestion, ...]:
    """One for each person, and one for each thing asked about; none for a simple question."""
    people = by_person(question, intent, talk)
    slots = by_slot(question, talk)
    return tuple(dict.fromkeys((*people, *slots)))[:MOST]


def by_person(question: str, intent: Intent, talk: Talk) -> list[SubQuestion]:
    """“Where have Ann and Bob been” becomes “Where have Ann been” and “Where have Bob been”."""
    asked = intent.people
    if len(asked) < 2:
        return []
    texts = [_about_only(question, person, asked, talk) for person in asked]
    return [SubQuestion(text, "person") for text in texts if text != question]


def by_slot(question: str, talk: Talk) -> list[SubQuestion]:
    clauses = _SECOND_CLAUSE.split(question)
    if len(clauses) > 1:
        return [SubQuestion(clause.strip(" ?,"), "slot") for clause in clauses]
    names = _names(talk)
    for match in _COORDINATED.finditer(question):
        if not any(part.split()[0].lower() in names for part in match.groups()):
            before, after = question[: match.start()], question[match.end() :]
            return [SubQuestion(f"{before}{part}{after}", "slot") for part in match.groups()]
    return []


def topic_question(question: str) -> SubQuestion | None:
    topic = topic_of(question)
    return SubQuestion(topic, "topic") if topic and topic != question else None


def _about_only(question: str, person: str, people: tuple[str, ...], talk: Talk) -> str:
    for other in people:
        if other != person:
            for name in (other, *talk.people.get(other, ())):
                own = rf"(?<!\w){re.escape(name)}(?:'s)?(?!\w)"
                pattern = rf"(?:,\s*)?\b(?:and|or)\s+{own}|{own}(?:\s*,?\s+(?:and|or)\b)?"
                question = re.sub(pattern, " ", question, flags=re.I)
    question = re.sub(r"\b(?:both|each other)\b", " ", question, flags=re.I)
    return re.sub(r"\s+([?,.])", r"\1", re.sub(r"\s{2,}", " ", question)).strip()


def _names(talk: Talk) -> set[str]:
    every = (name for speaker, others in talk.people.items() for name in (speaker, *others))
    return {name.lower() for name in every}
