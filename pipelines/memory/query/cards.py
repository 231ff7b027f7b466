"""Q5: the phases as plain text that a person can read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pipelines.memory.query.phases import Phase
from pipelines.memory.query.talk import Talk

LINE_LENGTH = 160


def format_cards(talk: Talk, phases: Sequence[Phase]) -> str:
    """One card for each phase, with every message of its evidence."""
    return "\n\n".join(
        "\n".join(_card(talk, number, phase)) for number, phase in enumerate(phases, start=1)
    )


def _card(talk: Talk, number: int, phase: Phase) -> Iterable[str]:
    yield f"{number}. {phase.title}"
    if phase.summary:
        yield phase.summary
    for position in phase.evidence:
        message = talk.messages[position]
        text = " ".join(message.content.split())[:LINE_LENGTH]
        yield f"[{position + 1}] {message.speaker}: {text}"
