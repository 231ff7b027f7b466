"""Do the annotators agree? One kappa per pair, and the gate that depends on it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from math import fsum
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from labeling.agreement.rules.intervals import (
    Coefficient,
    Outlook,
    Prospects,
    coefficient,
    mean_of,
    prospects,
)
from labeling.agreement.rules.kappa import (
    Level,
    ac1s,
    alpha_of,
    band,
    defined,
    fleiss_of,
    kappas,
    overall_sums,
    weights_of,
)
from labeling.agreement.rules.ratings import Grid, Ratings, grid, tallied
from labeling.domain.facts import Fact
from labeling.domain.stored import Stored, as_json, read

Array = NDArray[np.float64]
Statistic = Literal["min", "mean"]
Measure = Literal["kappa", "f1"]
Outcome = Literal["passed", "failed", "not_measured"]
Interval = tuple[float, float]

NOTHING_IN_COMMON = Fact("agreement.nothing_in_common")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """How far two annotators agree, over the units of all conversations both submitted.

    ``kappa`` is ``None`` exactly when ``undefined`` says why. The 95 % interval is for new
    conversations (:mod:`~labeling.agreement.rules.intervals`); it is ``None`` with fewer than
    two of them. ``intervals`` has those of ``ac1`` and ``positive_f1``. ``positive_f1``,
    ``prevalence`` (mean share of 1) and ``bias`` (share of 1 by ``a`` minus by ``b``) need labels
    of 0 and 1. ``chance_above`` is how probable it is that the pair's true figure is above the
    threshold; ``None`` without an interval, and in figures from before it was measured.
    """

    a: str
    b: str
    kappa: float | None = None
    band: str | None = None
    n: Annotated[int, "Units that both judged"]
    raw: float | None = None
    positive_f1: float | None
    ac1: float | None = None
    ci_low: float | None
    ci_high: float | None
    undefined: Annotated[Fact | None, "Why there is no κ"]
    conversations: int
    prevalence: float | None = None
    bias: float | None = None
    chance_above: float | None = None
    intervals: dict[str, Interval] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Excluded:
    """One annotator's answer to one conversation, which counts in no figure, and why."""

    conversation: str
    annotator: str
    reason: Fact


@dataclass(frozen=True, slots=True)
class ContentAgreement:
    """The F1 of matched labels, pooled over conversations: of the lowest pair, or the mean.

    It passes when it reaches ``threshold``, or if that is 0. ``low`` to ``high`` is its 95 %
    interval, and ``chance_above`` how probable it is that the true figure is above the threshold.
    ``reason`` says why it did not pass.
    """

    value: Annotated[float | None, "F1 of matched labels"]
    threshold: Annotated[float, "0: turned off"]
    passed: bool
    low: float | None = None
    high: float | None = None
    chance_above: float | None = None
    reason: Annotated[Fact | None, "Why it did not pass"] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The agreement of a round: the gate's figure, every pair behind it, and all together.

    ``measure`` is the figure of a pair that the gate looks at: κ, or F1 where there are no
    units (:mod:`~labeling.agreement.rules.records`). ``reasons`` says for each figure without a
    value why it has none. ``excluded`` lists the answers that count in no figure.
    ``by_origin`` has the same figures for the ``typed`` labels alone, where annotators have seen
    suggestions.

    ``chance_above`` is how probable it is that the true figure of the gate is above the threshold,
    and ``outlook`` what would pass of rounds of this size. ``intervals`` has those of ``value``,
    of ``mean`` (of the pairs), ``fleiss_kappa`` and ``krippendorff_alpha``. ``ordinal``: labels are
    scores, whose disagreement counts by their distance in every κ and in α.

    ``content`` is what the gate says of the labels themselves, where people's labels are compared
    as records. ``outcome`` is ``not_measured`` where nobody used the layer, which says nothing for
    or against the annotators; else it says whether the gate passed.
    """

    statistic: Statistic
    value: float | None
    threshold: float
    passed: bool
    pairs: list[PairAgreement]
    fleiss_kappa: float | None = None
    krippendorff_alpha: float | None = None
    reasons: dict[str, Fact] = field(default_factory=dict)
    excluded: list[Excluded] = field(default_factory=list)
    measure: Annotated[Measure, "kappa, or f1 for events"] = "kappa"
    by_origin: dict[str, Stored] = field(default_factory=dict)
    chance_above: float | None = None
    outlook: list[Outlook] = field(default_factory=list)
    intervals: dict[str, Interval] = field(default_factory=dict)
    ordinal: bool = False
    outcome: Annotated[Outcome, "not_measured: nobody used the layer"] = "failed"
    content: ContentAgreement | None = None

    @property
    def interval(self) -> Interval | None:
        """Of the gate's figure; in figures from before it was stored, that of the lowest pair."""
        pairs = [pair for pair in self.pairs if pair.kappa is not None]
        if "value" in self.intervals or self.statistic != "min" or self.value is None or not pairs:
            return self.intervals.get("value")
        lowest = min(pairs, key=lambda pair: pair.kappa or 0.0)
        if lowest.ci_low is None or lowest.ci_high is None:
            return None
        return lowest.ci_low, lowest.ci_high

    @property
    def clears(self) -> bool:
        """By κ alone, whatever the labels say."""
        return self.value is not None and self.value > self.threshold

    @property
    def marked(self) -> float | None:
        """The share of units that people mark."""
        shares = [pair.prevalence for pair in self.pairs if pair.prevalence is not None]
        return fsum(shares) / len(shares) if shares else None

    def as_json(self) -> Stored:
        """Plain JSON, as it is stored; ``worded`` of it is what commands and the API print."""
        return as_json(self)


