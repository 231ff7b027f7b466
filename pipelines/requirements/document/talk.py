"""What a document tells of the talk besides its requirements: people, open questions, and
what was refused or taken back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from pipelines.requirements.extraction import actors, nodes
from pipelines.requirements.extraction.state import (
    Commitment,
    ExtractionState,
    OpenQuestion,
    Utterance,
)
from pipelines.requirements.language import readable
from pipelines.requirements.lexicon import actors as listed_actors
from pipelines.requirements.lexicon import mapping
from pipelines.requirements.text import base, tokens
from pipelines.types import Case, Message

_ABOUT_THE_TALK = re.compile(
    r"\bany(?:thing|one|body)? (?:\w+ ){0,3}(?:questions?|comments?|to (?:add|say|ask))\b|"
    r"\b(?:hear|see) (?:me|us|my screen)\b|\b(?:hear|catch|get) (?:you|that)\b|"
    r"^\W*(?:(?:so|okay|right|well)\W+)*let me (?:\w+ )?(?:recap|repeat|sum|check)\b",
    re.I,
)
"""It asks for nothing that the software has to do."""
UNNAMED = (actors.USER, actors.SYSTEM)


@dataclass(frozen=True)
class Talk:
    said: tuple[Utterance, ...]
    commitments: tuple[Commitment, ...]
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
                if utterance.message not in messages:
                    messages.append(utterance.message)
        unnamed = {*UNNAMED, *(name.capitalize() for name in listed_actors("also_tools"))}
        return {person: messages for person, messages in named.items() if person not in unnamed}


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
        tuple(
            each
            for each in state["open_questions"]
            if each.reason == "named" or not _ABOUT_THE_TALK.search(each.question.text)
        ),
    )
