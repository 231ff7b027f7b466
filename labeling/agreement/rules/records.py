"""Agreement by F1: of requirements, the ceiling of what a pipeline can score, and of events.

Of events since nobody marks what is not one, so that κ lacks units; of requirements beside κ, as
people who mark the same may write something else.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labeling.agreement.matching.matchers import Rules
from labeling.agreement.matching.matching import (
    Match,
    Record,
    RequirementPairs,
    f1,
    match_events,
    source_overlap,
)
from labeling.agreement.rules.agreement import (
    NOTHING_IN_COMMON,
    Agreement,
    ContentAgreement,
    Outcome,
    PairAgreement,
    Statistic,
    excluded_samples,
    judged,
)
from labeling.agreement.rules.intervals import Coefficient, mean_of, pooled_f1, prospects
from labeling.domain.facts import Fact
from labeling.domain.stored import Stored, as_json

Labels = Mapping[str, Sequence[Record]]
"""One annotator's requirements by conversation; a conversation without any is an empty list."""


@dataclass(frozen=True, slots=True)
class RecordAgreement:
    """One pair of annotators, compared like a pipeline with gold.

    ``record_f1`` is the mean F1 of their common conversations (macro, as a
    pipeline's F1 is averaged) and ``micro_f1`` the F1 of the summed counts. The field
    figures are shares of the ``text_matches``, the pairs of similar text whatever
    their type and actor. What has no value says why in ``undefined``. ``ci_low`` to ``ci_high``
    is the 95 % interval of ``micro_f1`` for new conversations, which ``spread`` is about.
    """

    a: str
    b: str
    record_f1: float | None
    micro_f1: float | None
    matches: int
    a_records: int
    b_records: int
    conversations: int
    text_matches: int
    type_agreement: float | None
    actor_agreement: float | None
    priority_agreement: float | None
    source_overlap: float | None
    undefined: dict[str, Fact]
    ci_low: float | None
    ci_high: float | None
    spread: Coefficient | None

    def as_json(self) -> Stored:
        """Without ``spread``, which is of no use outside."""
        figures = as_json(replace(self, spread=None))
        del figures["spread"]
        return figures


class PairCounts(NamedTuple):
    """What one conversation adds to the figures of two people.

    ``fields`` has type, actor, priority and sources of each pair of similar text: 1 where they
    agree, 0 where they differ.
    """

    matches: int
    left: int
    right: int
    fields: Sequence[Sequence[float]] = ()


class Counted(NamedTuple):
    """What is counted of two people's records, and which of them were matched."""

    counts: PairCounts
    matches: list[Match]


def counted(left: Sequence[Record], right: Sequence[Record], rules: Rules) -> Counted:
    """The records of two people in one conversation, matched one to one.

    Those count that share a message, if they cite any: the right words on other messages are
    about something else.
    """
    pairs = RequirementPairs(left, right, ruler=rules.ruler, synonyms=rules.synonyms)
    matches, fields = pairs.matches(rules.threshold), _field_rows(pairs, rules.threshold)
    same = sum(source_overlap(left[match.left], right[match.right]) > 0 for match in matches)
    return Counted(PairCounts(same, len(left), len(right), fields), matches)


def summed_records(
    people: Iterable[str],
    counts: Mapping[tuple[str, str], Mapping[str, PairCounts]],
    conversations: Iterable[str],
    *,
    has_sources: bool,
) -> list[RecordAgreement]:
    """Each pair of people from what their common conversations add.

    ``conversations`` are those that anybody submitted.
    """
    every = {name: position for position, name in enumerate(sorted(conversations))}
    return [
        _pair(a, b, counts.get((a, b), {}), every, has_sources)
        for a, b in combinations(sorted(people), 2)
    ]


def _table(shared: Mapping[str, PairCounts], every: Mapping[str, int]) -> NDArray[np.float64]:
    """The counts of two people, a row for each conversation; zeros where not both submitted it."""
    table = np.zeros((len(every), 3))
    if shared:
        table[[every[name] for name in shared]] = [counts[:3] for counts in shared.values()]
    return table


