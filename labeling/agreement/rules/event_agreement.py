"""Agreement on events: by F1, since nobody marks what is not an event, so that κ lacks units."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from labeling.agreement.matching.matching import Record, match_events
from labeling.agreement.rules.agreement import (
    NOTHING_IN_COMMON,
    Agreement,
    PairAgreement,
    Statistic,
    excluded_samples,
    judged,
)
from labeling.agreement.rules.intervals import Coefficient, pooled_f1
from labeling.agreement.rules.records import PairCounts, positions_of, table_of
from labeling.domain.facts import Fact

NO_UNITS = Fact("agreement.events_without_units")


def event_counts(left: Sequence[Record], right: Sequence[Record]) -> PairCounts:
    """What one conversation adds to the figure of two people."""
    return PairCounts(len(match_events(left, right)), len(left), len(right))


def summed_events(
    submitted: Mapping[str, Collection[str]],
    counts: Mapping[tuple[str, str], Mapping[str, PairCounts]],
    *,
    threshold: float,
    statistic: Statistic,
    excluded: Mapping[str, Mapping[str, Fact]] | None = None,
) -> Agreement:
    """How far annotators mark the same events, and whether that passes the gate.

    Two events are the same if their types are equal and their triggers overlap, one to one. The
    figure of a pair is the F1 of the summed counts over the conversations that both submitted,
    in [0, 1]; it is undefined if neither of them marked an event. ``kappa`` is never defined
    here, and ``positive_f1`` is what the gate compares with the threshold. ``submitted`` has the
    conversations of each annotator, ``counts`` what each adds to each pair.
    """
    conversations = positions_of({name for own in submitted.values() for name in own})
    measured = [
        _pair(a, b, counts.get((a, b), {}), conversations, threshold)
        for a, b in combinations(sorted(submitted), 2)
    ]
    return judged(
        measured,
        threshold=threshold,
        statistic=statistic,
        measure="f1",
        reasons={"fleiss_kappa": NO_UNITS, "krippendorff_alpha": NO_UNITS},
        excluded=excluded_samples(submitted, excluded or {}),
        intervals={},
        fleiss_kappa=None,
        krippendorff_alpha=None,
    )


def _pair(
    a: str,
    b: str,
    shared: Mapping[str, PairCounts],
    conversations: Mapping[str, int],
    threshold: float,
) -> tuple[PairAgreement, Coefficient | None]:
    counts = table_of(shared, conversations)
    total = counts.sum(axis=0)
    spread = pooled_f1(counts)
    low, high = (spread and spread.interval) or (None, None)
    pair = PairAgreement(
        a=a,
        b=b,
        kappa=None,
        band=None,
        n=int(total[1] + total[2] - total[0]),
        raw=None,
        positive_f1=spread.value if spread else None,
        ac1=None,
        ci_low=low,
        ci_high=high,
        undefined=NO_UNITS if spread else _why_undefined(shared),
        conversations=len(shared),
        prevalence=None,
        bias=None,
        chance_above=spread.chance_above(threshold) if spread else None,
    )
    return pair, spread


def _why_undefined(shared: Collection[str]) -> Fact:
    return Fact("agreement.no_event_marked") if shared else NOTHING_IN_COMMON
