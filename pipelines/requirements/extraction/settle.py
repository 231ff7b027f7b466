"""What was put forward in a talk, and how each of it stands at its end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from pipelines.requirements.extraction import plain_words, shapes
from pipelines.requirements.extraction.shapes import Worded
from pipelines.requirements.extraction.state import (
    Commitment,
    Decision,
    Ending,
    Kind,
    OpenQuestion,
    Outcome,
    Standing,
    Utterance,
)
from pipelines.requirements.extraction.turns import turns
from pipelines.requirements.lexicon import words
from pipelines.requirements.text import content_words, overlap, tokens
from pipelines.types import Encoder

ACCEPTED, REFUSED, UNDECIDED = 0.5, 0.5, 0.5
"""From where an answer accepts or refuses an offer, or leaves its question open."""
AGAINST = 0.3
"""How surely a sentence refuses an offer to which a short answer adds nothing."""
LEAST_ACCEPTED = 0.2
"""An offer that an answer accepts less surely is not put out, whatever speaks for it."""
UNDOES, ABOUT, SURELY = 0.35, 0.3, 0.17
"""How likely a sentence takes something back, how much it has to do with what it takes back, and
from which product of the two on that is sure."""
LEAST_OFFERED = 3
LEAST_TOLD = 4
"""Words of an answer that says more than that one heard."""
_OF_TODAY = re.compile(
    r"\b(?:today|at the moment|currently|right now|so far|these days|a typical|"
    r"walk (?:me|us) through|how (?:are|is) (?:you|it|things)|"
    r"how do(?:es)? (?:you|it|they|that|the \w+) (?:\w+ )?work)\b",
    re.I,
)
"""It asks how things are: habits that are told then are no wishes."""
_POINTS_BACK = re.compile(
    r"(?:is|does|would|did|do) (?:this|that|it|i|you|we)\b.{0,30}\b(?:right|correct|ok|okay|so|"
    r"complete|match|fit|agree|understand\w*|work|fine)\b|"
    r"(?:right|correct|agreed|okay|ok|yes|fair|true)\?",
    re.I,
)
_NO = re.compile(
    r"(?:god |please |oh |hell |um+,? |well,? )?(?:no|nope|nah|nup|never)\b"
    r"(?! (?:problem|doubt|more|less|later|question|brainer|objection|harm|one))(?!-)",
    re.I,
)
_YES = re.compile(
    r"(?:oh |well,? |ah,? )?(?:yes|yeah|yep|yup|sure|of course|absolutely|exactly|please do|"
    r"definitely|correct)\b(?!.*\b(?:no|not|don't|won't|but)\b)",
    re.I,
)
_CANNOT = re.compile(
    r"\b(?:i|we|you|they|he|she|people|nobody|customers|users|drivers|staff) (?:still )?"
    r"(?:can't|cannot|can not|couldn't)\b(?! be\b)|^nobody can\b(?! be\b)",
    re.I,
)
_RULES = re.compile(
    r"\b(?:should|must|shall|may|rules?|allow\w*|want|need\w*|only|never|can|could|would|will|who)\b",
    re.I,
)
SURE_YES, SAID_YES, SAID_UNDO = 0.5, 0.6, 0.6
_TAKES_BACK = re.compile(
    r"(?:\b(?:and|but|oh|wait|no|sorry|actually|hm+|so|then|on second thoughts?|please|just)\b"
    r"[,.:;!…–-]* *)*(?:forget|scrap|strike|drop|cross)(?: about)? (?:the|that|it|this|those|my)\b|"
    r".*\b(?:(?:no|not|don't|without)\b.*\bafter all|after all\b.*\b(?:no|not|don't|without)|"
    r"(?:i|we)(?:'ve| have)? changed (?:my|our) minds?|(?:i|we|i'll) take (?:that|it|this) back|"
    r"scratch (?:that|what|it)|forget (?:that|it|what i said))\b",
    re.I,
)
"""It says that something said before no longer holds."""
_LEAVES_OUT = re.compile(r"\b(?:leave|drop|skip|forget|omit|strike|without)\b", re.I)
_FIGURE = re.compile(
    r"(?<![\w.,])(?:\d+(?:[.,:]\d+)*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"fifteen|twenty|thirty|forty|fifty|sixty|ninety|hundred)(?![\w%])",
    re.I,
)
_NOT_THAT = re.compile(rf"\bnot\s+{_FIGURE.pattern}", re.I)


class Settled(NamedTuple):
    commitments: list[Commitment]
    open_questions: list[OpenQuestion]
    decisions: list[Decision]


def settled(spoken: Sequence[Utterance], encoder: Encoder) -> Settled:
    """``spoken`` has its marks."""
    commitments: list[Commitment] = []
    decisions: list[Decision] = []
    left_open: list[OpenQuestion] = []
    of_talk = turns(spoken)
    for asked, turn in zip([(), *of_talk], [*of_talk, ()], strict=True):
        if asked and asked[0].side == "analyst":
            for offer in offers(asked, turn):
                commitments.append(offer)
                decisions += _decided(offer)
            left_open += _left_open(asked, turn)
        if turn and turn[0].side == "client":
            commitments += own(turn)
    commitments = taken_back(commitments, spoken, encoder)
    decisions += [
        Decision(each.text, "changed" if each.wanted else "withdrawn", _words(each, spoken))
        for each in commitments
        if each.state in {"corrected", "withdrawn"}
    ]
    decisions.sort(key=lambda each: each.answer.place)
    return Settled(commitments, left_open, decisions)


def _words(commitment: Commitment, spoken: Sequence[Utterance]) -> Utterance:
    ending = commitment.ended_by
    said = (each for each in spoken if ending and each.message == ending.message)
    return next((one for one in said if ending and one.text == ending.words), commitment.sentence)


# --- the analyst's offers -----------------------------------------------------------------------


def offers(asked: Sequence[Utterance], answer: Sequence[Utterance]) -> Iterator[Commitment]:
    """What the analyst put forward, each with how likely the whole answer accepts it."""
    last = asked[-1]
    points_back = last.question and _POINTS_BACK.match(last.text)
    accepted = acceptance(answer)
    for each in asked:
        if shapes.about_the_talk(each.text) or len(tokens(each.text)) < LEAST_OFFERED:
            continue
        proposed = each.question and not shapes.is_open(each.text)
        told = not each.question and (each.at == each.of - 1 or points_back or len(asked) > 1)
        if not (proposed or told) or (each is last and points_back):
            continue
        worded = shapes.of_offer(each.text)
        if worded is None:
            shape = shapes.ASKED if each.question else shapes.TOLD
            worded = Worded(shapes.sentence(shapes.tidy(each.text)), shape)
        limit = max(answer, key=lambda one: one.mark("yes"), default=None)
        if limit and proposed:
            worded = shapes.with_limit(worded, limit.text)
        yield Commitment(
            kind="offer" if proposed else "summary",
            sentence=each,
            text=worded.text,
            shape=worded.shape,
            messages=tuple(dict.fromkeys((each.message, *(one.message for one in answer[:1])))),
            answer=tuple(answer),
            accepted=0.0 if _LEAVES_OUT.search(each.text) else accepted,
            state=_standing(accepted, answer),
            ended_by=_refusal(answer) if _standing(accepted, answer) == "refused" else None,
        )


def acceptance(answer: Sequence[Utterance]) -> float:
    """From its first sentence to its last, each may accept, or end what was accepted."""
    likely = 0.0
    if answer and _NO.match(answer[0].text):
        answer = [each for each in answer[1:] if each.mark("yes") >= SURE_YES]
    elif answer and _YES.match(answer[0].text):
        likely = SAID_YES
    for each in answer:
        ends = each.mark("no", "later", "undo") + 0.5 * each.mark("maybe")
        likely = likely * (1 - ends) + (1 - likely) * each.mark("yes")
    return likely


def _standing(accepted: float, answer: Sequence[Utterance]) -> Standing:
    if accepted >= ACCEPTED:
        return "standing"
    refused = max((each.mark("no", "later") for each in answer), default=0.0)
    return "refused" if refused >= REFUSED else "open"


def _refusal(answer: Sequence[Utterance]) -> Ending:
    said = max(answer, key=lambda each: each.mark("no", "later"))
    return Ending(said.message, said.text)


def _decided(offer: Commitment) -> Iterator[Decision]:
    if offer.kind == "offer" and offer.state in {"standing", "refused"}:
        mark = ("yes",) if offer.state == "standing" else ("no", "later")
        answer = max(offer.answer, key=lambda each: each.mark(*mark))
        outcome: Outcome = "accepted" if offer.state == "standing" else "refused"
        yield Decision(offer.sentence.text.rstrip("?! "), outcome, answer, offer.sentence)


def _left_open(asked: Sequence[Utterance], answer: Sequence[Utterance]) -> Iterator[OpenQuestion]:
    open_ones = [one for one in asked if one.question and not shapes.about_the_talk(one.text)]
    if not answer:
        yield from (OpenQuestion(each, "unanswered") for each in open_ones)
    if not answer or not open_ones:
        return
    unsure = max(answer, key=lambda each: each.mark("maybe"))
    if unsure.mark("maybe") >= UNDECIDED and acceptance(answer) < ACCEPTED:
        yield OpenQuestion(open_ones[-1], "undecided", unsure)


# --- the client's own sentences -----------------------------------------------------------------


def own(turn: Sequence[Utterance]) -> Iterator[Commitment]:
    for each in turn:
        if all(word.lower() in words("openers") for word in tokens(each.text)):
            continue
        if _as_it_is(each) or shapes.about_the_talk(each.text):
            continue
        question = each.asked.text if each.asked else ""
        if shapes.about_the_talk(question) and len(tokens(each.text)) <= LEAST_TOLD:
            continue
        put = None if _OF_TODAY.search(question) else plain_words.of_own(each.text, question)
        if put:
            yield Commitment(
                kind="own",
                sentence=each,
                text=f"{put.text.rstrip('.')}.",
                shape=shapes.FIRST,
                messages=(each.message,),
                answer=(each,),
                who=put.who,
                condition=put.condition,
            )
            continue
        worded = shapes.of_statement(each.text, question)
        messages: tuple[int, ...] = (each.message,)
        kind: Kind = "own"
        if each.asked and each.asked.question and shapes.is_fragment(each.text):
            joined = shapes.of_answer(each.text, each.asked.text)
            against = max(one.mark("no", "later") for one in turn)
            least = min(REFUSED, max(AGAINST, each.mark("want", "yes")))
            refused = joined and joined.shape == "limit" and against >= least
            if joined and not refused and not shapes.about_the_talk(each.asked.text):
                worded, kind = joined, "answer"
                messages = (each.asked.message, each.message)
        yield Commitment(kind, each, worded.text, worded.shape, messages, (each,))


def _as_it_is(each: Utterance) -> bool:
    """What people cannot do today is a complaint; where rules are asked for it is a ban."""
    return bool(
        _CANNOT.search(each.text)
        and not _RULES.search(_CANNOT.sub("", each.text))
        and not (each.asked and _RULES.search(each.asked.text))
    )


# --- what is taken back or changed --------------------------------------------------------------


def taken_back(
    commitments: Sequence[Commitment], spoken: Sequence[Utterance], encoder: Encoder
) -> list[Commitment]:
    """Each sentence that takes something back ends or changes what it is most about."""
    found = list(commitments)
    undoing = [each for each in spoken if _undoes(each) >= UNDOES]
    if not undoing or not found:
        return found
    said = encoder.encode([each.text for each in found])
    for each, vector in zip(undoing, encoder.encode([u.text for u in undoing]), strict=True):
        about = [
            _about(one, each, float(own_vector @ vector))
            for one, own_vector in zip(found, said, strict=True)
        ]
        best = max(range(len(found)), key=lambda at: (about[at], found[at].sentence.place))
        if about[best] >= ABOUT:
            found[best] = _ended(found[best], each, about[best])
    # … and asks for nothing itself, if it says so.
    ending = {(one.ended_by.message, one.ended_by.words) for one in found if one.ended_by}
    return [
        one
        for one in found
        if (one.sentence.message, one.sentence.text) not in ending
        or not _TAKES_BACK.match(one.sentence.text)
    ]


def _undoes(said: Utterance) -> float:
    says = said.side == "client" and _TAKES_BACK.match(said.text)
    return max(said.mark("undo"), SAID_UNDO) if says else said.mark("undo")


def _about(earlier: Commitment, undoing: Utterance, alike: float) -> float:
    """How much it has to do with what was said before; nothing with what comes later."""
    if earlier.sentence.place >= undoing.place or not earlier.wanted:
        return 0.0
    common = overlap(content_words(undoing.text), content_words(earlier.text))
    return max(alike, 0.0) * 0.6 + 0.4 * common


def _ended(earlier: Commitment, undoing: Utterance, about: float) -> Commitment:
    text = amended(earlier.text, undoing.text)
    ending = Ending(undoing.message, undoing.text)
    if text:
        messages = tuple(sorted({*earlier.messages, undoing.message}))
        return replace(earlier, text=text, state="corrected", messages=messages, ended_by=ending)
    undone = max(earlier.undone, about * _undoes(undoing))
    if undone >= SURELY:
        return replace(earlier, undone=undone, state="withdrawn", ended_by=ending)
    return replace(earlier, undone=undone)


def amended(text: str, correction: str) -> str | None:
    """With its one figure exchanged for the one of the correction.

    Examples
    --------
    >>> amended("The system should wait ten minutes.", "No, make that five.")
    'The system should wait five minutes.'
    """
    new = _FIGURE.findall(_NOT_THAT.sub("", correction).lower())
    old = _FIGURE.findall(text.lower())
    if len(new) == 2 and len(old) == 1 and old[0] in new:  # "no, ten is long, make it five"
        new.remove(old[0])
    if len(new) == len(old) == 1 and new != old:
        return _FIGURE.sub(lambda _: new[0], text)
    return None
