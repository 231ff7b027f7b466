"""Do the intervals cover, and do the verdicts keep their word? By simulation with known truth.

    .venv/bin/python benchmarks/inference.py [--sets 1000] [--only ratio|kappa|alarms|power|judges]

Uses the functions that the product uses. Each cell draws that many data sets: conversations whose
own rates differ (intra-class correlation 0 or 0.3), of 12 cases each or of very unequal sizes.
Prints Markdown tables; a cell outside of its limits is marked with an exclamation mark.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evaluation.metrics.judges import Requirements, disagreements, judge_agreement
from labeling.domain.agreement.agreement import pair_agreement
from labeling.domain.uncertainty import detectable, difference, ratio

Array = NDArray[np.float64]
CASES = 12
PREVALENCE, PREVALENCE_ICC = 0.3, 0.1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, help="data sets a cell (default: 1000; of judges 300)")
    parser.add_argument("--only", choices=list(TABLES), help="one of the tables")
    options = parser.parse_args()
    for name, table in TABLES.items():
        if options.only in (None, name):
            table(options.sets or (300 if name == "judges" else 1000))


def sizes(random: np.random.Generator, conversations: int, *, balanced: bool) -> NDArray[np.int64]:
    if balanced:
        return np.full(conversations, CASES)
    drawn = CASES * random.lognormal(-0.32, 0.8, conversations)  # mean 12, some of 1, some of 60
    return np.maximum(1, np.round(drawn)).astype(np.int64)


def rates(
    random: np.random.Generator, mean: float, icc: float, conversations: int
) -> NDArray[np.float64]:
    if not icc:
        return np.full(conversations, mean)
    weight = 1 / icc - 1
    return random.beta(mean * weight, (1 - mean) * weight, conversations)


def ratio_coverage(sets: int) -> None:
    counts = (3, 5, 7, 10, 30, 200)
    print("\n## Coverage of the 95 % interval of a mean, %\n")
    head("rate", "correlation", "sizes", *counts)
    for mean in (0.55, 0.8, 0.03, 0.97):
        for icc in (0.0, 0.3):
            for balanced in (True, False):
                row = [
                    covered(sets, count, mean, icc, balanced=balanced, limits=limits(mean, count))
                    for count in counts
                ]
                line(mean, icc, "equal" if balanced else "unequal", *row)


def limits(mean: float, conversations: int) -> tuple[float, float]:
    if mean < 0.05 or mean > 0.95:
        return (0.89 if conversations == 3 else 0.91), 0.98
    return (0.92, 0.98) if conversations < 7 else (0.93, 0.97)


def covered(
    sets: int,
    conversations: int,
    mean: float,
    icc: float,
    *,
    balanced: bool,
    limits: tuple[float, float],
) -> str:
    random = np.random.default_rng([conversations, int(mean * 100), int(icc * 10), balanced])
    hits = 0
    for _ in range(sets):
        weights = sizes(random, conversations, balanced=balanced)
        found = random.binomial(weights, rates(random, mean, icc, conversations))
        estimate = ratio(np.column_stack([found, weights]).astype(float))
        assert estimate is not None
        assert estimate.low is not None
        assert estimate.high is not None
        hits += estimate.low <= mean <= estimate.high
    return marked(hits / sets, limits)


def kappa_coverage(sets: int) -> None:
    counts = (8, 20, 60)
    print("\n## Coverage of the 95 % interval of κ, %\n")
    head("κ", *counts)
    for kappa in (0.4, 0.75, 0.9):
        row = []
        for count in counts:
            random = np.random.default_rng([count, int(kappa * 100)])
            hits = 0
            for _ in range(sets):
                pair = pair_agreement("a", "b", *two_raters(random, kappa, count))
                assert pair.ci_low is not None
                assert pair.ci_high is not None
                assert pair.ci_low < pair.ci_high
                hits += pair.ci_low <= kappa <= pair.ci_high
            row.append(marked(hits / sets, (0.92, 0.98)))
        line(kappa, *row)


def two_raters(
    random: np.random.Generator, kappa: float, conversations: int
) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Labels of two people who share a unit's label with a chance that gives this pooled κ."""
    shared = (kappa - PREVALENCE_ICC) / (1 - PREVALENCE_ICC)
    chances = rates(random, PREVALENCE, PREVALENCE_ICC, conversations)
    first, second = {}, {}
    for number, chance in enumerate(chances):
        same = random.random(CASES) < shared
        own = random.random(CASES) < chance
        other = np.where(same, own, random.random(CASES) < chance)
        first[str(number)] = own.astype(int).tolist()
        second[str(number)] = other.astype(int).tolist()
    return first, second


def alarms(sets: int) -> None:
    counts = (3, 4, 5, 7, 10, 18, 30, 200)
    print("\n## How often two runs of the same pipeline are called different, %\n")
    head("rate", "correlation", "sizes", *counts)
    for mean in (0.5, 0.8):
        for icc in (0.0, 0.3):
            for balanced in (True, False):
                row = [
                    marked(called(sets, count, mean, icc, balanced=balanced), (0.0, 0.06))
                    for count in counts
                ]
                line(mean, icc, "equal" if balanced else "unequal", *row)


