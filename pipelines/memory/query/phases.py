"""Q4 and Q5: phases with their evidence, and the phases as text that a person can read.

A plain answer is one phase; a story has several.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NotRequired, TypedDict

from pipelines.memory.talks import Talk, local_ids
from pipelines.memory.times import seconds_between

TITLE_LENGTH = 80
LINE_LENGTH = 160
MOST_PHASES = 6
LEAST_GAP_HOURS = 12.0
"""Two phases of a story are at least half a day apart."""


class PhaseRow(TypedDict):
    """A phase of an output; ids count from 1."""

    title: str
    evidence: list[int]
    time_range: NotRequired[list[str]]
    summary: NotRequired[str]


@dataclass(frozen=True, slots=True)
class Phase:
    title: str
    evidence: tuple[int, ...]
    """Message positions in time order."""
    summary: str = ""

    def as_json(self, talk: Talk) -> PhaseRow:
        row: PhaseRow = {"title": self.title, "evidence": local_ids(self.evidence)}
        times = [time for at in self.evidence if (time := talk.messages[at].time)]
        if times:
            row["time_range"] = [min(times), max(times)]
        if self.summary:
            row["summary"] = self.summary
        return row


def one_phase(question: str, chosen: Sequence[int]) -> list[Phase]:
    return [Phase(question.strip()[:TITLE_LENGTH], tuple(sorted(chosen)))] if chosen else []


def story_phases(
    talk: Talk, chances: Mapping[int, float], chosen: Sequence[int], *, least: int
) -> list[Phase]:
    """Cut at the longest pauses between the chosen messages, then fill up thin phases."""
    groups = _cut(talk, sorted(chosen))
    filled = [_filled(group, chances, least=least) for group in groups]
    return [Phase(_title(talk, group, chances), tuple(group)) for group in _without_shared(filled)]


def _cut(talk: Talk, positions: list[int]) -> list[list[int]]:
    """At most ``MOST_PHASES`` groups, cut where most time passes."""
    gaps = [
        (_hours(talk, before, after), at)
        for at, (before, after) in enumerate(pairwise(positions), start=1)
    ]
    wide = [gap for gap in gaps if gap[0] >= LEAST_GAP_HOURS]
    cuts = sorted(at for _, at in sorted(wide, reverse=True)[: MOST_PHASES - 1])
    edges = [0, *cuts, len(positions)]
    return [positions[start:end] for start, end in pairwise(edges) if end > start]


def _hours(talk: Talk, before: int, after: int) -> float:
    """Between two messages; without times, ten messages count as an hour."""
    passed = seconds_between(talk.messages[before], talk.messages[after])
    return (after - before) / 10 if passed is None else passed / 3600


def _filled(group: list[int], chances: Mapping[int, float], *, least: int) -> list[int]:
    """A thin phase takes the most likely messages around those it has."""
    around = {near for at in group for near in range(at - 3, at + 4)} - set(group)
    known = sorted((near for near in around if near in chances), key=lambda near: -chances[near])
    return sorted([*group, *known[: max(0, least - len(group))]])


def _without_shared(groups: list[list[int]]) -> list[list[int]]:
    """A message belongs to the first phase that has it."""
    seen: set[int] = set()
    result = []
    for group in groups:
        own = [at for at in group if at not in seen]
        seen.update(own)
        result.append(own)
    return [group for group in result if group]


def _title(talk: Talk, group: list[int], chances: Mapping[int, float]) -> str:
    best = max(group, key=lambda at: chances.get(at, 0.0))
    topics = (node.topic_name for node in talk.topics if best + 1 in node.all_message_ids)
    return next(topics, " ".join(talk.messages[best].content.split()))[:TITLE_LENGTH]


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
