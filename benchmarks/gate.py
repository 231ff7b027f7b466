"""How often a team gets past the calibration gate by trying, by its true κ and the size of a round.

    .venv/bin/python benchmarks/gate.py [TEAMS]

Each person takes over a common judgment with the same probability, or else guesses at its rate, so
that the true κ of every pair is known. A team stops when full labeling opens. Agreement and gate
are the product's own. Printed is the share of teams that have a round with κ above the threshold
(before 28 November 2026 that opened it, of whatever size), and the share that opens it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from labeling.agreement.rules.agreement import agreement
from labeling.agreement.rules.calibration import evidence

MARKED = 0.25
"""The share of messages that people mark."""

MESSAGES = 8
TRIES = 5
TRUE = (0.60, 0.70, 0.75, 0.80, 0.85)


class Tried(NamedTuple):
    passed: bool
    opened: bool


def tried(true: float, *, conversations: int, people: int, rng: np.random.Generator) -> Tried:
    """Whether a team of this true κ has passed and opened the gate within five rounds."""
    passed = opened = False
    for _ in range(TRIES):
        figures = agreement(_answers(true, conversations, people, rng)).as_json()
        passed |= figures["passed"]
        opened |= figures["passed"] and evidence(figures).suffices
    return Tried(passed, opened)


def _answers(
    true: float, conversations: int, people: int, rng: np.random.Generator
) -> dict[str, dict[str, list[int]]]:
    size = (conversations, MESSAGES)
    common = rng.random(size) < MARKED
    return {
        f"person-{person}": {
            f"c-{at}": own.tolist()
            for at, own in enumerate(
                np.where(
                    rng.random(size) < np.sqrt(true), common, rng.random(size) < MARKED
                ).astype(int)
            )
        }
        for person in range(people)
    }


def main(teams: int) -> None:
    rng = np.random.default_rng(32)
    for people in (2, 3):
        for conversations in (1, 5, 10, 20):
            cells = []
            for true in TRUE:
                rows = [
                    tried(true, conversations=conversations, people=people, rng=rng)
                    for _ in range(teams)
                ]
                passed, opened = (sum(column) / teams for column in zip(*rows, strict=True))
                cells.append(f"κ {true:.2f}: {passed:4.0%} {opened:4.0%}")
            print(
                f"{people} people, {conversations:2} conversations  {'  '.join(cells)}", flush=True
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