def power(sets: int) -> None:
    """Scores between 0 and 1 as F1 has them; the gain differs between conversations or does not."""
    counts = (4, 7, 10, 30)
    print("\n## Power at the detectable effect that the product prints, %\n")
    head("spread of the gain", "sizes", *counts)
    for spread in (0.0, 0.05):
        for balanced in (True, False):
            row = []
            for count in counts:
                # What is printed depends on the spread seen: the mean of what is printed.
                effect = gains(sets, count, spread, 0.0, balanced=balanced)[1]
                found = gains(sets, count, spread, effect, balanced=balanced)[0]
                row.append(f"{marked(found, (0.75, 0.85))} at {effect:.3f}")
            line(spread, "equal" if balanced else "unequal", *row)


def gains(
    sets: int, conversations: int, spread: float, effect: float, *, balanced: bool
) -> tuple[float, float]:
    """The share of significant gains in a score per case, and the mean detectable effect."""
    random = np.random.default_rng([conversations, int(spread * 100), balanced])
    hits, effects = 0, []
    for _ in range(sets):
        weights = sizes(random, conversations, balanced=balanced)
        own = random.normal(0.4, 0.1, conversations)
        shift = random.normal(effect, spread, conversations)
        noise = [random.normal(0, 0.2 * np.sqrt(weights)) for _ in range(2)]
        before = np.column_stack([own * weights + noise[0], weights])
        after = np.column_stack([(own + shift) * weights + noise[1], weights])
        paired = difference(before, after)
        assert paired is not None
        hits += paired.p_value is not None and paired.p_value < 0.05
        if paired.std_error is not None and paired.df is not None:
            effects.append(detectable(paired.std_error, paired.df))
    return hits / sets, float(np.mean(effects))


def called(sets: int, conversations: int, mean: float, icc: float, *, balanced: bool) -> float:
    """The share of significant differences between two runs that are equally good."""
    random = np.random.default_rng([conversations, int(mean * 100), int(icc * 10), balanced])
    hits = 0
    for _ in range(sets):
        weights = sizes(random, conversations, balanced=balanced)
        own = rates(random, mean, icc, conversations)
        before, after = (
            np.column_stack([random.binomial(weights, own), weights]).astype(float)
            for _ in range(2)
        )
        paired = difference(before, after)
        assert paired is not None
        hits += paired.p_value is not None and paired.p_value < 0.05
    return hits / sets


def judges(sets: int) -> None:
    """How often a judge is certified that is level with people, or that many points off."""
    sizes_of = ((5, 6), (10, 6), (20, 3), (10, 10), (20, 5))
    print("\n## How often a judge gets its certificate for its first sample, %\n")
    names = [f"{count} × {size}" for count, size in sizes_of]
    head("judge − people", "spread", "κ", *names)
    for off, spread in ((0.0, 0.7), (0.0, 1.0), (0.25, 1.0), (0.5, 1.0), (1.0, 0.7), (1.0, 1.0)):
        limit = (0.0, 0.05) if off >= 1 else (0.0, 1.0)
        row, kappa = [], 0.0
        for count, size in sizes_of:
            share, kappa = certified(sets, count, size, off, spread)
            row.append(marked(share, limit))
        line(f"{off:+.2f}", spread, f"{kappa:.2f}", *row)


def certified(
    sets: int, conversations: int, size: int, off: float, spread: float
) -> tuple[float, float]:
    """People rate in whole points; how far a judge is from them differs between conversations."""
    random = np.random.default_rng([conversations, size, int(100 * off), int(10 * spread)])
    hits, values = 0, []
    for _ in range(sets):
        pairs = {}
        for name in range(conversations):
            worth = random.normal(random.normal(5.5, 1), 2, size)
            people = np.clip(np.round(worth + random.normal(0, 0.5, size)), 0, 10)
            noise = random.normal(off + random.normal(0, spread / 3), spread, size)
            judge = np.clip(np.round(people + noise), 0, 10)
            pairs[str(name)] = list(zip(judge.tolist(), people.tolist(), strict=True))
        agreement = judge_agreement(pairs)
        hits += not list(disagreements(agreement, 0, Requirements()))
        values.append(agreement.kappa or 0.0)
    return hits / sets, float(np.mean(values))


def marked(share: float, limits: tuple[float, float]) -> str:
    low, high = limits
    return f"{100 * share:.1f}" + ("" if low <= round(share, 3) <= high else " !")


def head(*names: object) -> None:
    line(*names)
    line(*["---"] * len(names))


def line(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


TABLES: dict[str, Callable[[int], None]] = {
    "ratio": ratio_coverage,
    "kappa": kappa_coverage,
    "alarms": alarms,
    "power": power,
    "judges": judges,
}

if __name__ == "__main__":
    main()