def _pair(
    a: str,
    b: str,
    shared: Mapping[str, PairCounts],
    every: Mapping[str, int],
    has_sources: bool,
) -> RecordAgreement:
    counted = {name: tuple(shared[name][:3]) for name in sorted(shared)}
    conversations = counts = list(counted.values())
    matches, left, right = (sum(column) for column in zip((0, 0, 0), *counts, strict=True))
    spread = pooled_f1(_table(shared, every))
    low, high = (spread and spread.interval) or (None, None)
    rows = [row for name in counted for row in shared[name].fields]
    undefined: dict[str, Fact] = {}
    if not conversations:
        undefined["record_f1"] = undefined["micro_f1"] = Fact("agreement.nothing_in_common")
    if not rows:
        undefined["fields"] = Fact("agreement.no_similar_text")
    if not has_sources:
        undefined["source_overlap"] = Fact("agreement.no_messages_cited")
    shares = [_mean([row[column] for row in rows]) for column in range(4)]
    return RecordAgreement(
        a=a,
        b=b,
        record_f1=_mean([f1(*count) for count in counts]),
        micro_f1=f1(matches, left, right) if conversations else None,
        matches=matches,
        a_records=left,
        b_records=right,
        conversations=len(conversations),
        text_matches=len(rows),
        type_agreement=shares[0],
        actor_agreement=shares[1],
        priority_agreement=shares[2],
        source_overlap=shares[3] if has_sources else None,
        undefined=undefined,
        ci_low=low,
        ci_high=high,
        spread=spread,
    )


def _field_rows(pairs: RequirementPairs, threshold: float) -> list[tuple[float, ...]]:
    """Type, actor, priority and sources of each pair of similar text: 1 agree, 0 differ."""
    return [
        (
            float(pairs.same_type[i, j]),
            float(pairs.same_actor[i, j]),
            float(pairs.left[i].get("priority") == pairs.right[j].get("priority")),
            source_overlap(pairs.left[i], pairs.right[j]),
        )
        for i, j, _ in pairs.text_matches(threshold)
    ]


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None


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
    )


def _of_events(pair: RecordAgreement, threshold: float) -> PairAgreement:
    spread = pair.spread
    why = Fact("agreement.no_event_marked") if pair.conversations else NOTHING_IN_COMMON
    return PairAgreement(
        a=pair.a,
        b=pair.b,
        n=pair.a_records + pair.b_records - pair.matches,
        positive_f1=spread.value if spread else None,
        ci_low=pair.ci_low,
        ci_high=pair.ci_high,
        undefined=NO_UNITS if spread else why,
        conversations=pair.conversations,
        chance_above=spread.chance_above(threshold) if spread else None,
    )


def judged_by_content(
    figures: Agreement, pairs: Sequence[RecordAgreement], layer: str, *, threshold: float
) -> Agreement:
    """What the gate says of a layer by κ and by content: both have to pass."""
    content = _content(pairs, threshold, figures.statistic)
    passed = figures.passed and content.passed
    if not content.passed and not content.reason:
        why = Fact(f"content.{layer}" if figures.passed else "agreement.labels_differ")
        content = replace(content, reason=why)
    outcome: Outcome = "passed" if passed else "failed"
    return replace(figures, passed=passed, outcome=outcome, content=content)


def _content(
    pairs: Sequence[RecordAgreement], threshold: float, statistic: Statistic
) -> ContentAgreement:
    """The figure that the gate compares, by the same statistic of the pairs as κ."""
    spreads = [pair.spread for pair in pairs if pair.spread is not None]
    if not spreads or len(spreads) < len(pairs):
        why = None if not threshold else Fact("agreement.no_labels")
        return ContentAgreement(None, threshold, not threshold, reason=why)
    mean = mean_of(spreads)
    lowest = min(spreads, key=lambda spread: spread.value)
    looked_at = mean if statistic == "mean" and mean else lowest
    values = [spread.value for spread in spreads]
    value = min(values) if statistic == "min" else fsum(values) / len(values)
    ahead = prospects([looked_at] if statistic == "mean" else spreads, threshold)
    return ContentAgreement(
        value=value,
        threshold=threshold,
        passed=value >= threshold,
        low=looked_at.low,
        high=looked_at.high,
        chance_above=ahead.chance_above if threshold else None,
    )
