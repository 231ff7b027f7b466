from typing import Any, NamedTuple

from labeling.domain.facts import Fact


class Problem(NamedTuple):
    """What is wrong with a payload, and where: ``requirements.0.title``."""

    path: str
    fact: Fact

    def as_json(self) -> dict[str, Any]:
        return {"path": self.path, "message": self.fact.as_json()}
