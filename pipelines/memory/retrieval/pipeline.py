"""``retrieval``: a ranking method alone, with its first messages as the answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np

from labeling.domain.encoding import network
from pipelines.fingerprint import fingerprint
from pipelines.memory.retrieval.floors import BudgetConfig, answer_of, by_words
from pipelines.memory.retrieval.index import Index
from pipelines.trained_on import SOURCES
from pipelines.types import Case, Config, Output, setting

METHODS = {"semantic": "dense", "hybrid": "fusion", "late": "late", "learned": "learned"}
"""Mode → what the index calls it; ``lexical`` needs no index."""
RANKED = 200
FOLDER = Path(__file__).parent.parent
"""Days, times and floors are read by modules outside this package, which affect results, too."""


class RetrievalConfig(BudgetConfig):
    mode: Literal["lexical", "semantic", "hybrid", "late", "learned"] = setting(
        "hybrid", "How messages are ranked."
    )


class Retrieval:
    name = "retrieval"

    def __init__(self, config: RetrievalConfig, open_index: Callable[[Case], Index]) -> None:
        self.config: Config = config.model_dump(mode="json")
        self._mode, self._budget = config.mode, config.budget
        self._open_index = open_index

    @property
    def version(self) -> str:
        return f"1+{fingerprint(FOLDER, network.SOURCE, *SOURCES)}"

    def prepare(self, case: Case) -> None:
        if self._mode in METHODS:
            self._open_index(case)

    def run(self, case: Case) -> Output:
        if self._mode in METHODS:
            ranking = self._open_index(case).rank_by(METHODS[self._mode], case.question or "")
            order, scores = list(ranking.indexes), list(ranking.scores)
        else:
            every = by_words(case)
            order = np.argsort(-every, kind="stable").tolist()
            scores = every[order].tolist()
        most = max(RANKED, self._budget)
        return answer_of(order[: self._budget], ranked=order[:most], scores=scores[:most])
