"""The steps of extraction. A step reads the state and returns only what it adds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

from pipelines.requirements.extraction import (
    choices,
    choosing,
    corrections,
    discourse,
    wording,
)
from pipelines.requirements.extraction.clauses import as_statement, clauses, read
from pipelines.requirements.extraction.features import (
    KEEP,
    MATCH,
    features,
    match_features,
    probability,
)
from pipelines.requirements.extraction.state import Candidate, ExtractionState, Sentence
from pipelines.requirements.labels import Requirement, text_of
from pipelines.requirements.lexicon import signal
from pipelines.requirements.text import content_words, plain, strip_openers, tokens, upper_first
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


def detect(state: ExtractionState) -> ExtractionState:
    """Every clause of somebody with wishes, and every proposal that was taken up."""
    spoken = state["sentences"]
    noun = choices.chosen(state["case"], spoken)
    if noun:
        return {"candidates": choosing.candidates(state["case"], spoken, noun)}
    found: list[Candidate] = []
    for sentence in spoken:
        if sentence.asked:
            found += _proposal(sentence, spoken)
        else:
            found += _statements(sentence, spoken)
    return {"candidates": found}


def _statements(sentence: Sentence, spoken: list[Sentence]) -> list[Candidate]:
    question = discourse.question_before(spoken, sentence)
    parts = [part for part in clauses(sentence.text) if tokens(part)]
    found = [
        _candidate(part, sentence, question, sources=_sources(sentence, question), first=at == 0)
        for at, part in enumerate(parts)
        if not signal("bare").match(plain(part))
    ]
    taking_back = bool(signal("withdraw").search(sentence.text))
    return [
        one
        for one in found
        if content_words(one.reading.predicate) and (one.reading.cue or not taking_back)
    ]


def _sources(sentence: Sentence, question: Sentence | None) -> tuple[int, ...]:
    """An answer that begins with yes leans on what was put forward before it."""
    taken = sentence.first and discourse.takes_up([sentence])
    if question and taken and not question.question and discourse.proposes(question):
        return (question.message, sentence.message)
    return (sentence.message,)


def _candidate(
    text: str,
    sentence: Sentence,
    question: Sentence | None,
    *,
    sources: tuple[int, ...],
    first: bool,
) -> Candidate:
    said = discourse.own_words(text) if first and sentence.first else text
    reading = read(said or text)
    place = sentence if first else replace(sentence, first=False)
    return Candidate(
        sentence=sentence,
        text=strip_openers(said or text),
        reading=reading,
        question=question if place.first else None,
        sources=sources,
        features=features(text, reading, sentence=place, question=question),
    )


def _proposal(asked: Sentence, spoken: list[Sentence]) -> list[Candidate]:
    answer = discourse.answer_after(spoken, asked)
    if not (discourse.accepts(answer) and discourse.proposes(asked)):
        return []
    earlier = [one for one in spoken if one.message < asked.message]
    if discourse.is_recap(asked.text, earlier):
        return []
    reading = read(as_statement(asked.text) if asked.question else asked.text)
    return [
        Candidate(
            sentence=asked,
            text=strip_openers(asked.text),
            reading=reading,
            question=None,
            sources=(asked.message, answer[0].message),
            features=features(asked.text, reading, sentence=asked, question=None, proposal=True)
            | {"asks back": 0.0},
        )
    ]


def settle(state: ExtractionState) -> ExtractionState:
    """Leave out what is taken back later, and put right what is corrected."""
    candidates = state["candidates"]
    gone: set[int] = set()
    for sentence in state["sentences"]:
        if not sentence.asked:
            gone |= {id(one) for one in discourse.withdrawn_by(sentence, candidates)}
    standing = [one for one in candidates if id(one) not in gone]
    return {"standing": corrections.corrected(state["sentences"], standing)}


def select(state: ExtractionState, deps: Deps) -> ExtractionState:
    """Keep what the model takes for a requirement; fold mere additions into what they add to."""
    kept: list[Candidate] = []
    for candidate in state["standing"]:
        likely = probability(KEEP, candidate.features)
        if likely < deps.min_keep:
            continue
        if kept and candidate.criterion is None and _only_adds(candidate, kept[-1]):
            kept[-1] = replace(kept[-1], details=(*kept[-1].details, candidate.text))
        else:
            kept.append(replace(candidate, keep=likely))
    return {"kept": kept}


def _only_adds(candidate: Candidate, previous: Candidate) -> bool:
    """A bare phrase right after a wish of the same message says more of that wish."""
    same = candidate.sentence.message == previous.sentence.message
    weak = candidate.reading.cue is None and candidate.reading.shape in WEAK_SHAPES
    return same and weak and not signal("only").search(candidate.text)


def word(state: ExtractionState) -> ExtractionState:
    """Give each candidate its fields."""
    drafts: list[Requirement] = []
    before = ""
    for candidate in state["kept"]:
        drafts.append(_draft(candidate, state["sentences"], before))
        before = drafts[-1]["action"]
    return {"drafts": drafts}


def _draft(candidate: Candidate, said: list[Sentence], previous: str) -> Requirement:
    before = [one.text for one in said if one.message <= max(candidate.sources)]
    actor = wording.actor_of(candidate, before[: _upto(candidate, said)])
    action = wording.with_object(wording.action_of(candidate), previous)
    full = " ".join([candidate.text, action, *candidate.details])
    return {
        "title": wording.title_of(candidate, action),
        # Whatever somebody chooses by is something that can be searched for: a function.
        "type": wording.FUNCTIONAL if candidate.criterion else wording.type_of(full),
        "actor": actor,
        "action": action,
        "condition": upper_first(candidate.reading.condition or "") or None,
        "acceptance_criteria": wording.criteria_of(candidate, actor=actor, action=action),
        "priority": wording.priority_of(full, candidate.reading),
        "source_messages": sorted(set(candidate.sources)),
        "rationale": _rationale(candidate),
        "confidence": round(probability(MATCH, match_features(candidate)), 4),
    }


def _upto(candidate: Candidate, said: list[Sentence]) -> int:
    """How many sentences were spoken before the candidate's own one."""
    return next((at for at, one in enumerate(said) if one is candidate.sentence), len(said))


def _rationale(candidate: Candidate) -> str:
    where = candidate.sentence.message
    reading = candidate.reading
    if candidate.sentence.asked:
        return f"Proposed in message {where} and accepted in message {max(candidate.sources)}"
    if reading.cue:
        return f"Stated with “{reading.cue}” in message {where}"
    if candidate.question:
        return f"Answer in message {where} to the question in message {candidate.question.message}"
    return (
        f"Stated as {'an order' if reading.shape == 'imperative' else 'a rule'} in message {where}"
    )


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
