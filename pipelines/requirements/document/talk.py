"""What a document tells of the talk besides its requirements: people, aims, decisions, open
questions, and what was refused or taken back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

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
from pipelines.requirements.text import base, content_words, singular, tokens
from pipelines.requirements.validation.wording import pattern
from pipelines.types import Case, Message

LEAST_SAID = 5
"""Words of a sentence that says something by itself."""
MOST_AIMS = 3
AIMS_FROM = 8  # messages
LEAST_DECIDED = 2  # words of what a decision or a question is about
SURE = 3  # weight of a word that tells the type of a requirement
_THING = re.compile(
    r"\b(?:a|an|the|each|every|this|our|my|your|their)\s+(?:[\w'-]+\s+)?([a-z][\w-]{2,})"
    r"(?=\s*(?:$|[.,;:?!])|\s+(?:is|are|was|has|have|can|should|will|must|may|for|of|in|on|at|"
    r"with|from|and|or|when|if|that|by)\b)",
    re.I,
)
UNNAMED = (actors.USER, actors.SYSTEM)
_EXAMPLE = re.compile(
    r"(?:(?:so|and|or|uh|um|like|well)\b[\s,]*+)*+"
    r"(?:for (?:example|instance)|e\.g|i mean|in other words|that is|such as)\b",
    re.I,
)
_ABOUT_THE_TALK = re.compile(
    r"\b(?:you|any(?:one|body)|somebody|someone)\s+(?:all\s+)?(?:have|has|got)\s+"
    r"(?:an?|any|another|some|more)\s+(?:\w+\s+)?(?:questions?|comments?)\b(?!\s+(?:that|which))|"
    r"^\W*(?:(?:are|is) there )?any(?:thing)? (?:\w+ )?(?:questions?|comments?|to add)\W*$|"
    r"\banything (?:else )?(?:that )?(?:you (?:want|wish|would like)|you'd like) to "
    r"(?:add|say|ask|mention)\b|"
    r"\b(?:can|could|do) you (?:all )?(?:hear|see) (?:me|us|my screen)\b|"
    r"\bthat(?:'s| is| was) (?:all|it|everything) (?:for|from) (?:my|our|us|today|now|the)\b|"
    r"\b(?:one|a few|some|two) (?:more )?(?:little )?things? to (?:clarify|ask|add)\b|"
    r"^\W*(?:(?:so|okay|all ?right|right|well)\W+)*let me (?:\w+ )?"
    r"(?:recap|read|repeat|sum|check)\b|"
    r"^\W*(?:(?:i'm )?sorry|pardon)\b[^,]*$|\bdidn't (?:get|hear|catch) (?:you|that|it|the)\b|"
    r"\b(?:end|finish|close|wrap up) (?:the|this|our) (?:meeting|call|interview|session)\b",
    re.I,
)
_SOUND = re.compile(r"\W*(?:(?:u[hm]+|h?mm+|hm+|huh|ah|oh|er|well|so|right|okay?)\b\W*)+", re.I)
_PRESENT = re.compile(
    r"\[[^\]]*\]|(?:^|,)\s*\w+,\s*(?=(?:do|did|can|could|would|will|are|have) you\b)", re.I
)
"""A name in brackets, which stands for somebody who speaks, or who is spoken to."""
_OWN_TEAM = re.compile(
    r"\b(?:our|my|the)\s+(?:\w+\s+)?(?:team|developers?|engineers?|designers?|colleagues)\b", re.I
)


_PUT_OFF = re.compile(
    r"\b(?:not (?:right )?now|not yet|later|postpone\w*|next (?:year|version|time|phase)|"
    r"for (?:the )?(?:first|1st|next) (?:version|release|phase)|another time|some ?day)\b",
    re.I,
)
_AIM = re.compile(
    r"\b(?:(?:my|our|the|main|big|biggest|whole) (?:goal|aim|idea|problem|point|purpose|dream)|"
    r"problem is|(?:goal|aim|idea|purpose) is|(?<!if )(?:i|we)(?:'d| would)? "
    r"(?:want|need|like|wish|expect|hope)\b(?! to (?:say|ask|show|start|clarify))|"
    r"(?:is|are|be) looking for|"
    r"(?:a|such a|real|total) (?:pain|nightmare|mess)\b|by hand\b|"
    r"takes? (?:me|us|ages|hours|days)\b|"
    r"(?:app|application|system|tool|service|program|software|site|website|platform|portal) "
    r"(?:shall|should|will|must|would|needs?|is (?:for|to)|that)\b)",
    re.I,
)
"""How somebody says what the software is for, or what is wrong today."""


class Sentence(NamedTuple):
    utterance: Utterance
    words: frozenset[str]
    """What it is about."""


@dataclass(frozen=True)
class Talk:
    said: tuple[Utterance, ...]
    commitments: tuple[Commitment, ...]
    decisions: tuple[Decision, ...]
    open_questions: tuple[OpenQuestion, ...]

    @cached_property
    def _by_message(self) -> dict[int, tuple[Utterance, ...]]:
        by_message: dict[int, list[Utterance]] = {}
        for utterance in self.said:
            by_message.setdefault(utterance.message, []).append(utterance)
        return {message: tuple(listed) for message, listed in by_message.items()}

    @cached_property
    def _sentences(self) -> dict[int, list[Sentence]]:
        return {}

    def sentences_of(self, message: int) -> list[Sentence]:
        if message not in self._sentences:
            self._sentences[message] = [
                Sentence(each, frozenset(content_words(each.text)))
                for each in self._by_message.get(message, ())
            ]
        return self._sentences[message]

    @property
    def ended(self) -> list[Commitment]:
        """Wishes and proposals that the client refused or took back, each wording once."""
        ended = [each for each in self.commitments if each.state in ("refused", "withdrawn")]
        return list({each.text.casefold(): each for each in ended}.values())

    @cached_property
    def left_open(self) -> list[OpenQuestion]:
        """What was asked about the software, and has no answer at the end."""
        places = {each.question.place for each in self.open_questions}
        return [
            each
            for each in self.open_questions
            if each.reason == "named"
            or not (_about_the_talk(each.question.text) or self._settled(each, places))
        ]

    def _settled(self, asked: OpenQuestion, places: Set[tuple[int, int]]) -> bool:
        """It was an example, was put in other words at once, or a mere sound was taken for the
        reply to it."""
        own = asked.question
        around = self._by_message.get(own.message, ())
        before = [each for each in around if each.start < own.start]
        after = [each for each in around if each.start > own.start]
        if any(_EXAMPLE.match(each.text) and _of_questions(each) for each in before):
            return True
        if any(
            each.question and each.place not in places and _EXAMPLE.match(each.text)
            for each in after
        ):
            return True
        reply = asked.reply
        if reply is None or not _SOUND.fullmatch(reply.text):
            return False
        return any(
            each.start > reply.start and _tells(each)
            for each in self._by_message.get(reply.message, ())
        )

    def people(self) -> dict[str, list[int]]:
        """Everybody named by what they do, and the messages in which they are named."""
        named: dict[str, list[int]] = {}
        for utterance in self.said:
            for person in actors.people(_without_verbs(_without_present(utterance))):
                messages = named.setdefault(person, [])
                if person not in UNNAMED and utterance.message not in messages:
                    messages.append(utterance.message)
        return {
            person: messages
            for person, messages in named.items()
            if messages
            and (person.lower() not in listed_actors("also_tools") or self._is_person(person))
        }

    def _is_person(self, name: str) -> bool:
        """An "editor" may be a program: it is somebody if there are several, or one who wants."""
        someone = re.compile(
            rf"\b{re.escape(name)}(?:s\b|\s+(?:who|wants?|needs to|asks?|decides|works)\b)", re.I
        )
        return any(someone.search(each.text) for each in self.said)

    def aims(self) -> list[Utterance]:
        """What the client begins with: goals, and what is wrong today."""
        telling = [each for each in self.said if _tells(each)]
        first = list(dict.fromkeys(each.message for each in telling))[:AIMS_FROM]
        aims = [each for each in telling if each.message in first and _AIM.search(each.text)]
        return aims[:MOST_AIMS]

    def things(self) -> Counter[str]:
        """Nouns that are spoken of as things: "the receipt is", "each order,"."""
        return Counter(
            singular(match[1].lower())
            for utterance in self.said
            for match in _THING.finditer(utterance.text)
            if base(match[1].lower()) is None
            and actors.person(match[1]) is None
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


def outcome_of(outcome: str, words: str) -> str:
    """What was refused or taken back for now only is put off."""
    ended = outcome in ("refused", "withdrawn")
    return "put_off" if ended and _PUT_OFF.search(words) else outcome


def _is_about(kind: str, text: str) -> bool:
    """Only by words that leave no doubt."""
    return any(weight >= SURE and words.search(text) for weight, words in type_words()[kind])


def _of_questions(example: Utterance) -> bool:
    """ "For example, the question is …": what follows is not asked, either."""
    return not example.question or "question" in example.text.lower()


def _about_the_talk(text: str) -> bool:
    """ "Any more questions?" asks for nothing that the software has to do."""
    return _ABOUT_THE_TALK.search(text) is not None


def _decides(text: str) -> bool:
    return not _about_the_talk(text) and len(content_words(text)) >= LEAST_DECIDED


def _without_present(utterance: Utterance) -> str:
    """Without who takes part in the talk, or works for who asks."""
    text = _PRESENT.sub(" ", utterance.text)
    return _OWN_TEAM.sub(" ", text) if utterance.asked else text


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
        tuple(each for each in state["decisions"] if _decides(each.text)),
        tuple(state["open_questions"]),
    )
