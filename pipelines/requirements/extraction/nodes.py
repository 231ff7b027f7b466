"""The steps of extraction. A step reads the state and returns only what it adds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations

from pipelines.requirements.extraction import discourse, ledger, wording
from pipelines.requirements.extraction.features import KEEP, probability
from pipelines.requirements.extraction.state import (
    Commitment,
    Context,
    ExtractionState,
    Unworded,
)
from pipelines.requirements.labels import Requirement, text_of
from pipelines.requirements.lexicon import signal
from pipelines.requirements.validation.conflicts import conflict, stand_of, topic_of
from pipelines.types import Encoder

CONFLICT_ABOVE = 0.75  # similarity of what two are about, figures and negations aside
WEAK_SHAPES = {"fragment", "state"}


@dataclass(frozen=True, slots=True)
class Deps:
    """What the steps need from outside."""

    encoder: Encoder | None
    min_keep: float
    merge_above: float


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
    """Keep what the model takes for a requirement; fold mere additions into what they add to."""
    kept: list[Commitment] = []
    for candidate in (one for one in state["commitments"] if one.wanted):
        likely = probability(KEEP, candidate.features)
        if likely < deps.min_keep:
            continue
        if kept and candidate.criterion is None and _only_adds(candidate, kept[-1]):
            kept[-1] = replace(kept[-1], details=(*kept[-1].details, candidate.text))
        else:
            kept.append(replace(candidate, keep=likely))
    return {"kept": kept}


def _only_adds(candidate: Commitment, previous: Commitment) -> bool:
    """A bare phrase right after a wish of the same message says more of that wish."""
    same = candidate.sentence.message == previous.sentence.message
    weak = candidate.reading.cue is None and candidate.reading.shape in WEAK_SHAPES
    return same and weak and not signal("only").search(candidate.text)


def word(state: ExtractionState) -> ExtractionState:
    """Give each commitment its fields."""
    drafts: list[Requirement] = []
    unworded: Counter[str] = Counter()
    said = tuple(state["sentences"])
    for commitment in state["kept"]:
        context = Context(state["case"].domain, said, drafts[-1] if drafts else None)
        worded = wording.worded(commitment, context)
        if isinstance(worded, Unworded):
            unworded[worded.reason] += 1
        else:
            drafts.extend(worded)
    return {"drafts": drafts, "unworded": unworded}


def finish(state: ExtractionState, deps: Deps) -> ExtractionState:
    """Merge what says the same, and number the rest."""
    merged = merge(state["drafts"], deps) if deps.encoder else state["drafts"]
    numbered: list[Requirement] = [
        {"id": f"REQ-{at:03d}", **draft} for at, draft in enumerate(merged, start=1)
    ]
    return {"requirements": with_conflicts(numbered, deps) if deps.encoder else numbered}


def with_conflicts(numbered: list[Requirement], deps: Deps) -> list[Requirement]:
    """The rationale of the later of two says that both cannot hold."""
    stands = [stand_of(requirement) for requirement in numbered]
    pairs = combinations(range(len(numbered)), 2)
    odd = [(at, to, why) for at, to in pairs if (why := conflict(stands[at], stands[to]))]
    if not odd or deps.encoder is None:
        return numbered
    vectors = deps.encoder.encode([topic_of(text_of(requirement)) for requirement in numbered])
    for at, to, why in odd:
        if float(vectors[at] @ vectors[to]) > CONFLICT_ABOVE:
            numbered[to]["rationale"] += f"; conflicts with {numbered[at]['id']}: {why}"
    return numbered


def merge(drafts: list[Requirement], deps: Deps) -> list[Requirement]:
    """The first of two alike stays, with the messages of both; two that conflict both stay."""
    if len(drafts) < 2 or deps.encoder is None:
        return drafts
    vectors = deps.encoder.encode([f"{draft['title']} {draft['action']}" for draft in drafts])
    alike, stands = vectors @ vectors.T, [stand_of(draft) for draft in drafts]
    stays: list[int] = []
    for at, draft in enumerate(drafts):
        near = (earlier for earlier in stays if alike[earlier, at] > deps.merge_above)
        same = (earlier for earlier in near if _same_people(drafts[earlier], draft))
        twin = next(
            (earlier for earlier in same if not conflict(stands[earlier], stands[at])), None
        )
        if twin is None:
            stays.append(at)
        else:
            sources = {*drafts[twin]["source_messages"], *draft["source_messages"]}
            drafts[twin] = {**drafts[twin], "source_messages": sorted(sources)}
    return [drafts[at] for at in stays]


def _same_people(one: Requirement, other: Requirement) -> bool:
    """What two kinds of people may do is two requirements; what the system does is for anybody."""
    actors = {one["actor"], other["actor"]}
    return len(actors) == 1 or "System" in actors