def read_agreement(figures: Stored) -> Agreement:
    """What :meth:`Agreement.as_json` wrote, also from before there were outcomes."""
    return read(Agreement, {**figures, "outcome": outcome_of(figures)})


def outcome_of(figures: Stored) -> Outcome:
    """Of figures from before there were states, too."""
    outcome: Outcome | None = figures.get("outcome")
    return outcome or ("passed" if figures["passed"] else "failed")


def agreement(
    ratings: Mapping[str, Ratings],
    *,
    threshold: float = 0.75,
    statistic: Statistic = "min",
    level: Level = "nominal",
    excluded: Mapping[str, Mapping[str, Fact]] | None = None,
) -> Agreement:
    """Agreement of all annotators, pair by pair and together, and whether it passes the gate.

    Parameters
    ----------
    ratings
        By annotator and conversation, the labels of the units in order. Only what was
        submitted belongs here; "nothing here" is all zeros.
    threshold
        The gate passes when the statistic is *strictly* greater.
    statistic
        ``min`` or ``mean`` (Light's kappa) over the pairs. One pair without a kappa
        leaves both without a value, and what has no value does not pass.
    level
        How far two labels that differ are apart; other than ``nominal``, labels are numbers.
    excluded
        By annotator and conversation, why something was skipped or is unfinished.
        It is listed in the result; it never enters a figure.

    Raises
    ------
    ValueError
        If two annotators give a conversation different numbers of units.

    References
    ----------
    R. J. Light, "Measures of response agreement for qualitative data", Psychological
    Bulletin 76, 1971, doi:10.1037/h0031643.

    Examples
    --------
    >>> result = agreement({"ana": {"c1": [1, 1, 0, 1, 0, 1, 1, 0]},
    ...                     "ben": {"c1": [1, 1, 0, 1, 1, 1, 0, 0]}})
    >>> round(result.value, 4), result.pairs[0].band, result.passed
    (0.4667, 'moderate', False)
    """
    if statistic not in ("min", "mean"):
        raise ValueError(f"agreement: statistic must be min or mean, got {statistic!r}")
    units = grid(ratings)
    weights = weights_of(level, units.labels)
    everyone = range(len(units.annotators))
    measured = [_pair(units, a, b, threshold, weights) for a, b in combinations(everyone, 2)]
    overall, intervals = _overall(units, weights)
    why = _why_no_overall(units.counts()) if overall["fleiss_kappa"] is None else None
    return judged(
        measured,
        threshold=threshold,
        statistic=statistic,
        reasons={"fleiss_kappa": why, "krippendorff_alpha": why} if why else {},
        excluded=excluded_samples(ratings, excluded or {}),
        intervals=intervals,
        ordinal=level != "nominal",
        fleiss_kappa=overall["fleiss_kappa"],
        krippendorff_alpha=overall["krippendorff_alpha"],
    )


