"""What making synthetic conversations and making questions about stored ones have in common."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from labeling.domain.facts import Fact
from labeling.exchange.gold_imports import Imported, Source
from labeling.gold.rules.content import LabelOrigin
from labeling.schema.labels import StoredLabel
from pipelines.llm import NO_USAGE, ModelError, Usage

MADE_HOW = "generated"

Progress = Callable[[int], None]
T = TypeVar("T")


@dataclass(slots=True)
class Generated(Generic[T]):
    """What verified, and what was thrown out for which reasons."""

    generator: str
    accepted: list[T] = field(default_factory=list)
    rejected: Counter[Fact] = field(default_factory=Counter)
    n_rejected: int = 0
    usage: Usage = NO_USAGE
    stopped: Fact | None = None
    """Why there are fewer than was asked for."""

    def take(self, sample: T, problems: list[Fact]) -> None:
        if problems:
            self.drop(problems)
        else:
            self.accepted.append(sample)

    def drop(self, problems: list[Fact]) -> None:
        self.n_rejected += 1
        self.rejected.update(problems)

    def source(self) -> Source:
        sha256 = hashlib.sha256(self.generator.encode()).hexdigest()
        return Source(self.generator, sha256, MADE_HOW)


def imported(name: str, source: Source, key: str, labels: list[StoredLabel]) -> Imported:
    origins: dict[str, LabelOrigin] = {
        str(label["uid"]): {"how": MADE_HOW, "by": []} for label in labels
    }
    return Imported(name, source, {key: labels}, origins)


def unusable(error: ModelError) -> Fact:
    """Without what the server said, so that equal failures are counted together."""
    return Fact("sample.unusable_reply", code=error.code)
