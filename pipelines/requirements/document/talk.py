"""What became of a talk besides its requirements: what was refused or taken back in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pipelines.requirements.extraction import nodes
from pipelines.requirements.extraction.state import Commitment, ExtractionState, Utterance
from pipelines.types import Case, Message


@dataclass(frozen=True, slots=True)
class Talk:
    said: tuple[Utterance, ...]
    commitments: tuple[Commitment, ...]

    @property
    def ended(self) -> list[Commitment]:
        """Wishes and proposals that the client refused or took back."""
        return [each for each in self.commitments if each.state in ("refused", "withdrawn")]


def of(case: Case) -> Talk:
    return _read(case.domain, case.messages)


@lru_cache(maxsize=4)
def _read(domain: str, messages: tuple[Message, ...]) -> Talk:
    """Kept for a while: inference, document and page each ask for it."""
    state: ExtractionState = {"case": Case("", domain, messages)}
    state.update(nodes.read_talk(state))
    state.update(nodes.settle(state))
    return Talk(tuple(state["sentences"]), tuple(state["commitments"]))
