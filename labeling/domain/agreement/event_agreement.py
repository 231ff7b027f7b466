"""Agreement on events: by F1, since nobody marks what is not an event, so that κ lacks units."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from labeling.domain.agreement.agreement import (
    NOTHING_IN_COMMON,
    Agreement,
    PairAgreement,
    Statistic,
    excluded_samples,
    gate_value,
)
from labeling.domain.agreement.resampling import interval, resampled_sums
from labeling.domain.facts import Fact
from labeling.domain.matching.matching import Record, match_events

Events = Mapping[str, Sequence[Record]]
"""One annotator's events by conversation; a conversation without any is an empty list."""

NO_UNITS = Fact("agreement.events_without_units")


def event_agreement(
    events: Mapping[str, Events],
    *,
    threshold: float = 0.75,
    statistic: Statistic = "min",
    seed: int = 0,
    excluded: Mapping[str, Mapping[str, Fact]] | None = None,
) -> Agreement:
    """How far annotators mark the same events, and whether that passes the gate.

    Two events are the same if their types are equal and their triggers overlap, one to one. The
    figure of a pair is the F1 of the summed counts over the conversations that both submitted,
    in [0, 1]; it is undefined if neither of them marked an event. ``kappa`` is never defined
    here, and ``positive_f1`` is what the gate compares with the threshold.

    Parameters
    ----------
    threshold, statistic, seed, excluded
        As for :func:`~labeling.domain.agreement.agreement`.
    """
    pairs = [_pair(a, b, events[a], events[b], seed) for a, b in combinations(sorted(events), 2)]
    value, reason = gate_value(pairs, statistic, measure="f1")
    reasons = {"fleiss_kappa": NO_UNITS, "krippendorff_alpha": NO_UNITS}
    return Agreement(
        statistic=statistic,
        value=value,
        threshold=threshold,
        passed=value is not None and value > threshold,
        pairs=pairs,
        fleiss_kappa=None,
        krippendorff_alpha=None,
        reasons=reasons | ({"value": reason} if reason else {}),
        excluded=excluded_samples(events, excluded or {}),
        measure="f1",
    )


def _pair(a: str, b: str, left: Events, right: Events, seed: int) -> PairAgreement:
    shared = sorted(left.keys() & right.keys())
    counts = np.array(
        [
            (len(match_events(left[name], right[name])), len(left[name]), len(right[name]))
            for name in shared
        ],
        dtype=np.float64,
    ).reshape(len(shared), 3)
    total = counts.sum(axis=0)
    f1 = _f1(total[None, :])[0]
    low, high = _interval(counts, seed)
    undefined = np.isnan(f1)
    return PairAgreement(
        a=a,
        b=b,
        kappa=None,
        band=None,
        n=int(total[1] + total[2] - total[0]),
        raw=None,
        positive_f1=None if undefined else float(f1),
        ac1=None,
        ci_low=low,
        ci_high=high,
        undefined=_why_undefined(shared) if undefined else NO_UNITS,
        conversations=len(shared),
        prevalence=None,
        bias=None,
    )


def _why_undefined(shared: Sequence[str]) -> Fact:
    return Fact("agreement.no_event_marked") if shared else NOTHING_IN_COMMON


def _f1(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """2·matches/(events of both) of each row; NaN where neither marked an event."""
    marked = counts[:, 1] + counts[:, 2]
    undefined = np.full(len(counts), np.nan)
    return np.asarray(np.divide(2 * counts[:, 0], marked, out=undefined, where=marked > 0))


def _interval(counts: NDArray[np.float64], seed: int) -> tuple[float, float] | tuple[None, None]:
    if len(counts) < 2:
        return None, None
    return interval(_f1(resampled_sums(counts, seed=seed))) or (None, None)
