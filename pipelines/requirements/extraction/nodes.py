"""The steps of extraction. A step reads the state and returns only what it adds."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipelines.requirements.extraction import chosen, fields, marks, settle, turns
from pipelines.requirements.extraction.marks import Floats, Model
from pipelines.requirements.extraction.shapes import ASKED, TOLD
from pipelines.requirements.extraction.state import Commitment, ExtractionState
from pipelines.requirements.labels import Requirement
from pipelines.requirements.validation.conflicts import differ
from pipelines.types import Encoder

SHARES = {TOLD: 1.6, ASKED: 2.2}
"""Of the bar, for what has neither a plain shape nor a word for *must*, and for a question with its
answer: readers have to reword most of them."""


@dataclass(frozen=True, slots=True)
class Weights:
    marks: Model
    chosen: Floats


@dataclass(frozen=True, slots=True)
class Deps:
    """What the steps need from outside."""

    encoder: Encoder
    min_keep: float
    merge: bool
    merge_above: float
    weights: Weights | None = None
    """Others than those that ship."""


def read_talk(state: ExtractionState) -> ExtractionState:
    return {"sentences": turns.read_sentences(state["case"].messages)}


def settle_talk(
    state: ExtractionState, encoder: Encoder, model: Model | None = None
) -> ExtractionState:
    """What was put forward, how each of it stands at the end, and what was left open."""
    spoken = marks.marked(state["sentences"], encoder, model or marks.shipped())
    book = settle.settled(spoken, encoder)
    return {
        "sentences": spoken,
        "commitments": book.commitments,
        "open_questions": book.open_questions,
        "decisions": book.decisions,
    }


def select(state: ExtractionState, deps: Deps) -> ExtractionState:
    """Keep what a reader can likely use; of what rests on the same words, the likeliest."""
    found = not_ended(state["commitments"])
    weights = deps.weights.chosen if deps.weights else chosen.shipped()
    chances = chosen.likely(found, state["sentences"], deps.encoder, weights)
    rated = [replace(each, keep=chance) for each, chance in zip(found, chances, strict=True)]
    kept = [each for each in rated if each.keep >= deps.min_keep * _share_of_bar(each)]
    return {"kept": without_doubles(kept)}


def _share_of_bar(each: Commitment) -> float:
    return SHARES.get(each.shape, 1.0)


def not_ended(commitments: Sequence[Commitment]) -> list[Commitment]:
    """Neither taken back nor an offer that nobody took up."""
    return [
        each
        for each in commitments
        if each.state not in {"refused", "withdrawn"}
        and (each.sentence.side == "client" or each.accepted >= settle.LEAST_ACCEPTED)
    ]


def without_doubles(kept: Sequence[Commitment]) -> list[Commitment]:
    """An offer and the short answer that repeats it are one."""
    best: dict[tuple[int, int], Commitment] = {}
    for each in kept:
        place = each.sentence.place
        if each.kind == "answer" and each.shape == "limit" and each.sentence.asked:
            place = each.sentence.asked.place
        if place not in best or best[place].keep < each.keep:
            best[place] = each
    return list(best.values())


def word(state: ExtractionState) -> ExtractionState:
    places = [each.place for each in state["sentences"]]
    texts = [each.text for each in state["sentences"]]
    drafts = [
        fields.requirement_of(each, texts[: bisect_left(places, each.sentence.place)])
        for each in state["kept"]
    ]
    drafts.sort(key=lambda draft: draft["source_messages"])
    return {"drafts": drafts}


def finish(state: ExtractionState, deps: Deps) -> ExtractionState:
    """Merge what says the same, and number the rest."""
    merged = merge(state["drafts"], deps) if deps.merge else state["drafts"]
    numbered: list[Requirement] = [
        {"id": f"REQ-{at:03d}", **draft} for at, draft in enumerate(merged, start=1)
    ]
    return {"requirements": numbered}


def merge(drafts: list[Requirement], deps: Deps) -> list[Requirement]:
    """The first of two alike stays, with the messages of both; two that conflict both stay."""
    if len(drafts) < 2:
        return drafts
    vectors = deps.encoder.encode([f"{draft['title']} {draft['action']}" for draft in drafts])
    alike = vectors @ vectors.T > deps.merge_above
    twins: dict[int, int] = {}
    for at in range(1, len(drafts)):
        for to in map(int, np.flatnonzero(alike[at, :at])):
            twin = twins.get(to, to)  # of one that was merged itself, the one that stayed
            if _same_people(drafts[twin], drafts[at]) and not differ(drafts[twin], drafts[at]):
                twins[at] = twin
                sources = {*drafts[twin]["source_messages"], *drafts[at]["source_messages"]}
                drafts[twin] = {**drafts[twin], "source_messages": sorted(sources)}
                break
    return [draft for at, draft in enumerate(drafts) if at not in twins]


def _same_people(one: Requirement, other: Requirement) -> bool:
    """What two kinds of people may do is two requirements; what the system does is for anybody."""
    actors = {one["actor"], other["actor"]}
    return len(actors) == 1 or "System" in actors
