"""The wishes of somebody who tells how something is chosen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pipelines.requirements.extraction import choices, criteria, discourse
from pipelines.requirements.extraction.clauses import split_condition
from pipelines.requirements.extraction.criteria_wording import key_of
from pipelines.requirements.extraction.features import criterion_features
from pipelines.requirements.extraction.state import (
    Commitment,
    Criterion,
    Reading,
    Source,
    Utterance,
)
from pipelines.requirements.text import strip_openers

ACTOR = "User"
_EXPLAINS = re.compile(r"^(?:basically|i mean|meaning|that is|that means|in that case)\b", re.I)
_CASE = re.compile(
    r"(?:if|when|whenever|unless) (?:i|i'm|we|we're|my|our|somebody|someone)\b"
    r"(?! (?:look|search|choose|pick|decide|think|want|need))",
    re.I,
)
_THEY = re.compile(r"\bthey\b(?!')", re.I)
_DOES = re.compile(
    r"\b(?:i|we)(?: \w+)? (?P<does>(?:search|check|look at|read|use|compare|ask) .+)$", re.I
)


def answered(turn: Sequence[Utterance], question: Utterance, noun: str) -> list[Commitment]:
    """What one message names in answer to how something is chosen; ``question``: all of it."""
    found: list[Commitment] = []
    for sentence in turn:
        if not sentence.question:
            _add(found, sentence, question, noun)
    return merged(found)


def _add(found: list[Commitment], sentence: Utterance, question: Utterance, noun: str) -> None:
    last = _last(found, sentence)
    if last and last.criterion and _told(sentence.text):
        found[-1] = replace(last, criterion=replace(last.criterion, told=_told(sentence.text)))
        return
    listing = last is not None and last.reading.cue is None
    bare = choices.asks_criteria(question) and (sentence.first or listing)
    listed = criteria.find(sentence.text, noun=noun, bare=bare)
    listed = [choices.with_person(one, question) for one in listed]
    for one in listed or _agreed(sentence, question, noun):
        _take(found, one, sentence, question)


def _last(found: list[Commitment], sentence: Utterance) -> Commitment | None:
    """The criterion named last in the same message."""
    return found[-1] if found and found[-1].sentence.message == sentence.message else None


def _told(text: str) -> str:
    """What the speaker does about the criterion just named: "Basically, I read the map"."""
    does = _DOES.search(text) if _EXPLAINS.match(text) else None
    return does["does"].rstrip(" .!") if does else ""


def _agreed(sentence: Utterance, question: Utterance | None, noun: str) -> list[Criterion]:
    """ "Do you care about the price?" "Yes.": the question names it."""
    topic = choices.topic_of(question)
    if not (topic and sentence.first and discourse.takes_up([sentence])):
        return []
    if choices.asks_experience(question):
        return []
    return [Criterion("", "pointing", noun, "find", None, criteria.BARE)]


def _take(
    found: list[Commitment], one: Criterion, sentence: Utterance, question: Utterance | None
) -> None:
    last = _last(found, sentence)
    if last and last.criterion and _says_more(one, last.criterion):
        found[-1] = _with_more(last, last.criterion, one)
    elif one.form != "pointing":
        found.append(_candidate(one, sentence, question, (Source(sentence.message, "stated"),)))
    elif last and last.criterion:
        stronger = max(one.strength, last.criterion.strength)
        again = replace(last.criterion, strength=stronger, told=one.told or last.criterion.told)
        found[-1] = replace(last, criterion=again)
    elif question and (topic := choices.topic_of(question)):
        listed = criteria.things(topic, one)
        only_yes = discourse.accepts([sentence])
        answer = Source(sentence.message, "accepted" if only_yes else "stated")
        sources = (Source(question.message, "proposed"), answer) if only_yes else (answer,)
        found += [_candidate(thing, sentence, question, sources) for thing in listed]


def _says_more(one: Criterion, last: Criterion) -> bool:
    """ "If it is too far, I leave it" and "what they complain about" are of the thing before."""
    judged = one.form == "quality" and one.cue == "if" and one.noun == last.noun
    return judged or (one.form == "question" and bool(_THEY.search(one.what)))


def _with_more(last: Commitment, named: Criterion, one: Criterion) -> Commitment:
    if one.form == "quality":
        return replace(last, details=(*last.details, _fits(one)))
    told = _THEY.sub(named.what, one.what, count=1)
    return replace(last, criterion=replace(named, told=told))


def _fits(one: Criterion) -> str:
    return f"{'Leave out' if one.negative else 'Offer'} a {one.noun} that is {one.what}"


def _candidate(
    one: Criterion, sentence: Utterance, question: Utterance | None, sources: tuple[Source, ...]
) -> Commitment:
    reading = Reading(
        subject="I",
        predicate=one.what,
        condition=_condition(sentence.text) if one.cue != "if" else None,
        shape="criterion",
        cue=one.cue,
        kind="value",
        strength=one.strength,
        priority="must" if one.must else "should",
        negative=one.negative,
    )
    return Commitment(
        sentence=sentence,
        text=strip_openers(sentence.text),
        reading=reading,
        question=question,
        sources=sources,
        actor=ACTOR,
        features=criterion_features(one, sentence=sentence, question=question),
        criterion=one,
    )


def _condition(text: str) -> str | None:
    """When it matters, where a case is named ("If I go alone, I …")."""
    condition = split_condition(strip_openers(text))[1]
    return condition if condition and _CASE.match(condition) else None


def merged(found: Sequence[Commitment]) -> list[Commitment]:
    """What was named twice stays once, with all of its messages."""
    stays: list[Commitment] = []
    for one in found:
        at = next((at for at, other in enumerate(stays) if same(one, other)), None)
        if at is None:
            stays.append(one)
        else:
            stays[at] = joined(stays[at], one)
    return stays


def same(one: Commitment, other: Commitment) -> bool:
    if one.criterion is None or other.criterion is None:
        return False
    key, known = key_of(one.criterion), key_of(other.criterion)
    return (
        bool(key)
        and bool(known)
        and key[-1] == known[-1]
        and (set(key) <= set(known) or set(known) <= set(key))
    )


def joined(one: Commitment, other: Commitment) -> Commitment:
    more = other.criterion and (other.criterion.told or other.criterion.verb == "choose")
    stays = other if more else one
    return replace(
        stays,
        sources=tuple(dict.fromkeys([*one.sources, *other.sources])),
        details=(*one.details, *other.details),
    )
