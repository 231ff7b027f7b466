"""Floors of ``qa`` and ``arc``: the results of systems that don't understand the question."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from pipelines.fingerprint import fingerprint
from pipelines.memory.retrieval import lexical, question, speakers
from pipelines.memory.retrieval.lexical import Lexical
from pipelines.types import Case, Config, Output, setting

TASKS = ("qa", "arc")
BUDGET = 8


class BudgetConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    budget: int = setting(
        BUDGET, "How many messages are returned for a question.", least=1, most=500
    )


class RandomConfig(BudgetConfig):
    seed: int = setting(0, "Another seed draws other messages.", least=0, most=2**31)


class Random:
    """Draws messages at random; the same repetition of a case always draws the same ones."""

    name = "random"
    version = "2"

    def __init__(self, config: RandomConfig) -> None:
        self._budget, self._seed = config.budget, config.seed
        self.config: Config = config.model_dump(mode="json")

    def run(self, case: Case) -> Output:
        lot = f"{self._seed}\0{case.case_id}\0{case.question}"
        if case.repetition > 1:
            lot += f"\0{case.repetition}"
        digest = hashlib.sha256(lot.encode("utf-8", "replace")).digest()
        seed = int.from_bytes(digest[:8], "big")
        order = np.random.default_rng(seed).permutation(len(case.messages))
        ranked = [int(at) for at in order]
        return answer_of(ranked[: self._budget], ranked=ranked)


class LexicalFloor:
    """The messages that share most words with the question, by BM25 over stems."""

    name = "lexical"

    def __init__(self, config: BudgetConfig) -> None:
        self._budget = config.budget
        self.config: Config = config.model_dump(mode="json")

    @property
    def version(self) -> str:
        return f"1+{fingerprint(Path(__file__).parent.parent)}"

    def run(self, case: Case) -> Output:
        scores = by_words(case)
        ranked = [int(at) for at in np.argsort(-scores, kind="stable")]
        return answer_of([at for at in ranked if scores[at] > 0][: self._budget], ranked=ranked)


def by_words(case: Case) -> NDArray[np.float64]:
    """BM25 of every message."""
    people = speakers.learn(case.messages)
    asked = question.read(case.question or "", people, span=None)
    stems = lexical.stems_of(lexical.texts_of(case.messages), people)
    return Lexical(stems).score(asked.stems) if stems else np.zeros(0)


def answer_of(
    chosen: Sequence[int], *, ranked: Sequence[int], scores: Sequence[float] | None = None
) -> Output:
    """An answer of one phase with 0-based positions; outputs count messages from 1."""
    known = list(scores) if scores is not None else None
    ids, order = [at + 1 for at in chosen], [at + 1 for at in ranked]
    return {
        "evidence": ids,
        "ranked": order,
        "phases": [{"title": "Found", "evidence": ids}] if ids else [],
        "answer": None,
        "model": None,
        "trace": {
            "candidates": {"ids": order, "scores": known},
            "selected": {"ids": ids, "scores": known and known[: len(ids)]},
            "corpus_size": len(order),
        },
        "mode": "oneshot",
        "steps": [],
    }


def all_of(case: Case) -> Output:
    everyone = range(len(case.messages))
    return answer_of(everyone, ranked=everyone)


def none_of(case: Case) -> Output:
    """Doesn't rank either: returns every message in a meaningless order."""
    return answer_of([], ranked=[])
