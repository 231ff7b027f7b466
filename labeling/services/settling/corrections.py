"""Labels of gold that disputes have corrected: what they change in what people agree on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import Prefetch, QuerySet

from labeling.domain.facts import Fact
from labeling.domain.gold.content import Provenance
from labeling.domain.gold.disputes import (
    Correction,
    Side,
    Vote,
    corrected,
    has_place,
    ruling,
    with_correction,
)
from labeling.domain.schema.labels import StoredLabel
from labeling.models import (
    Adjudication,
    Conversation,
    Dispute,
    DisputeOutcome,
    DisputeReading,
    GoldItem,
    GoldRelease,
    Project,
)

MADE_ELSEWHERE = GoldItem.MADE_ELSEWHERE


class DatedCorrection(NamedTuple):
    correction: Correction
    at: datetime


def accepted(disputes: QuerySet[Dispute]) -> QuerySet[Dispute]:
    """Those that corrected gold, in the order of the decisions, for :func:`of_dispute`."""
    readings = DisputeReading.objects.filter(verdict__isnull=False)
    return (
        disputes.filter(outcome__kind=DisputeOutcome.Kind.CORRECTED)
        .select_related("outcome__decided_by", "item__release")
        .defer("item__canonical", *(f"item__release__{name}" for name in GoldRelease.DOCUMENTS))
        .prefetch_related(
            Prefetch("readings", readings.select_related("judge", "verdict"), to_attr="verdicts")
        )
        .order_by("outcome")
    )


def of_labelled(layers: Collection[str]) -> Prefetch:
    """The corrections of gold that was labelled here, for :func:`apply`."""
    disputes = Dispute.objects.filter(layer__in=layers).exclude(item__how__in=MADE_ELSEWHERE)
    return Prefetch("disputes", accepted(disputes), to_attr="corrections")


def of_dispute(dispute: Dispute) -> DatedCorrection:
    outcome = dispute.outcome
    votes = votes_of(dispute)
    correction = Correction(
        dispute=dispute.pk,
        layer=dispute.layer,
        uid=dispute.uid,
        label=outcome.label,
        is_new=not dispute.label_uid,
        decided_by=_deciders(dispute, votes),
        reason=outcome.reason or _reasons(dispute, votes),
        release=str(dispute.item.release),
    )
    return DatedCorrection(correction, outcome.at)


def votes_of(dispute: Dispute) -> list[Vote]:
    """The verdicts with the sides named; needs ``verdicts``."""
    readings: list[DisputeReading] = dispute.verdicts  # type: ignore[attr-defined]
    return [Vote(side_of(reading), reading.verdict.label) for reading in readings]


def side_of(reading: DisputeReading) -> Side:
    choice = reading.verdict.choice
    if choice in ("a", "b"):
        return "gold" if (choice == "a") == reading.gold_is_a else "proposal"
    return "both" if choice == "both" else "neither"


def _deciders(dispute: Dispute, votes: Sequence[Vote]) -> tuple[str, ...]:
    if dispute.outcome.decided_by:
        return (dispute.outcome.decided_by.get_username(),)
    return tuple(reading.judge.get_username() for reading in _in_majority(dispute, votes))


def _reasons(dispute: Dispute, votes: Sequence[Vote]) -> str:
    return "; ".join(reading.verdict.reason for reading in _in_majority(dispute, votes))


def _in_majority(dispute: Dispute, votes: Sequence[Vote]) -> list[DisputeReading]:
    outcome = ("corrected", dispute.outcome.label)
    readings: list[DisputeReading] = dispute.verdicts  # type: ignore[attr-defined]
    return [
        reading
        for reading, vote in zip(readings, votes, strict=True)
        if ruling([vote], dispute.proposal, judges=1) == outcome
    ]


def apply(
    conversation: Conversation,
    layer: str,
    labels: Sequence[StoredLabel],
    provenance: Provenance,
    decision: Adjudication | None,
) -> tuple[list[StoredLabel], Provenance] | Fact:
    """What is settled, with the corrections made since the newest decision.

    The reason if a corrected label is not there any more: somebody has to look at it.
    """
    disputes: list[Dispute] = conversation.corrections  # type: ignore[attr-defined]
    settled, origin = list(labels), provenance
    for correction, at in map(of_dispute, disputes):
        if correction.layer != layer or (decision and decision.decided_at > at):
            continue
        if not has_place(settled, correction):
            return Fact("gold.correction_without_label", dispute=correction.dispute)
        settled, origin = with_one(settled, origin, correction)
        origin = _decided(origin, correction)
    return settled, origin


def with_one(
    labels: Sequence[StoredLabel], provenance: Provenance, correction: Correction
) -> tuple[list[StoredLabel], Provenance]:
    before = next((label for label in labels if label.get("uid") == correction.uid), None)
    return corrected(labels, correction), with_correction(provenance, correction, before)


def _decided(origin: Provenance, correction: Correction) -> Provenance:
    """Not everybody holds every label any more, so the item counts as decided by people."""
    earlier = (origin["adjudicated_by"] or "").split(", ") if origin["adjudicated_by"] else []
    people = sorted({*earlier, *correction.decided_by})
    return {
        **origin,
        "how": "adjudicated",
        "adjudicated_by": ", ".join(people),
        "reason": origin["reason"] or correction.reason,
    }


def outcomes_of(
    project: Project, layer: str, *, among: Collection[int] | None = None
) -> dict[int, list[int]]:
    """By conversation: what was corrected of gold labelled here, for the digest of its merges."""
    rows = DisputeOutcome.objects.filter(
        dispute__conversation__project=project,
        dispute__layer=layer,
        kind=DisputeOutcome.Kind.CORRECTED,
    ).exclude(dispute__item__how__in=MADE_ELSEWHERE)
    if among is not None:
        rows = rows.filter(dispute__conversation__in=among)
    outcomes: dict[int, list[int]] = {}
    for conversation, pk in rows.order_by("pk").values_list("dispute__conversation", "pk"):
        outcomes.setdefault(conversation, []).append(pk)
    return outcomes
