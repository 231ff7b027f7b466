"""Do the annotators agree? One kappa per pair, and the gate that depends on it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from math import fsum
from typing import Any, Literal, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from labeling.domain.agreement.kappa import (
    ac1s,
    band,
    cohen_kappa,
    defined,
    fleiss_kappa,
    gwet_ac1,
    kappas,
    krippendorff_alpha,
)
from labeling.domain.agreement.ratings import Grid, Ratings, grid
from labeling.domain.agreement.resampling import Sampler, interval
from labeling.domain.facts import Fact, StoredFact

__all__ = [
    "Agreement",
    "Excluded",
    "PairAgreement",
    "agreement",
    "band",
    "cohen_kappa",
    "excluded_samples",
    "fleiss_kappa",
    "gate_value",
    "gwet_ac1",
    "krippendorff_alpha",
    "pair_agreement",
    "read_agreement",
]

Statistic = Literal["min", "mean"]
Measure = Literal["kappa", "f1"]

NOTHING_IN_COMMON = Fact("agreement.nothing_in_common")


class PairFigures(TypedDict):
    """A :class:`PairAgreement` as plain JSON."""

    a: str
    b: str
    kappa: float | None
    band: str | None
    n: int
    raw: float | None
    positive_f1: float | None
    ac1: float | None
    ci_low: float | None
    ci_high: float | None
    undefined: StoredFact | None
    conversations: int
    prevalence: float | None
    bias: float | None


class OriginFigures(TypedDict):
    """The figures of the typed, or of the assisted labels alone, as plain JSON."""

    statistic: Statistic
    value: float | None
    measure: Measure
    pairs: list[PairFigures]
    fleiss_kappa: float | None
    krippendorff_alpha: float | None
    reasons: dict[str, StoredFact]


class ExcludedFigures(TypedDict):
    """An :class:`Excluded` as plain JSON."""

    conversation: str
    annotator: str
    reason: StoredFact


class AgreementFigures(TypedDict):
    """An :class:`Agreement` as plain JSON."""

    statistic: Statistic
    value: float | None
    threshold: float
    passed: bool
    pairs: list[PairFigures]
    fleiss_kappa: float | None
    krippendorff_alpha: float | None
    reasons: dict[str, StoredFact]
    excluded: list[ExcludedFigures]
    measure: Measure
    by_origin: dict[str, OriginFigures]


class AgreementSummary(AgreementFigures):
    """Several layers: the figures of the lowest ``layer``, which the gate looks at, and of all."""

    layer: str
    layers: dict[str, AgreementFigures]


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """How far two annotators agree, over the units of all conversations both submitted.

    ``kappa`` is ``None`` exactly when ``undefined`` says why. The 95 % interval comes
    from resampling conversations; it is ``None`` with fewer than two of them.
    ``positive_f1``, ``prevalence`` (mean share of 1) and ``bias`` (share of 1 by ``a``
    minus by ``b``) need labels of 0 and 1.
    """

    a: str
    b: str
    kappa: float | None
    band: str | None
    n: int
    raw: float | None
    positive_f1: float | None
    ac1: float | None
    ci_low: float | None
    ci_high: float | None
    undefined: Fact | None
    conversations: int
    prevalence: float | None
    bias: float | None


@dataclass(frozen=True, slots=True)
class Excluded:
    """One annotator's answer to one conversation, which counts in no figure, and why."""

    conversation: str
    annotator: str
    reason: Fact


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of a round: the gate's figure, every pair behind it, and all together.

    ``measure`` is the figure of a pair that the gate looks at: κ, or F1 where there are no
    units (:mod:`~labeling.domain.event_agreement`). ``reasons`` says for each figure without a
    value why it has none. ``excluded`` lists the answers that count in no figure.
    ``by_origin`` has the same figures for the ``typed`` and the ``assisted`` labels alone, where
    annotators have seen suggestions.
    """

    statistic: Statistic
    value: float | None
    threshold: float
    passed: bool
    pairs: list[PairAgreement]
    fleiss_kappa: float | None
    krippendorff_alpha: float | None
    reasons: dict[str, Fact] = field(default_factory=dict)
    excluded: list[Excluded] = field(default_factory=list)
    measure: Measure = "kappa"
    by_origin: dict[str, OriginFigures] = field(default_factory=dict)

    def as_json(self) -> AgreementFigures:
        """Plain JSON, as it is stored; ``worded`` of it is what commands and the API print."""
        return cast(AgreementFigures, asdict(self))


def read_agreement(figures: AgreementFigures) -> Agreement:
    """What :meth:`Agreement.as_json` wrote."""
    return Agreement(
        statistic=figures["statistic"],
        value=figures["value"],
        threshold=figures["threshold"],
        passed=figures["passed"],
        pairs=[_read_pair(pair) for pair in figures["pairs"]],
        fleiss_kappa=figures["fleiss_kappa"],
        krippendorff_alpha=figures["krippendorff_alpha"],
        reasons={name: Fact.from_json(reason) for name, reason in figures["reasons"].items()},
        excluded=[
            Excluded(row["conversation"], row["annotator"], Fact.from_json(row["reason"]))
            for row in figures["excluded"]
        ],
        measure=figures["measure"],
        by_origin=figures["by_origin"],
    )


def _read_pair(pair: PairFigures) -> PairAgreement:
    undefined = pair["undefined"]
    values: dict[str, Any] = {**pair, "undefined": undefined and Fact.from_json(undefined)}
    return PairAgreement(**values)


def agreement(
    ratings: Mapping[str, Ratings],
    *,
    threshold: float = 0.75,
    statistic: Statistic = "min",
    seed: int = 0,
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
    seed
        Of the bootstrap behind the intervals.
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
    everyone = range(len(units.annotators))
    sampler = Sampler(seed=seed)
    pairs = [_pair(units, a, b, sampler) for a, b in combinations(everyone, 2)]
    value, reason = gate_value(pairs, statistic)
    counts = units.counts()
    fleiss, alpha = fleiss_kappa(counts), krippendorff_alpha(counts)
    reasons = {"value": reason} if reason else {}
    if fleiss is None:
        why = _why_no_overall(counts)
        reasons |= {"fleiss_kappa": why, "krippendorff_alpha": why}
    return Agreement(
        statistic=statistic,
        value=value,
        threshold=threshold,
        passed=value is not None and value > threshold,
        pairs=pairs,
        fleiss_kappa=fleiss,
        krippendorff_alpha=alpha,
        reasons=reasons,
        excluded=excluded_samples(ratings, excluded or {}),
    )


def pair_agreement(
    a: str, b: str, left: Ratings, right: Ratings, *, seed: int = 0
) -> PairAgreement:
    """Agreement of annotators ``a`` and ``b`` over the conversations that both submitted.

    Raises
    ------
    ValueError
        If a conversation has different numbers of units.
    """
    units = grid({a: left, b: right})
    people = units.annotators
    return _pair(units, people.index(a), people.index(b), Sampler(seed=seed))


def _pair(units: Grid, a: int, b: int, sampler: Sampler) -> PairAgreement:
    tallies = units.tallies(a, b)
    total = tallies.sum(axis=0)
    size = int(total[1].sum())
    kappa = defined(kappas(total))
    low, high = _kappa_interval(tallies, sampler) if kappa is not None else (None, None)
    positive = total[:, 1] if units.is_binary and size else None
    return PairAgreement(
        a=units.annotators[a],
        b=units.annotators[b],
        kappa=kappa,
        band=band(kappa),
        n=size,
        raw=float(total[0].sum()) / size if size else None,
        positive_f1=_positive_f1(positive),
        ac1=defined(ac1s(total)),
        ci_low=low,
        ci_high=high,
        undefined=_why_no_kappa(len(tallies), size) if kappa is None else None,
        conversations=len(tallies),
        prevalence=float(positive[1] + positive[2]) / (2 * size) if positive is not None else None,
        bias=float(positive[1] - positive[2]) / size if positive is not None else None,
    )


def _kappa_interval(
    tallies: NDArray[np.float64], sampler: Sampler
) -> tuple[float, float] | tuple[None, None]:
    if len(tallies) < 2:
        return None, None
    sums = sampler.sums(tallies.reshape(len(tallies), -1))
    return interval(kappas(sums.reshape(-1, *tallies.shape[1:]))) or (None, None)


def _positive_f1(positive: NDArray[np.float64] | None) -> float | None:
    if positive is None or not positive[1] + positive[2]:
        return None
    return float(2 * positive[0] / (positive[1] + positive[2]))


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
