"""What speaks for and against a finished wording: would a reader keep it as it stands? And of a
quotation: would a reader list what it says?

Few features, because few verdicts teach them: with thirty the model told usable wordings from
others no better than chance in talks of a kind that it had not read. What a sentence means helps
with quotations, whose words are as they were said, and does not help with what was worded.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

from pipelines.requirements.extraction.nounphrases import is_pronoun
from pipelines.requirements.extraction.phrasing import Phrase
from pipelines.requirements.extraction.state import Commitment, Context, Reading, Utterance
from pipelines.requirements.lexicon import signal
from pipelines.requirements.text import tokens

USABLE = "usable"
USABLE_NAMES = (
    "wanted", "accepted", "plain statement", "asked how it is", "in its own words", "short",
    "weaknesses",
)  # fmt: skip
LISTED = "listed"
DIMENSIONS = 384  # of the vector of a sentence
_MEANING = tuple(f"meaning {at}" for at in range(DIMENSIONS))
LISTED_NAMES = (*USABLE_NAMES, "quoted", "asked", *_MEANING)
LONG = 24  # words
MOST_BEFORE = 60  # sentences that are looked at for what was asked
_VAGUE = re.compile(
    r"\b(?:things?|something|anything|stuff|everything|everybody|somebody|someone|certain|some|"
    r"a lot|much|this|that way|so|here|there|good|nice|great|like)\b",
    re.I,
)
_POINTS = re.compile(r"\b(?:it|its|this|these|those|he|she|his|her|him)\b", re.I)
_THEY = re.compile(r"\b(?:they|them|their)\b", re.I)
_USER = re.compile(r"\bthe user\b", re.I)
_LOOSE_END = re.compile(
    r"\b(?:then|too|also|now|again|so|not|all|both|just|later|and|anymore|first|already|in|on|up|"
    r"it|them|this|there|of|about)$",
    re.I,
)
_CLAUSE = re.compile(
    r"\b(?:and|but|or|so|because|where|when|if|which)(?:,| then)? (?:the \w+|it|they|he|she|there|"
    r"nobody|somebody|everybody|people) \w+",
    re.I,
)


def usable_features(phrase: Phrase, commitment: Commitment, context: Context) -> dict[str, float]:
    reading = commitment.reading
    stands = "acceptance" in commitment.acts
    plain = reading.cue is None and reading.shape in {"fragment", "state", "present"}
    return {
        "wanted": commitment.keep,
        "plain statement": float(plain and not stands),
        "asked how it is": float(not stands and _tells(commitment, context)),
        "weaknesses": float(_weaknesses(phrase, commitment)),
        "accepted": float("acceptance" in commitment.acts),
        "in its own words": float(phrase.action.startswith("Ensure that ")),
        "short": 0.0 if _is_rule(reading) else _shortness(phrase.action),
    }


def listed_features(
    phrase: Phrase, commitment: Commitment, context: Context, vector: Iterable[float]
) -> dict[str, float]:
    """``vector`` is that of the words of the phrase."""
    meaning = zip(_MEANING, map(float, vector), strict=False)
    own = usable_features(phrase, commitment, context)
    own |= {"quoted": float(phrase.quoted), "asked": float(commitment.sentence.question)}
    return own | dict(meaning)


def _is_rule(reading: Reading) -> bool:
    """ "Passwords must be encrypted" is short and says it all."""
    named = reading.subject and not is_pronoun(reading.subject)
    return bool(named) and reading.kind == "obligation"


def _shortness(action: str) -> float:
    return {1: 1.0, 2: 1.0, 3: 0.5}.get(len(tokens(action)), 0.0)


def _weaknesses(phrase: Phrase, commitment: Commitment) -> int:
    action, whole = phrase.action, f"{phrase.action} {phrase.condition}"
    someone = phrase.subject and not is_pronoun(phrase.subject)  # "track their orders"
    of_user = someone or _USER.search(whole)
    return sum(
        map(
            bool,
            (
                _VAGUE.search(action),
                _POINTS.search(whole) or (_THEY.search(whole) and not of_user),
                len(_USER.findall(whole)) > 1,
                _LOOSE_END.search(action),
                _CLAUSE.search(action),
                len(tokens(action)) > LONG,
                commitment.features.get("speaks of self"),
            ),
        )
    )


def _tells(commitment: Commitment, context: Context) -> bool:
    """All that was asked just before is how things are, or what somebody has met with."""
    asked = _asked_before(commitment.sentence, context)
    questions = [each for each in asked if each.question] or asked
    return bool(questions) and all(signal("now").search(each.text) for each in questions)


def _asked_before(sentence: Utterance, context: Context) -> list[Utterance]:
    """What the analyst said last before the message of a sentence."""
    at = bisect_left(context.said, (sentence.message, -1), key=lambda each: each.place)
    asked: list[Utterance] = []
    for each in reversed(context.said[max(0, at - MOST_BEFORE) : at]):
        if each.asked and (not asked or each.message == asked[-1].message):
            asked.append(each)
        elif asked:
            break
    return asked
