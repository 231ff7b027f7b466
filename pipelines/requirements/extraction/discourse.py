"""Who answers whom: questions and answers, proposals taken up, wishes taken back."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from pipelines.requirements.extraction.clauses import asks_for_yes, find_cue
from pipelines.requirements.extraction.state import Commitment, Utterance
from pipelines.requirements.lexicon import roles, signal, words
from pipelines.requirements.text import content_words, plain, spans, strip_openers, tokens
from pipelines.types import Message

RECAP_OVERLAP = 0.6
WITHDRAW_OVERLAP = 0.3
SHORT_OFFER = 8  # words, as in "The last five visits?"
_ASKS_OPENLY = re.compile(
    r"(?:what|how|who|where|when|why|which|is|are|isn't|aren't|did|was|do|does)\b", re.I
)
_OFFERS = re.compile(r"do (?:you|they|we) (?:want|need)|what (?:about|if)|how about", re.I)
_POINTS_BACK = re.compile(r"\b(?:that|it|this|those|them|what i said)\b", re.I)


def read_sentences(messages: Sequence[Message]) -> list[Utterance]:
    found: list[Utterance] = []
    for message in messages:
        role = message.role.strip().lower()
        if role in roles("silent"):
            continue
        found += [
            Utterance(
                message=message.index,
                text=span.text,
                side="analyst" if role in roles("asking") else "client",
                question=span.text.rstrip("\"') ").endswith("?"),
                first=at == 0,
                start=span.start,
                end=span.end,
                speaker=message.speaker,
            )
            for at, span in enumerate(spans(message.content))
        ]
    return found


def question_before(spoken: Sequence[Utterance], sentence: Utterance) -> Utterance | None:
    """What the speaker was asked: the last sentence of the other side just before this message."""
    at = bisect_left(spoken, sentence.message, key=_message)
    if not at or not spoken[at - 1].asked:
        return None
    asked = _of_message(spoken, spoken[at - 1].message)
    return next((one for one in reversed(asked) if one.question), asked[-1])


def answer_after(spoken: Sequence[Utterance], asked: Utterance) -> list[Utterance]:
    """The next message, if it comes from the side with wishes."""
    at = bisect_right(spoken, asked.message, key=_message)
    if at == len(spoken) or spoken[at].asked:
        return []
    return _of_message(spoken, spoken[at].message)


def _of_message(spoken: Sequence[Utterance], message: int) -> list[Utterance]:
    """The sentences are in the order of their messages."""
    start = bisect_left(spoken, message, key=_message)
    return list(spoken[start : bisect_right(spoken, message, key=_message)])


def _message(sentence: Utterance) -> int:
    return sentence.message


def accepts(answer: Sequence[Utterance]) -> bool:
    """The answer says yes and puts no wording of its own in the proposal's place."""
    if not answer or not signal("accept").match(answer[0].text):
        return False
    return bool(signal("bare").match(answer[0].text)) or len(tokens(own_words(answer[0].text))) <= 2


def takes_up(answer: Sequence[Utterance]) -> bool:
    """The answer begins with yes, whatever follows."""
    return bool(answer) and bool(signal("accept").match(answer[0].text))


def own_words(text: str) -> str:
    """An answer without its yes or no."""
    rest = text
    for name in ("accept", "refuse"):
        rest = signal(name).sub("", rest, count=1) if signal(name).match(rest) else rest
    return strip_openers(plain(rest).lstrip(" ,.!-"))


def proposes(sentence: Utterance) -> bool:
    """An analyst puts something forward: a requirement in full, or a yes-or-no question."""
    cue = find_cue(sentence.text)
    if not sentence.question:
        return cue is not None and cue.cue.strength >= 0.8
    if signal("now").search(sentence.text) or signal("existing").search(sentence.text):
        return False
    text = strip_openers(sentence.text)
    if _ASKS_OPENLY.match(text):
        return _OFFERS.match(text) is not None
    return asks_for_yes(text) or len(tokens(text)) <= SHORT_OFFER


def is_recap(text: str, earlier: Iterable[Utterance]) -> bool:
    """It repeats what was said before."""
    about = content_words(text)
    said = set().union(*(content_words(one.text) for one in earlier))
    return bool(about) and len(about & said) / len(about) >= RECAP_OVERLAP


def withdrawn_by(sentence: Utterance, candidates: Sequence[Commitment]) -> list[Commitment]:
    """The wishes that a sentence takes back: the ones it names, else the one just before."""
    earlier = [one for one in candidates if max(one.messages) <= sentence.message]
    earlier = [one for one in earlier if one.sentence is not sentence]
    said = signal("withdraw").search(sentence.text)
    if said is None or not earlier:
        return []
    about = _named_in(sentence.text)
    named = [one for one in earlier if _overlap(about, one) >= WITHDRAW_OVERLAP]
    if named:
        return named
    if any(one.criterion and one.sentence is sentence for one in candidates):
        return []  # "a gym would be nice, but I can do without it" speaks of its own wish
    return earlier[-1:] if _POINTS_BACK.search(sentence.text) and len(about) <= 4 else []


def _overlap(about: set[str], candidate: Commitment) -> float:
    wanted = _named_in(candidate.text)
    return len(about & wanted) / max(1, min(len(about), len(wanted)))


def _named_in(text: str) -> set[str]:
    """What a text is about, without the words that take back ("park it", but not "parking")."""
    kept = [word for word in tokens(text) if word.lower() not in words("taking_back")]
    return content_words(" ".join(kept))
