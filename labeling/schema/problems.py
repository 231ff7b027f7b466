from typing import NamedTuple, TypedDict

from labeling.domain.facts import Fact, StoredFact


class ProblemRow(TypedDict):
    path: str
    message: StoredFact


class Problem(NamedTuple):
    """What is wrong with a payload, and where: ``requirements.0.title``."""

    path: str
    fact: Fact

    def as_json(self) -> ProblemRow:
        return {"path": self.path, "message": self.fact.as_json()}
