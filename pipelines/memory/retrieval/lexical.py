"""What is said as words, and BM25 over their stems."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pipelines.memory import text
from pipelines.memory.retrieval.speakers import Speakers
from pipelines.types import Message

Floats = NDArray[np.float64]
K1 = 1.2
B = 0.75


class Lexical:
    """One posting list for each stem; a question costs what its stems weigh."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        self.size = len(documents)
        self._lengths = np.array([len(document) for document in documents], dtype=np.float64)
        self._postings = _postings(documents)

    def idf(self, stem: str) -> float:
        documents = len(self._postings[stem][0]) if stem in self._postings else 0
        return float(np.log(1 + (self.size - documents + 0.5) / (documents + 0.5)))

    def score(self, stems: Iterable[str], *, k1: float = K1, b: float = B) -> Floats:
        scores = np.zeros(self.size)
        norm = k1 * (1 - b + b * self._lengths / max(float(self._lengths.mean()), 1.0))
        for stem in stems:
            if stem in self._postings:
                at, count = self._postings[stem]
                scores[at] += self.idf(stem) * count * (k1 + 1) / (count + norm[at])
        return scores

    def covered(self, stems: Sequence[str]) -> Floats:
        """The share of the question's weight that a message holds."""
        scores, total = np.zeros(self.size), sum(map(self.idf, stems))
        for stem in stems:
            if stem in self._postings:
                scores[self._postings[stem][0]] += self.idf(stem)
        return scores / total if total else scores


def _postings(
    documents: Sequence[Sequence[str]],
) -> dict[str, tuple[NDArray[np.int64], Floats]]:
    postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for at, document in enumerate(documents):
        for stem, count in Counter(document).items():
            postings[stem].append((at, count))
    return {
        stem: (
            np.array([at for at, _ in rows], dtype=np.int64),
            np.array([count for _, count in rows], dtype=np.float64),
        )
        for stem, rows in postings.items()
    }


def texts_of(messages: Sequence[Message]) -> list[str]:
    """What was said and what the pictures show; never empty, which encoders can't handle."""
    texts = [f"{text.spoken(line.content)} {text.captions(line.content)}" for line in messages]
    return [content.strip() or "." for content in texts]


def stems_of(texts: Sequence[str], people: Speakers) -> list[list[str]]:
    """Without the names of the speakers, who call each other by name all the time."""
    names = {text.stem(name) for names in people.names.values() for name in names}
    return [[stem for stem in text.stems(content) if stem not in names] for content in texts]
