"""The steps of extraction. A step reads the state and returns only what it adds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pipelines.requirements.extraction import discourse, ledger, wording
from pipelines.requirements.extraction.candidates import candidates, says_how, stands_alone
from pipelines.requirements.extraction.state import Candidate, Evidence, ExtractionState
from pipelines.requirements.extraction.wanted import Floats, asked_for, likely
from pipelines.requirements.labels import Requirement
from pipelines.requirements.validation.conflicts import differ
from pipelines.types import Encoder

QUOTED, LEANS, TOLD = 1.5, 3.0, 4.2
"""Shares of the bar that count for a rule word for word, for words that lean on what was said
before, and for what is only told or needs its question."""


LEAST_ASKED: dict[Evidence, float] = {"worded": 0.0, "told": 0.2, "untold": 0.75}


@dataclass(frozen=True, slots=True)
class Deps:
    """What the steps need from outside."""

    encoder: Encoder
    min_keep: float
    merge: bool
    merge_above: float
    weights: Floats | None = None
    """Others than those that ship."""


def read_talk(state: ExtractionState) -> ExtractionState:
    return {"sentences": discourse.read_sentences(state["case"].messages)}


def settle(state: ExtractionState) -> ExtractionState:
    """What was put forward, how each of it stands at the end, and what was left open."""
    book = ledger.settled(state["sentences"])
    return {
        "commitments": book.commitments,
        "open_questions": book.open_questions,
    }


def select(state: ExtractionState, deps: Deps) -> ExtractionState:
    """Keep what a reader likely lists."""
    found = candidates(state["commitments"], state["sentences"])
    chances = likely(found, deps.encoder, deps.weights)
    kept = [
        each._replace(commitment=replace(each.commitment, keep=chance))
        for each, chance, asked in zip(found, chances, asked_for(found, deps.encoder), strict=True)
        if chance >= deps.min_keep * _share_of_bar(each) and asked >= LEAST_ASKED[each.evidence]
    ]
    agreed = {max(each.commitment.messages) for each in kept if each.evidence == "untold"}
    kept = [
        each
        for each in kept
        if not each.said.asked or each.commitment.sentence.message not in agreed
    ]
    return {"candidates": len(found), "kept": kept}


def _share_of_bar(candidate: Candidate) -> float:
    said, alone = candidate.said, stands_alone(candidate)
    if candidate.commitment.sentence.asked and not said.asked:
        return 1.0 if alone else QUOTED
    if not said.quoted:
        return 1.0 if alone else LEANS
    return QUOTED if alone and not said.asked and says_how(candidate) else TOLD


def word(state: ExtractionState) -> ExtractionState:
    drafts = [wording.requirement_of(each, state["sentences"]) for each in state["kept"]]
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
    twins: dict[int, int] = {}
    for at, to in np.argwhere(np.tril(vectors @ vectors.T > deps.merge_above, -1)).tolist():
        twin = twins.get(to, to)  # of one that was merged itself, the one that stayed
        same = _same_people(drafts[twin], drafts[at]) and not differ(drafts[twin], drafts[at])
        if same and at not in twins:
            twins[at] = twin
            sources = {*drafts[twin]["source_messages"], *drafts[at]["source_messages"]}
            drafts[twin] = {**drafts[twin], "source_messages": sorted(sources)}
    return [draft for at, draft in enumerate(drafts) if at not in twins]


def _same_people(one: Requirement, other: Requirement) -> bool:
    """What two kinds of people may do is two requirements; what the system does is for anybody."""
    actors = {one["actor"], other["actor"]}
    return len(actors) == 1 or "System" in actors
