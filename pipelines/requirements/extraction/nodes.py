"""The steps of extraction. A step reads the state and returns only what it adds."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pipelines.requirements.extraction import discourse, ledger, wording
from pipelines.requirements.extraction.candidates import candidates, says_how, stands_alone
from pipelines.requirements.extraction.state import Candidate, Evidence, ExtractionState
from pipelines.requirements.extraction.wanted import Floats, asked_for, likely
from pipelines.requirements.labels import Requirement, text_of
from pipelines.requirements.text import content_words
from pipelines.requirements.validation.conflicts import conflict, stand_of, topic_of
from pipelines.types import Encoder

PER_WORD = 24  # earlier requirements that are compared for a word, the latest
CONFLICT_ABOVE = 0.75  # similarity of what two are about, figures and negations aside
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
        "decisions": book.decisions,
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
    return {"requirements": with_conflicts(numbered, deps) if deps.merge else numbered}


def with_conflicts(numbered: list[Requirement], deps: Deps) -> list[Requirement]:
    """The rationale of the later of two says that both cannot hold."""
    topics = [topic_of(text_of(requirement)) for requirement in numbered]
    stands = [stand_of(requirement) for requirement in numbered]
    odd = [
        (at, to, why)
        for to, near in enumerate(neighbours(topics))
        for at in near
        if (why := conflict(stands[at], stands[to]))
    ]
    if not odd:
        return numbered
    vectors = deps.encoder.encode(topics)
    for at, to, why in sorted(odd):
        if float(vectors[at] @ vectors[to]) > CONFLICT_ABOVE:
            numbered[to]["rationale"] += f"; conflicts with {numbered[at]['id']}: {why}"
    return numbered


def merge(drafts: list[Requirement], deps: Deps) -> list[Requirement]:
    """The first of two alike stays, with the messages of both; two that conflict both stay."""
    if len(drafts) < 2:
        return drafts
    texts = [f"{draft['title']} {draft['action']}" for draft in drafts]
    vectors, stands = deps.encoder.encode(texts), [stand_of(draft) for draft in drafts]
    twins: dict[int, int] = {}
    for at, near in enumerate(neighbours(texts)):
        # The first that it says again; of one that was merged itself, the one that stayed.
        alike = (twins.get(to, to) for to in near if vectors[to] @ vectors[at] > deps.merge_above)
        same = (to for to in alike if _same_people(drafts[to], drafts[at]))
        twin = next((to for to in same if not conflict(stands[to], stands[at])), None)
        if twin is not None:
            twins[at] = twin
            sources = {*drafts[twin]["source_messages"], *drafts[at]["source_messages"]}
            drafts[twin] = {**drafts[twin], "source_messages": sorted(sources)}
    return [draft for at, draft in enumerate(drafts) if at not in twins]


def neighbours(texts: Sequence[str]) -> Iterator[list[int]]:
    """For each text the earlier ones that share a word with it; of a frequent word the latest.

    So the work grows with the number of texts, not with that of pairs.
    """
    places: defaultdict[str, deque[int]] = defaultdict(lambda: deque[int](maxlen=PER_WORD))
    for at, text in enumerate(texts):
        about = content_words(text)
        yield sorted({to for word in about for to in places[word]})
        for word in about:
            places[word].append(at)


def _same_people(one: Requirement, other: Requirement) -> bool:
    """What two kinds of people may do is two requirements; what the system does is for anybody."""
    actors = {one["actor"], other["actor"]}
    return len(actors) == 1 or "System" in actors
