"""Answers whose worth is known, to try a judge with before its scores decide anything."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypedDict

from labeling.domain.facts import StoredFact

FILE = Path(__file__).parent / "probes.v1.yaml"
TRICKS = {
    "good": "good",
    "paraphrase": "paraphrase",
    "vague": "vague",
    "wrong": "wrong",
    "half": "half",
    "empty": "empty",
    "echo": "echo",
    "order in the answer": "order_in_answer",
    "order in a message": "order_in_message",
    "honest": "honest",
}
"""The name of a trick in the file → the end of its code, see ``evaluation/words.py``."""


class ProbeReply(TypedDict):
    """What a judge said of one probe, as ``Probing.results`` keeps it.

    ``problem`` says why there is no score.
    """

    id: str
    score: float | None
    reasoning: str
    problem: StoredFact | None


class MarkedProbe(TypedDict):
    """A probe with what the judge said of it, as a certificate keeps it."""

    id: str
    trick: str
    expected: str
    score: float | None
    said: str
    problem: StoredFact | None
    held: bool


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a decent judge may say: a bound, or a distance from the score of another probe."""

    at_least: float | None = None
    at_most: float | None = None
    within: float | None = None
    of: str = ""

    def __str__(self) -> str:
        if self.of:
            return f"{self.of} ± {self.within:g}"
        return f"≥ {self.at_least:g}" if self.at_least is not None else f"≤ {self.at_most:g}"

    def holds(self, score: float | None, scores: Mapping[str, float | None]) -> bool:
        """A judge that gave no score has failed the probe."""
        if score is None:
            return False
        if self.of:
            other = scores.get(self.of)
            return other is not None and abs(score - other) <= (self.within or 0.0)
        enough = self.at_least is None or score >= self.at_least
        return enough and (self.at_most is None or score <= self.at_most)


class ExpectedScore(TypedDict, total=False):
    """An :class:`Expectation`, as the file writes it."""

    at_least: float | None
    at_most: float | None
    within: float | None
    of: str


class ProbeMessage(TypedDict):
    id: int
    speaker: str
    time: str
    text: str


class TalkDocument(TypedDict):
    """A conversation of the file, about which several probes ask."""

    question: str
    reference: str
    messages: list[ProbeMessage]


class ProbeDocument(TypedDict):
    """A probe of the file; ``expect`` bounds the score of each kind of judgement."""

    id: str
    trick: str
    talk: str
    answer: str
    expect: dict[str, ExpectedScore]


class ProbeInputs(TypedDict):
    """What the judge is shown, as with any answer."""

    question: str
    messages: list[ProbeMessage]
    answer: str
    reference: str


@dataclass(frozen=True, slots=True)
class Probe:
    id: str
    trick: str
    question: str
    reference: str
    messages: tuple[ProbeMessage, ...]
    answer: str
    expectations: Mapping[str, Expectation]

    @property
    def inputs(self) -> ProbeInputs:
        return {
            "question": self.question,
            "messages": list(self.messages),
            "answer": self.answer,
            "reference": self.reference,
        }


@dataclass(frozen=True, slots=True)
class ProbeSet:
    """``version`` names the file and ends in its hash: no change of it can be overlooked."""

    version: str
    probes: tuple[Probe, ...]

    def of(self, kind: str) -> list[Probe]:
        return [probe for probe in self.probes if kind in probe.expectations]


@cache
def load() -> ProbeSet:
    import yaml

    raw = FILE.read_bytes()
    document = yaml.safe_load(raw)
    talks = document["talks"]
    version = f"{document['version']}-{hashlib.sha256(raw).hexdigest()[:8]}"
    return ProbeSet(
        version, tuple(_probe(probe, talks[probe["talk"]]) for probe in document["probes"])
    )


def _probe(document: ProbeDocument, talk: TalkDocument) -> Probe:
    return Probe(
        id=document["id"],
        trick=document["trick"],
        question=talk["question"],
        reference=talk["reference"],
        messages=tuple(talk["messages"]),
        answer=document["answer"],
        expectations={kind: Expectation(**bounds) for kind, bounds in document["expect"].items()},
    )


def marked(kind: str, replies: Mapping[str, ProbeReply]) -> list[MarkedProbe]:
    """Every probe of the kind with what the judge said of it, and whether that is as it must be.

    ``replies`` are by the id of the probe; a probe without one failed.
    """
    scores = {name: reply["score"] for name, reply in replies.items()}
    results: list[MarkedProbe] = []
    for probe in load().of(kind):
        expected = probe.expectations[kind]
        reply = replies.get(probe.id)
        score = reply["score"] if reply else None
        results.append(
            {
                "id": probe.id,
                "trick": probe.trick,
                "expected": str(expected),
                "score": score,
                "said": reply.get("reasoning", "") if reply else "",
                "problem": reply.get("problem") if reply else None,
                "held": expected.holds(score, scores),
            }
        )
    return results
