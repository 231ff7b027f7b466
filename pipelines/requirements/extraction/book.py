"""What was said so far and how each of it stands, with an index by words."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from pipelines.requirements.extraction import acts
from pipelines.requirements.extraction.clauses import read
from pipelines.requirements.extraction.features import features
from pipelines.requirements.extraction.state import (
    Commitment,
    Ending,
    OpenQuestion,
    Source,
    Utterance,
)
from pipelines.requirements.lexicon import words
from pipelines.requirements.text import (
    content_words,
    jaccard,
    overlap,
    same_stand,
    share,
    strip_openers,
    tokens,
)

KEPT_PER_WORD = 12  # commitments that are looked at for a word, the latest
COVERED = 0.6  # share of a sum-up's words that one commitment has said
COVERED_BY_TWO = 0.8
AS_LONG = 0.25  # … and of all words of both: what speaks of everything says nothing again
SAME = 0.65  # … and of two proposals' words together, where one repeats the other
PRODUCT = words("product")
NAMED = 0.3  # … of what is taken back
LONGEST_CHOICE, MOST_OF_BOTH = 16, 4  # words
_ALL = re.compile(r"\b(?:both|all(?: of (?:them|it|those))?|everything|each)\b", re.I)


@dataclass(slots=True)
class Pending:
    """Something that was put to the client."""

    utterance: Utterance
    text: str
    kind: str
    """proposal, recap or question."""
    choice: acts.Choice | None = None
    drops: bool = False
    """It proposes to leave something out."""
    answered: bool = False
    begun: bool = False
    """Some words of an answer were about it."""
    place: int | None = None
    """Of the commitment that it became."""


def chosen(pending: Pending, text: str) -> str | None:
    """What an answer picks of a choice, by its words or its place."""
    if pending.choice is None or not text or len(tokens(text)) > LONGEST_CHOICE:
        return None
    first, second, both = pending.choice
    said = {word.lower() for word in tokens(text)}
    if said & {"first", "former", "second", "latter"}:
        return first if said & {"first", "former"} else second
    if _ALL.search(text) and len(said) <= MOST_OF_BOTH:
        return both
    left, right = ({word.lower() for word in tokens(option)} for option in (first, second))
    scores = len(said & (left - right)), len(said & (right - left))
    if scores[0] == scores[1]:
        return None
    return first if scores[0] > scores[1] else second


def proposed(pending: Pending, accepted: Utterance | None = None) -> Commitment:
    own = pending.utterance
    reading = read(pending.text)
    sources = [Source(own.message, "proposed")]
    if accepted:
        sources.append(Source(accepted.message, "accepted"))
    values = features(pending.text, reading, sentence=own, question=None, proposal=True)
    return Commitment(
        sentence=own,
        text=strip_openers(pending.text).rstrip(" ?"),
        reading=reading,
        question=None,
        sources=tuple(sources),
        features=values | {"asks back": 0.0},
    )


class Book:
    def __init__(self) -> None:
        self.commitments: list[Commitment] = []
        self.open: list[OpenQuestion] = []
        self.about: list[frozenset[str]] = []
        self.places: defaultdict[str, deque[int]] = defaultdict(
            lambda: deque[int](maxlen=KEPT_PER_WORD)
        )

    def add(self, commitment: Commitment) -> int:
        at = len(self.commitments)
        self.commitments.append(commitment)
        self.about.append(frozenset(content_words(commitment.text)))
        for word in self.about[at]:
            self.places[word].append(at)
        return at

    def put(self, at: int, commitment: Commitment) -> None:
        self.commitments[at] = commitment
        about = frozenset(content_words(commitment.text))
        for word in about - self.about[at]:
            self.places[word].append(at)
        self.about[at] = about

    def near(self, about: Iterable[str]) -> list[int]:
        """The latest commitments that share a word with it."""
        return sorted({at for word in about for at in self.places.get(word, ())}, reverse=True)

    def named(self, about: set[str]) -> list[int]:
        """What these words name; the product itself is in many a sentence and names none."""
        about = about - PRODUCT
        return [
            at
            for at in self.near(about)
            if self.commitments[at].wanted and overlap(about, self.about[at] - PRODUCT) >= NAMED
        ]

    def known(self, pending: Pending) -> int | None:
        """The commitment that says it already."""
        about = frozenset(content_words(pending.text))
        near = [at for at in self.near(about) if self.commitments[at].wanted]
        near = [at for at in near if same_stand(self.commitments[at].text, pending.text)]
        near = [at for at in near if jaccard(about, self.about[at]) >= AS_LONG]
        if not about or not near:
            return None
        if pending.kind != "recap":
            best = max(near, key=lambda at: jaccard(about, self.about[at]))
            return best if jaccard(about, self.about[best]) >= SAME else None
        ordered = sorted(near, key=lambda at: -len(about & self.about[at]))
        best = ordered[0]
        if len(about & self.about[best]) / len(about) >= COVERED:
            return best
        both = self.about[best] | (self.about[ordered[1]] if ordered[1:] else frozenset())
        return best if len(about & both) / len(about) >= COVERED_BY_TWO else None

    def end(self, places: Iterable[int], each: Utterance) -> None:
        for at in places:
            before = self.commitments[at]
            if before.wanted:
                ending = Ending("withdrawn", each.message, each.text)
                self.put(at, replace(before, state="withdrawn", ended_by=ending))

    def still_open(self) -> list[OpenQuestion]:
        """Without those that a later answer settles. What the analyst names as open is said again
        at each sum-up, and the last one holds."""
        named = [one for one in self.open if one.reason == "named" and one.question.asked]
        return [each for each in self.open if each not in named[:-1] and not self._settles(each)]

    def _settles(self, each: OpenQuestion) -> bool:
        about = frozenset(content_words(each.question.text))
        return each.reason != "named" and any(
            self.commitments[at].wanted
            and max(self.commitments[at].messages) > each.question.message
            and share(about, self.about[at]) >= SAME
            for at in self.near(about)
        )
