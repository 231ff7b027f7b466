"""Who takes part, what the others call them, and whom a question is about."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.memory.text import words
from pipelines.types import Message

SAID_TO = re.compile(
    r"(?:^|[.!?\n][^\S\n]*+)(?i:hi|hey|hello|hiya|morning|good (?:morning|evening|afternoon|night)|"
    r"thanks|thank you|sorry|bye|well|yes|no|wow|oh)"
    r"(?i: there| again| so much)?[ ,]+([A-Z][a-z]+)\b"
)
CLOSING = re.compile(r"[, ]([A-Z][a-z]{2,})[^\S\n]*+[!?.]*+[^\S\n]*+$", re.MULTILINE)
AT_LEAST = 3  # a name used that often to address a person belongs to that person
OFTEN = 0.25  # … if it is also at least this share of the name used most
_NO_NAMES = """
    everyone everybody guys all there again christmas new year today yesterday tomorrow monday
    tuesday wednesday thursday friday saturday sunday january february march april may june july
    august september october november december god lol haha yeah yes no okay the that this it how
    what we you my and but so not just really very sure happy good great have been thanks thank
    sounds glad hope hello hey hi man bro dude girl sir dear friend love well"""
NOT_NAMES = frozenset(_NO_NAMES.split())
SPELLING = 2  # letters a long name may differ by: Elisa, Nikolas


@dataclass(frozen=True, slots=True)
class Speakers:
    names: dict[str, frozenset[str]]
    """The names a speaker goes by, lower case, by the name in the file."""

    def about(self, question: str) -> tuple[str, ...]:
        """The speakers a question names, in the order it names them."""
        named: dict[str, None] = {}
        for word in words(question):
            for speaker in self.called(word):
                named.setdefault(speaker)
        return tuple(named)

    def called(self, word: str) -> list[str]:
        bare = word.lower().replace("’", "'").removesuffix("'s").removesuffix("'")
        exact = [speaker for speaker, names in self.names.items() if bare in names]
        return exact or [
            speaker for speaker, names in self.names.items() if any(_near(bare, n) for n in names)
        ]


def learn(messages: Sequence[Message]) -> Speakers:
    """Names from the file, and those by which the others address a speaker."""
    own = {message.speaker: frozenset(words(message.speaker)) for message in messages}
    if len(own) == 2:
        own = _with_nicknames(messages, own)
    return Speakers(own)


def _with_nicknames(
    messages: Sequence[Message], own: dict[str, frozenset[str]]
) -> dict[str, frozenset[str]]:
    calls = _calls(messages, list(own))
    learned = {}
    for speaker, names in own.items():
        (other,) = (name for name in own if name != speaker)
        most = max(calls[speaker].values(), default=0)
        new = {
            name
            for name, count in calls[speaker].items()
            if count >= max(AT_LEAST, OFTEN * most)
            and count > calls[other][name]
            and name not in own[other]
        }
        learned[speaker] = names | new
    return learned


def _calls(messages: Sequence[Message], speakers: list[str]) -> dict[str, Counter[str]]:
    calls: dict[str, Counter[str]] = defaultdict(Counter)
    lower = Counter(
        word for message in messages for word in re.findall(r"\b[a-z]{3,}\b", message.content)
    )
    for message in messages:
        addressed = speakers[1] if message.speaker == speakers[0] else speakers[0]
        called = {*SAID_TO.findall(message.content), *CLOSING.findall(message.content)}
        for name in {call.lower() for call in called}:
            if name not in NOT_NAMES and lower[name] <= 1:
                calls[addressed][name] += 1
    return calls


def _near(word: str, name: str) -> bool:
    if min(len(word), len(name)) < 5 or word[:2] != name[:2]:
        return False
    from rapidfuzz.distance import Levenshtein

    allowed = SPELLING if min(len(word), len(name)) > 6 else 1
    return Levenshtein.distance(word, name, score_cutoff=allowed) <= allowed
