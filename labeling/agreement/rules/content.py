"""Whether people who mark the same also write the same: the gate on the content of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import fsum

from labeling.agreement.rules.agreement import Agreement, ContentAgreement, Statistic
from labeling.agreement.rules.intervals import mean_of, prospects
from labeling.agreement.rules.records import RecordAgreement
from labeling.domain.facts import Fact


def content_agreement(
    pairs: Sequence[RecordAgreement], *, threshold: float, statistic: Statistic
) -> ContentAgreement:
    """The figure that the gate compares, by the same statistic of the pairs as κ."""
    spreads = [pair.spread for pair in pairs if pair.spread is not None]
    if not spreads or len(spreads) < len(pairs):
        return ContentAgreement(None, threshold, not threshold, reason=Fact("agreement.no_labels"))
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


def judged_by_content(figures: Agreement, content: ContentAgreement, layer: str) -> Agreement:
    """What the gate says of a layer by κ and by content: both have to pass."""
    if content.passed or content.reason:
        reason = content.reason
    elif figures.passed:
        reason = Fact(f"content.{layer}")
    else:
        reason = Fact("agreement.labels_differ")
    passed = figures.passed and content.passed
    return replace(
        figures,
        passed=passed,
        outcome="passed" if passed else "failed",
        content=replace(content, reason=None if content.passed else reason),
    )
