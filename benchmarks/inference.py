"""Do the intervals cover, and do the verdicts keep their word? By simulation with known truth.

    .venv/bin/python benchmarks/inference.py [--sets 1000] [--only TABLE]

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

from evaluation.metrics.comparison import compare, holm, level_for, verdict
from evaluation.metrics.gate import check_drift
from evaluation.metrics.judges import Requirements, disagreements, judge_agreement
from evaluation.metrics.metric import Metric, Share, Value
from evaluation.metrics.planning import spread_of_pair
from evaluation.metrics.summary import summarize
from labeling.agreement.rules.agreement import agreement
from labeling.domain.uncertainty import skill

Array = NDArray[np.float64]
CASES = 12
PREVALENCE, PREVALENCE_ICC = 0.3, 0.1
MAIN = tuple(Metric(name, 1, frozenset(), name, "") for name in ("f1", "recall", "precision"))
F1, RECALL = MAIN[:2]


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
        own = np.repeat(rates(random, mean, icc, conversations), weights)
        values = [Value(value) for value in random.binomial(1, own).astype(float).tolist()]
        clusters = np.repeat(np.arange(conversations), weights).tolist()
        summary = summarize(RECALL, values, clusters=clusters, failed=[False] * len(values))
        assert summary.ci_low is not None
        assert summary.ci_high is not None
        hits += summary.ci_low <= mean <= summary.ci_high
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
                first, second = two_raters(random, kappa, count)
                [pair] = agreement({"a": first, "b": second}).pairs
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
    """Two runs of the same pipeline; of its three main metrics the first is the mean of the others.

    The gate allows no drop at all here, so that only the verdict decides.
    """
    counts = (3, 4, 5, 7, 10, 18, 30, 200)
    tables = {
        "How often two runs of the same pipeline get a verdict *better* or *worse* by any of three "
        "main metrics, %": 0,
        "How often the gate finds a drift between them in any of three main metrics, %": 1,
    }
    cells = {
        (mean, icc, balanced): [
            called(sets, count, mean, icc, balanced=balanced) for count in counts
        ]
        for mean in (0.5, 0.8)
        for icc in (0.0, 0.3)
        for balanced in (True, False)
    }
    for title, which in tables.items():
        print(f"\n## {title}\n")
        head("rate", "correlation", "sizes", *counts)
        for (mean, icc, balanced), row in cells.items():
            shares = [marked(shares[which], (0.0, 0.06)) for shares in row]
            line(mean, icc, "equal" if balanced else "unequal", *shares)


def power(sets: int) -> None:
    """Scores between 0 and 1 as F1 has them; the gain differs between conversations or does not."""
    counts = (4, 7, 10, 30)
    print("\n## Power at the detectable effect that the product prints, %\n")
    head("spread of the gain", "sizes", "runs against the baseline", *counts)
    for spread in (0.0, 0.05):
        for balanced in (True, False):
            for runs in (1, 3):
                row = []
                for count in counts:
                    # What is printed depends on the spread seen: the mean of what is printed.
                    effect = gains(sets, count, spread, 0.0, balanced=balanced, runs=runs)[1]
                    found = gains(sets, count, spread, effect, balanced=balanced, runs=runs)[0]
                    row.append(f"{marked(found, (0.75, 0.85))} at {effect:.3f}")
                line(spread, "equal" if balanced else "unequal", runs, *row)


def gains(
    sets: int, conversations: int, spread: float, effect: float, *, balanced: bool, runs: int
) -> tuple[float, float]:
    """How often a run is called better than the baseline, and the mean detectable effect.

    The other runs against the same baseline are as good as it is, and are corrected together.
    """
    random = np.random.default_rng([conversations, int(spread * 100), balanced, runs])
    hits, effects = 0, []
    for _ in range(sets):
        weights = sizes(random, conversations, balanced=balanced)
        own = random.normal(0.4, 0.1, conversations)
        clusters = np.repeat(np.arange(conversations), weights).tolist()
        base = scores(random, own, weights)
        compared = []
        for gain in (effect, *[0.0] * (runs - 1)):
            shift = random.normal(gain, spread, conversations)
            after = scores(random, own + shift, weights)
            level = level_for(runs)
            compared.append(compare(base, after, clusters=clusters, metric=F1, level=level))
        corrected = holm([row.p_value for row in compared])
        hits += verdict(compared[0], F1, p_value=corrected[0]) == "better"
        plan = spread_of_pair(compared[0], conversations)
        assert plan is not None
        effects.append(plan.effect_with(conversations, tests=runs))
    return hits / sets, float(np.mean(effects))


def scores(random: np.random.Generator, means: Array, weights: NDArray[np.int64]) -> list[Share]:
    """A score of each case around the mean of its conversation."""
    values = np.repeat(means, weights) + random.normal(0, 0.2, int(weights.sum()))
    return [Share(value, 1.0) for value in values.tolist()]


def called(
    sets: int, conversations: int, mean: float, icc: float, *, balanced: bool
) -> tuple[float, float]:
    """How often equally good runs differ by the verdict of any main metric, and by the gate's."""
    random = np.random.default_rng([conversations, int(mean * 100), int(icc * 10), balanced])
    verdicts = drifts = 0
    for _ in range(sets):
        weights = sizes(random, conversations, balanced=balanced)
        own = np.repeat(rates(random, mean, icc, conversations), weights)
        clusters = np.repeat(np.arange(conversations), weights).tolist()
        before, after = (outcomes(random, own) for _ in range(2))
        rows = [
            (metric, compare(before[metric], after[metric], clusters=clusters, metric=metric))
            for metric in MAIN
        ]
        corrected = holm([row.p_value for _, row in rows])
        said = [
            (metric, row, verdict(row, metric, p_value=p_value))
            for (metric, row), p_value in zip(rows, corrected, strict=True)
        ]
        verdicts += any(what in ("better", "worse") for _, _, what in said)
        drifts += not all(check_drift(metric, row, what, 0.0).passed for metric, row, what in said)
    return verdicts / sets, drifts / sets


