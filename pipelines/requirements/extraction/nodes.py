"""The steps of extraction. A step reads the state and returns only what it adds."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pipelines.requirements.extraction import discourse, ledger, wording
from pipelines.requirements.extraction.features import KEEP, probability
from pipelines.requirements.extraction.phrasing import Phrase
from pipelines.requirements.extraction.pronouns import names_in
from pipelines.requirements.extraction.state import (
    Commitment,
    Context,
    ExtractionState,
    Unworded,
)
from pipelines.requirements.extraction.unwanted import wishes
from pipelines.requirements.extraction.usable import (
    LISTED,
    USABLE,
    listed_features,
    usable_features,
)
from pipelines.requirements.labels import Requirement, text_of
from pipelines.requirements.lexicon import signal
from pipelines.requirements.text import content_words
from pipelines.requirements.validation.conflicts import conflict, stand_of, topic_of
from pipelines.types import Encoder

PER_WORD = 24  # earlier requirements that are compared for a word, the latest
CONFLICT_ABOVE = 0.75  # similarity of what two are about, figures and negations aside
_OTHERWISE = re.compile(r"\d|n't\b|\b(?:no|not|never|none|nobody|rather|instead|only)\b", re.I)
WEAK_SHAPES = {"fragment", "state"}


@dataclass(frozen=True, slots=True)
class Deps:
    """What the steps need from outside."""

    encoder: Encoder | None
    min_keep: float
    min_keep_quoted: float
    min_usable: float
    merge: bool
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
    context = _context_of(state)
    for candidate in wishes(state["commitments"], state["sentences"]):
        likely = probability(KEEP, candidate.features)
        if likely < deps.min_keep:
            continue
        adds = candidate.wanted and kept and _only_adds(candidate, kept[-1])
        if adds and not _can_be_worded(candidate, context):
            kept[-1] = replace(kept[-1], details=(*kept[-1].details, candidate.text))
        else:
            kept.append(replace(candidate, keep=likely))
    return {"kept": kept}


def _only_adds(candidate: Commitment, previous: Commitment) -> bool:
    """A bare phrase right after a wish of the same message says more of that wish."""
    if not previous.wanted:
        return False
    same = candidate.sentence.message == previous.sentence.message
    weak = candidate.reading.cue is None and candidate.reading.shape in WEAK_SHAPES
    if candidate.question is not None and candidate.question is not previous.question:
        return False  # the answer to another question
    return same and weak and not signal("only").search(candidate.text)


def _context_of(state: ExtractionState) -> Context:
    said = tuple(state["sentences"])
    return Context(state["case"].domain, said, names_in(each.text for each in said))


def _can_be_worded(commitment: Commitment, context: Context) -> bool:
    phrases = wording.phrases_of(commitment, context)
    return not isinstance(phrases, Unworded) and not phrases[0].quoted


def word(state: ExtractionState, deps: Deps) -> ExtractionState:
    """Give each commitment its fields, where a reader is likely to keep the words."""
    drafts: list[Requirement] = []
    unworded: Counter[str] = Counter()
    # What was answered in other words is worded where those words cannot be.
    context = _context_of(state)
    outdated = [
        one.sentence.text.rstrip(" .!").lower() for one in state["kept"] if one.state == "corrected"
    ]
    for commitment in sorted(state["kept"], key=lambda one: one.in_other_words):
        if commitment.in_other_words and _is_worded(commitment, drafts, context):
            continue
        phrases = wording.phrases_of(commitment, context)
        if isinstance(phrases, Unworded):
            unworded[phrases.reason] += 1
            continue
        for phrase in phrases:
            reason = _left_out(phrase, commitment, context, deps)
            if reason == "hardly_usable":
                phrase = wording.quoted(commitment, context)
                reason = _left_out(phrase, commitment, context, deps)
            if phrase.quoted and any(old in phrase.action.lower() for old in outdated):
                reason = "corrected"
            if reason:
                unworded[reason] += 1
            else:
                drafts.append(wording.requirement_of(phrase, commitment, context))
    drafts.sort(key=lambda draft: draft["source_messages"])
    return {"drafts": drafts, "unworded": unworded}


def _is_worded(commitment: Commitment, drafts: Sequence[Requirement], context: Context) -> bool:
    """Whether a requirement rests on the answer to a proposal; a figure or a no is no yes to it."""
    answer = max(commitment.messages)
    whole = " ".join(each.text for each in context.said if each.message == answer)
    return bool(_OTHERWISE.search(whole)) or any(answer in one["source_messages"] for one in drafts)


def _left_out(phrase: Phrase, commitment: Commitment, context: Context, deps: Deps) -> str:
    """Why a wording is left out; empty if it stays. What is only quoted has a separate bar."""
    if phrase.quoted:
        if deps.min_keep_quoted == 1:
            return "only_quoted"
        vector = deps.encoder.encode([phrase.action])[0] if deps.encoder else ()
        chance = probability(LISTED, listed_features(phrase, commitment, context, vector))
        return "only_quoted" if chance < deps.min_keep_quoted else ""
    chance = probability(USABLE, usable_features(phrase, commitment, context))
    return "hardly_usable" if chance < deps.min_usable else ""


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
    if not odd or deps.encoder is None:
        return numbered
    vectors = deps.encoder.encode(topics)
    for at, to, why in sorted(odd):
        if float(vectors[at] @ vectors[to]) > CONFLICT_ABOVE:
            numbered[to]["rationale"] += f"; conflicts with {numbered[at]['id']}: {why}"
    return numbered


def merge(drafts: list[Requirement], deps: Deps) -> list[Requirement]:
    """Of two alike the first stays, or the one in built words, with the messages of both; two that
    conflict both stay."""
    if len(drafts) < 2 or deps.encoder is None:
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
            is_worded = drafts[twin]["quoted"] and not drafts[at]["quoted"]
            stays = drafts[at] if is_worded else drafts[twin]
            drafts[twin] = {**stays, "source_messages": sorted(sources)}
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
