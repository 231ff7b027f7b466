"""Agreement on events: by F1, since nobody marks what is not an event, so that κ lacks units."""

from collections.abc import Collection, Mapping, Sequence

from labeling.agreement.matching.matching import Record, match_events
from labeling.agreement.rules.agreement import (
    NOTHING_IN_COMMON,
    Agreement,
    PairAgreement,
    Statistic,
    excluded_samples,
    judged,
)
from labeling.agreement.rules.records import PairCounts, RecordAgreement, summed_records
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
    names = {name for own in submitted.values() for name in own}
    pairs = summed_records(submitted, counts, names, has_sources=False)
    measured = [(_of_events(pair, threshold), pair.spread) for pair in pairs]
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


def _of_events(pair: RecordAgreement, threshold: float) -> PairAgreement:
    spread = pair.spread
    why = Fact("agreement.no_event_marked") if pair.conversations else NOTHING_IN_COMMON
    return PairAgreement(
        a=pair.a,
        b=pair.b,
        kappa=None,
        band=None,
        n=pair.a_records + pair.b_records - pair.matches,
        raw=None,
        positive_f1=spread.value if spread else None,
        ac1=None,
        ci_low=pair.ci_low,
        ci_high=pair.ci_high,
        undefined=NO_UNITS if spread else why,
        conversations=pair.conversations,
        prevalence=None,
        bias=None,
        chance_above=spread.chance_above(threshold) if spread else None,
    )
