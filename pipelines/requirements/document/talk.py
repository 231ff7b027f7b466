"""What a document tells of the talk besides its requirements: people, aims, decisions, open
questions, and what was refused or taken back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pipelines.requirements.extraction import actors, nodes
from pipelines.requirements.extraction.state import (
    Commitment,
    Decision,
    ExtractionState,
    OpenQuestion,
    Utterance,
)
from pipelines.requirements.language import readable
from pipelines.requirements.lexicon import actors as listed_actors
from pipelines.requirements.lexicon import mapping, type_words
from pipelines.requirements.text import base, singular, tokens
from pipelines.requirements.validation.wording import pattern
from pipelines.types import Case, Message

LEAST_SAID = 5
"""Words of a sentence that says something by itself."""
MOST_AIMS = 3
AIMS_FROM = 2  # messages
SURE = 3  # weight of a word that tells the type of a requirement
_THING = re.compile(
    r"\b(?:a|an|the|each|every|this|that|our|my|your|their)\s+(?:[\w'-]+\s+)?([a-z][\w-]{2,})"
    r"(?=\s*(?:$|[.,;:?!])|\s+(?:is|are|was|has|have|can|should|will|must|may|to|for|of|in|on|at|"
    r"with|from|and|or|when|if|that|by)\b)",
    re.I,
)
UNNAMED = (actors.USER, actors.SYSTEM)


@dataclass(frozen=True, slots=True)
class Talk:
    said: tuple[Utterance, ...]
    commitments: tuple[Commitment, ...]
    decisions: tuple[Decision, ...]
    open_questions: tuple[OpenQuestion, ...]

    @property
    def ended(self) -> list[Commitment]:
        """Wishes and proposals that the client refused or took back, each wording once."""
        ended = [each for each in self.commitments if each.state in ("refused", "withdrawn")]
        return list({each.text.casefold(): each for each in ended}.values())

    def people(self) -> dict[str, list[int]]:
        """Everybody named by what they do, and the messages in which they are named."""
        named: dict[str, list[int]] = {}
        for utterance in self.said:
            for person in actors.people(_without_verbs(utterance.text)):
                messages = named.setdefault(person, [])
                if person not in UNNAMED and utterance.message not in messages:
                    messages.append(utterance.message)
        return {person: messages for person, messages in named.items() if messages}

    def aims(self) -> list[Utterance]:
        """What the client begins with: the first messages that say something."""
        telling = [each for each in self.said if _tells(each)]
        first = list(dict.fromkeys(each.message for each in telling))[:AIMS_FROM]
        return [each for each in telling if each.message in first][:MOST_AIMS]

    def things(self) -> Counter[str]:
        """Nouns that are spoken of as things: "the receipt is", "each order,"."""
        return Counter(
            singular(match[1].lower())
            for utterance in self.said
            for match in _THING.finditer(utterance.text)
            if base(match[1].lower()) is None
            and not pattern("empty_nouns").fullmatch(match[1])
            and match[1].lower() not in listed_actors("system")
        )

    def about(self, kind: str, *, without: Sequence[int]) -> list[Utterance]:
        """What the client says about data, or about security, in other messages than these."""
        return [
            each
            for each in self.said
            if each.message not in without and _tells(each) and _is_about(kind, each.text)
        ]


def _tells(utterance: Utterance) -> bool:
    return (
        utterance.side == "client"
        and not utterance.question
        and len(tokens(utterance.text)) >= LEAST_SAID
        and not {"small_talk", "question"} & set(utterance.acts)
    )


def _is_about(kind: str, text: str) -> bool:
    """Only by words that leave no doubt."""
    return any(weight >= SURE and words.search(text) for weight, words in type_words()[kind])


def _without_verbs(text: str) -> str:
    """So that "to support" names nobody from support."""
    groups = mapping("actors", "groups")
    spoken = (word for word in tokens(text))
    return " ".join(word for word in spoken if word.lower() not in groups or not base(word.lower()))


def of(case: Case) -> Talk:
    return _read(case.domain, case.messages)


@lru_cache(maxsize=4)
def _read(domain: str, messages: tuple[Message, ...]) -> Talk:
    """Kept for a while: inference, document and page each ask for it."""
    state: ExtractionState = {"case": readable(Case("", domain, messages))}
    state.update(nodes.read_talk(state))
    state.update(nodes.settle(state))
    return Talk(
        tuple(state["sentences"]),
        tuple(state["commitments"]),
        tuple(state["decisions"]),
        tuple(state["open_questions"]),
    )