def without_use(figures: Agreement) -> Agreement:
    """Of a layer on which nobody has a label: there is nothing to measure agreement by."""
    return replace(
        figures,
        value=None,
        passed=False,
        outcome="not_measured",
        reasons=figures.reasons | {"value": Fact("agreement.layer_not_used")},
    )


def _pair(
    units: Grid, a: int, b: int, threshold: float, weights: Array | None
) -> tuple[PairAgreement, Coefficient | None]:
    crossed = units.crossed(a, b)
    tables = np.concatenate([crossed.sum(axis=0)[None], crossed.sum(axis=0) - crossed])
    tallies = tallied(tables)  # of all conversations, then without each of them
    weighted = tallies if weights is None else tallied(tables, weights)
    sizes = crossed.sum(axis=-1).sum(axis=-1)
    shared, size = len(units.shared(a, b)), int(sizes.sum())
    values = kappas(weighted, weights)
    spread = _spread(values, sizes, _by_chance(tallies[0]))
    total = tallies[0]
    positive = total[:, 1] if units.is_binary and size else None
    ac1 = ac1s(tallies)
    others = {"ac1": _spread(ac1, sizes, _by_chance_ac1(total))}
    if positive is not None:
        marked = crossed[:, :, 1].sum(axis=1) + crossed[:, 1, :].sum(axis=1)
        others["positive_f1"] = _spread(_positive_f1s(tallies[:, :, 1]), marked / 2, 0.0, lower=0.0)
    low, high = (spread and spread.interval) or (None, None)
    kappa = defined(values[0])
    pair = PairAgreement(
        a=units.annotators[a],
        b=units.annotators[b],
        kappa=kappa,
        band=band(kappa),
        n=size,
        raw=float(total[0].sum()) / size if size else None,
        positive_f1=None if positive is None else defined(_positive_f1s(positive)),
        ac1=defined(ac1[0]),
        ci_low=low,
        ci_high=high,
        undefined=_why_no_kappa(shared, size) if kappa is None else None,
        conversations=shared,
        prevalence=float(positive[1] + positive[2]) / (2 * size) if positive is not None else None,
        bias=float(positive[1] - positive[2]) / size if positive is not None else None,
        chance_above=spread.chance_above(threshold) if spread else None,
        intervals=intervals_of(others),
    )
    return pair, spread


def _spread(
    values: Array, sizes: Array, by_chance: float, *, lower: float = -1.0
) -> Coefficient | None:
    """Of a figure and of the same without each conversation; None where it is undefined."""
    value = defined(values[0])
    if value is None or by_chance >= 1:
        return None
    return coefficient(value, values[1:], sizes, by_chance=by_chance, lower=lower)


def intervals_of(figures: Mapping[str, Coefficient | None]) -> dict[str, Interval]:
    return {name: figure.interval for name, figure in figures.items() if figure and figure.interval}


def _by_chance(total: Array) -> float:
    """The share of units on which people with these rates agree by chance."""
    size = float(total[1].sum())
    return float(total[1] @ total[2]) / size**2 if size else 0.0


def _by_chance_ac1(total: Array) -> float:
    size = float(total[1].sum())
    if not size:
        return 0.0
    shares = (total[1] + total[2]) / (2 * size)
    used = int(np.count_nonzero(shares))
    return float((shares * (1 - shares)).sum()) / (max(used, 2) - 1)


def _overall(
    units: Grid, weights: Array | None
) -> tuple[dict[str, float | None], dict[str, Interval]]:
    """Fleiss' κ and α, and their intervals."""
    rows = units.summed(partial(overall_sums, weights=weights))
    total = rows.sum(axis=0)
    shares = total[3 : 3 + len(units.labels)] / max(total[2], 1.0)
    by_chance = float((shares**2).sum()) if total[2] else 0.0
    sums = _without_each(rows)
    figures = {
        "fleiss_kappa": fleiss_of(sums, weights),
        "krippendorff_alpha": alpha_of(sums, weights),
    }
    return (
        {name: defined(values[0]) for name, values in figures.items()},
        intervals_of(
            {name: _spread(values, rows[:, 2], by_chance) for name, values in figures.items()}
        ),
    )