def outcomes(random: np.random.Generator, own: Array) -> dict[Metric, list[Share]]:
    """Recall and precision of each case, and their mean in the place of F1."""
    recall, precision = (random.binomial(1, own).astype(float) for _ in range(2))
    values = ((recall + precision) / 2, recall, precision)
    return {
        metric: [Share(value, 1.0) for value in row.tolist()]
        for metric, row in zip(MAIN, values, strict=True)
    }


def nothing_missed(sets: int) -> None:
    """A pipeline that fails wholly in a share of new conversations, and elsewhere is off by .01."""
    counts = (18, 60, 124, 125, 200)
    print("\n## How often that is called *no difference larger than .03*, %\n")
    head("fails in", *counts)
    for share in (0.0, 0.05, 0.1):
        row = []
        for count in counts:
            random = np.random.default_rng([count, int(100 * share)])
            hits = 0
            for _ in range(sets):
                before = random.normal(0.8, 0.1, count)
                noise = random.normal(0, 0.01, count)
                after = np.where(random.random(count) < share, 0.0, before + noise)
                tables = [[Share(value, 1.0) for value in of.tolist()] for of in (before, after)]
                result = compare(*tables, clusters=range(count), metric=F1)
                hits += verdict(result, F1, p_value=result.p_value) == "no_difference"
            row.append(marked(hits / sets, (0.0, 0.05) if share else (0.0, 1.0)))
        line(share, *row)


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


def skill_coverage(sets: int) -> None:
    """A run 40 % of the way from a floor of .2 to people at .7, with 1 to 3 cases each."""
    print("\n## Share of data sets whose interval holds the true skill, %\n")
    head("conversations", "covered", "undefined")
    for count in (5, 10, 18, 40):
        random = np.random.default_rng(count)
        seen = [skill(*three_systems(random, count)) for _ in range(sets)]
        ends = [(each.low, each.high) for each in seen if each is not None]
        held = sum(low <= 0.4 <= high for low, high in ends if low is not None and high is not None)
        within = (0.92, 0.98) if count < 7 else (0.93, 0.97)
        undefined = f"{100 * (1 - len(ends) / sets):.1f}"
        line(count, marked(held / len(ends), within), undefined)


def three_systems(random: np.random.Generator, conversations: int) -> list[Array]:
    """Sums and numbers of cases of run, floor and people, who find the same conversations hard."""
    size = random.integers(1, 4, conversations)
    hard = random.normal(0, 0.08, conversations)
    tables = []
    for mean in (0.4, 0.2, 0.7):
        sums = [
            np.clip(random.normal(mean + own, 0.2, cases), 0, 1).sum()
            for own, cases in zip(hard, size, strict=True)
        ]
        tables.append(np.column_stack([sums, size]).astype(float))
    return tables


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
    "missed": nothing_missed,
    "judges": judges,
    "skill": skill_coverage,
}

if __name__ == "__main__":
    main()
