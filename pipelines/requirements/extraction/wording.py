"""The fields of a requirement, from a commitment: what is done, by whom, when, how it is tested."""

from __future__ import annotations

import re
from dataclasses import replace

from pipelines.requirements.extraction import measures, phrasing
from pipelines.requirements.extraction.actors import resolve
from pipelines.requirements.extraction.built import Said
from pipelines.requirements.extraction.features import MATCH, match_features, probability
from pipelines.requirements.extraction.phrasing import Phrase
from pipelines.requirements.extraction.pronouns import with_names
from pipelines.requirements.extraction.quoting import cut_short
from pipelines.requirements.extraction.state import (
    Commitment,
    Context,
    Reading,
    Unworded,
)
from pipelines.requirements.labels import Requirement
from pipelines.requirements.lexicon import signal, type_words
from pipelines.requirements.text import plain, upper_first

MOST_CRITERIA = 5
FUNCTIONAL = "functional"
# From general to special; when two fit equally well, the more special one is taken.
TYPES = (FUNCTIONAL, "non-functional", "interface", "data", "security", "constraint")
TYPE_ENOUGH = 4  # words of a type, by weight: a sure one never decides alone
_LED_UP_BY = re.compile(
    r"(?:^|[,.;:!?]\s+|\b(?:and|but|so|plus)\s+)(?P<words>(?:(?!(?:and|but|so|"
    r"plus)\b)[\w'-]+\s+){0,4})$",
    re.I,
)


_LIMITS = re.compile(
    r"\b(?:no|not|n't|none|nobody|only|just|never|always|at|up|more|less|fewer|all|each|every|any|"
    r"both|except|without)\b",
    re.I,
)
"""Words that a rule would be another rule without."""


def phrases_of(commitment: Commitment, context: Context) -> list[Phrase] | Unworded:
    """What the sentence says, which may be several things; or why nothing."""
    said = said_of(commitment, context)
    phrases = phrasing.phrased(said, asked_back=commitment.sentence.side == "client")
    if isinstance(phrases, str):
        return Unworded(phrases)
    return [_with_answer(phrase, commitment, context) for phrase in phrases]


def quoted(commitment: Commitment, context: Context) -> Phrase:
    """Word for word, in place of words that nobody would keep."""
    phrase = phrasing.quoted(said_of(commitment, context), "hardly_usable")
    return _with_answer(phrase, commitment, context)


def _with_answer(phrase: Phrase, commitment: Commitment, context: Context) -> Phrase:
    """A question that is quoted has its question mark, and the words that say yes to it."""
    asked, answer = commitment.sentence, max(commitment.messages)
    if not (phrase.quoted and asked.asked and asked.question and answer > asked.message):
        return phrase
    said = next((each.text for each in context.said if each.message == answer), "")
    question = phrase.action.strip("“”").rstrip(".?! ")
    return replace(phrase, action=f"“{question}?” – “{upper_first(cut_short(said))}”")


def said_of(commitment: Commitment, context: Context) -> Said:
    """The words of a commitment with the question and the sentence before them."""
    own = commitment.sentence
    earlier = [
        sentence.text
        for sentence in context.said
        if sentence.message == own.message and sentence.start < own.start
    ]
    text, led_up = commitment.text, ""
    full = plain(own.text)
    at = full.find(text)
    if at > 0:
        led_up = full[:at]
        # "no", "only" and "at least" may have gone as mere openers, but they are part of a rule
        found = _LED_UP_BY.search(led_up)
        limits = found and _LIMITS.search(found["words"])
        text = f"{found['words']}{text}" if found and limits else text
    question = commitment.question.text if commitment.question else ""
    led_up = re.sub(r"[\s,;]*(?:\b(?:and|but|so|plus)\b)?[\s,;]*$", "", led_up)
    before = led_up if len(led_up.split()) > 3 else (earlier[-1] if earlier else question)
    accepted = "acceptance" in commitment.acts and commitment.wanted
    return Said(text=text, question=question, before=before, accepted=accepted)


def requirement_of(phrase: Phrase, commitment: Commitment, context: Context) -> Requirement:
    own = commitment.sentence
    earlier = [
        one.text for one in context.said if (one.message, one.start) < (own.message, own.start)
    ]
    actor = resolve(phrase.subject, earlier=earlier)
    full = " ".join([commitment.text, phrase.action, *commitment.details])
    return {
        "title": phrase.title,
        "type": type_of(phrase.action),
        "actor": actor,
        "action": with_names(phrase.action, context.names),
        "quoted": phrase.quoted,
        "condition": upper_first(with_names(phrase.condition, context.names)) or None,
        "acceptance_criteria": criteria_of(commitment),
        "priority": priority_of(full, commitment.reading),
        "source_messages": list(commitment.messages),
        "rationale": rationale_of(commitment),
        "confidence": round(probability(MATCH, confidence_features(phrase, commitment)), 4),
        "wanted": round(commitment.keep, 4),
    }


def confidence_features(phrase: Phrase, commitment: Commitment) -> dict[str, float]:
    return match_features(commitment, quoted=phrase.quoted)


def rationale_of(commitment: Commitment) -> str:
    where = commitment.sentence.message
    reading = commitment.reading
    if commitment.sentence.asked:
        return f"Proposed in message {where} and accepted in message {max(commitment.messages)}"
    if reading.cue:
        return f"Stated with “{reading.cue}” in message {where}"
    if commitment.question:
        return f"Answer in message {where} to the question in message {commitment.question.message}"
    return (
        f"Stated as {'an order' if reading.shape == 'imperative' else 'a rule'} in message {where}"
    )


def criteria_of(commitment: Commitment) -> list[str]:
    """Checks from the amounts, times and formats that were said, if any."""
    said = " ".join([commitment.text, *commitment.details])
    drafted = [upper_first(plain(one)).rstrip(".!") for one in commitment.details if _measures(one)]
    drafted += [*measures.amounts(said), *measures.times(said), *measures.formats(said)]
    return list(dict.fromkeys(drafted))[:MOST_CRITERIA]


def _measures(detail: str) -> bool:
    """Whether a further sentence says something that can be tested."""
    found = [*measures.amounts(detail), *measures.times(detail), *measures.formats(detail)]
    return bool(found) or signal("only").search(detail) is not None


def type_of(text: str) -> str:
    scores = {kind: _type_score(kind, text) for kind in TYPES[1:]}
    best = max(TYPES[1:], key=lambda kind: (scores[kind], TYPES.index(kind)))
    return best if scores[best] >= TYPE_ENOUGH else FUNCTIONAL


def _type_score(kind: str, text: str) -> int:
    return sum(
        weight * len({match.lower() for match in pattern.findall(text)})
        for weight, pattern in type_words()[kind]
    )


def priority_of(text: str, reading: Reading) -> str:
    """What the speaker says outright counts more than the modal verb."""
    if reading.priority == "could" or signal("could").search(text):
        return "could"
    if reading.priority == "must" or signal("must").search(text) or signal("only").search(text):
        return "must"
    return "should"