def _without_each(rows: Array) -> Array:
    """The sum of all rows, then the same without each of them."""
    total = rows.sum(axis=0)
    return np.concatenate([total[None], total - rows])


def _positive_f1s(positive: Array) -> Array:
    """2·both/(all marked by each) of the columns of 1 of tallies; NaN where nobody marked."""
    both, first, second = np.moveaxis(positive, -1, 0)
    marked = first + second
    undefined = np.full(np.shape(marked), np.nan)
    return np.asarray(np.divide(2 * both, marked, out=undefined, where=marked > 0))


def _why_no_kappa(shared: int, size: int) -> Fact:
    if not shared:
        return NOTHING_IN_COMMON
    return Fact("agreement.one_label" if size else "agreement.no_common_unit")


def gate_value(
    pairs: Sequence[PairAgreement], statistic: Statistic, *, measure: Measure = "kappa"
) -> tuple[float | None, Fact | None]:
    """The figure that the gate compares with its threshold, or why there is none."""
    if not pairs:
        return None, Fact("agreement.too_few_annotators")
    by_pair = [(pair, pair.kappa if measure == "kappa" else pair.positive_f1) for pair in pairs]
    undefined: dict[Fact | None, list[Fact]] = {}
    for pair, value in by_pair:
        if value is None:
            people = Fact("agreement.pair", a=pair.a, b=pair.b)
            undefined.setdefault(pair.undefined, []).append(people)
    if undefined:
        reasons = [
            Fact("agreement.undefined_of_pairs", pairs=pairs, why=why)
            for why, pairs in undefined.items()
        ]
        return None, Fact("agreement.undefined", reasons=reasons)
    values = [value for _, value in by_pair if value is not None]
    return (min(values) if statistic == "min" else fsum(values) / len(values)), None


def judged(
    measured: Sequence[tuple[PairAgreement, Coefficient | None]],
    *,
    threshold: float,
    statistic: Statistic,
    measure: Measure = "kappa",
    reasons: Mapping[str, Fact],
    intervals: Mapping[str, Interval] = {},
    **figures: Any,
) -> Agreement:
    """What the gate says by its figure, from the pairs and how much their figures vary.

    The interval of the lowest pair is its own; how probable it is that the true lowest is above
    the threshold is that of all pairs together.
    """
    pairs, spreads = [pair for pair, _ in measured], [spread for _, spread in measured]
    value, reason = gate_value(pairs, statistic, measure=measure)
    known = [spread for spread in spreads if spread is not None]
    passed, ahead, own = False, Prospects(None, []), {}
    if value is not None and len(known) == len(spreads):
        mean = mean_of(known)
        lowest = min(known, key=lambda spread: spread.value)
        joined = known if statistic == "min" else [mean] if mean else []
        ahead = prospects(joined, threshold)
        own = intervals_of({"value": lowest if statistic == "min" else mean, "mean": mean})
        passed = value > threshold
    return Agreement(
        statistic=statistic,
        value=value,
        threshold=threshold,
        passed=passed,
        pairs=pairs,
        measure=measure,
        reasons={**({"value": reason} if reason else {}), **reasons},
        chance_above=ahead.chance_above,
        outlook=ahead.outlook,
        intervals={**own, **intervals},
        outcome="passed" if passed else "failed",
        **figures,
    )


def _why_no_overall(counts: NDArray[np.int64]) -> Fact:
    if (counts.sum(axis=1) < 2).all():
        return Fact("agreement.no_unit_labelled_by_two")
    return Fact("agreement.one_label_of_all")


def excluded_samples(
    ratings: Mapping[str, Iterable[str]], reasons: Mapping[str, Mapping[str, Fact]]
) -> list[Excluded]:
    """Samples that enter no pair: given with a reason, or submitted by one person alone."""
    rows = [
        Excluded(conversation, annotator, reason)
        for annotator, by_conversation in reasons.items()
        for conversation, reason in by_conversation.items()
    ]
    by: dict[str, list[str]] = {}
    for annotator, submitted in ratings.items():
        for conversation in submitted:
            by.setdefault(conversation, []).append(annotator)
    rows += [
        Excluded(name, people[0], Fact("agreement.submitted_alone"))
        for name, people in by.items()
        if len(people) == 1
    ]
    return sorted(rows, key=lambda row: (row.conversation, row.annotator))
