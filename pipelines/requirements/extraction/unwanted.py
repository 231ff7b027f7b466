"""What is no wish: refused, taken back, only complained about, a courtesy, talk about the talk."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipelines.requirements.extraction import acts
from pipelines.requirements.extraction.built import Said
from pipelines.requirements.extraction.complaints import AFTER_TROUBLE, complains
from pipelines.requirements.extraction.overlaps import share
from pipelines.requirements.extraction.speech import clean
from pipelines.requirements.extraction.state import Commitment, Utterance
from pipelines.requirements.lexicon import signal
from pipelines.requirements.text import content_words

_TURNED = re.compile(
    r"\b(?:no,? wait|actually,? no|forget|scrap|no longer|not (?:needed|necessary|now)|hopeless|"
    r"let's not|against|dropped?|leave (?:it|them|that|this)|whatever|never mind|skip (?:it|that)|"
    r"(?:do not|don't|dont|doesn't) (?:want|need|care|like|allow)|abolish\w*|hate|would quit)\b",
    re.I,
)
_NEGATIVE = re.compile(r"\b(?:no|not|never|nobody|but|cannot|against)\b|n't\b", re.I)
_CANNOT = re.compile(
    r"\b(?:can't|cannot|can not|cant|couldn't|(?:is|are|am|was|were)(?:n't| not) able to|unable)\b"
    r"(?! (?:be|have)\b)",
    re.I,
)
_TODAY = re.compile(
    r"\b(?:at the moment|currently|nowadays|today|these days|right now|so far|until now|usually|"
    r"(?:had|used) to|by hand)\b",
    re.I,
)
_SAYS_HOW = re.compile(
    r"\b(?:must|should|shall|has to|have to|needs?|wants?|would like|i'd|we'd|only|at most|"
    r"at least|prefer|may|allowed|be able to|please|enough|at the end|"
    r"would (?:be (?:nice|good|great|useful|helpful|perfect|handy)|help))\b",
    re.I,
)
_ORDERS = re.compile(
    r"(?:(?:and|but|so|then|also|just|yes|please),? )*"
    r"(?:make|let|keep|add|put|show|send|use|allow|mark|set)\b(?! me\b)",
    re.I,
)
_LIMITS = re.compile(
    r"\W*(?:only|just|up to|at most|at least|within|until|by|for|at|after|before|once|twice|every|"
    r"per|\d|(?:one|two|three|four|five|six|ten) )",
    re.I,
)
_CODE = re.compile(
    r"\b(?:SELECT|INSERT|UPDATE|DELETE)\b.*\b(?:FROM|INTO|SET|WHERE)\b|[{}]|==|=['\"]|\w\(\)|"
    r"<\w+[^<>]*>.*</\w+>"
)
_TALK = re.compile(
    r"\b(?:(?:send|e-?mail|draw|write|type|share) (?:you|me|us|this|it|up|my|the|a)(?: \w+)? ?"
    r"(?:up|notes|minutes|summary|slides|sketch(?:es)?|mock-?ups?|screen|invite|link|recording)|"
    r"(?:hear|see) (?:me|you|us|my screen)|"
    r"(?:are|am|is|were) (?:you|i|it) (?:audible|muted|recording)|"
    r"record (?:this|the|our) (?:call|talk|meeting|conversation|interview|session)|"
    r"(?:call it a day|wrap (?:it|this)? ?up|stop here|take a break)|"
    r"(?:next|last|another|more) questions?|(?:this|our|next|today's) (?:meeting|interview|talk|"
    r"call|session)|have a (?:\w+ )?(?:day|evening|weekend|week|trip|holiday)|"
    r"how (?:are you|was (?:the|your)))\b",
    re.I,
)
_HOW_IT_IS = re.compile(r"(?:and |so |but )?(?:you|we|i) (?!(?:must|should|need|want|can)\b)", re.I)
_RULES = re.compile(r"\b(?:must|should|shall|has to|have to|want|needs?)\b", re.I)
_NOT_NEEDED = re.compile(
    r"(?:(?:i|we) )?(?:do not|don't|dont|never|won't|no longer) (?:really )?"
    r"(?:need|care|mind|ever want)\b|"
    r"(?:i|we) never want to see\b",
    re.I,
)
SAME = 0.5  # share of the words of what is denied
_DENIES_OFFER = re.compile(r"(?:i|we) (?:do not|don't|dont) want (?P<offer>[^,;]+)", re.I)
_RECONSIDERS = re.compile(r"\b(?:hm+|wait|actually|instead|on second thoughts?)\b", re.I)
_OF_NOW = re.compile(
    r"\b(?:today|at the moment|currently|brings you|problems?|what happens(?! (?:if|when))|"
    r"how (?:are|is) (?:you|things)|so far)\b",
    re.I,
)
_WH = re.compile(r"\b(?:(?:what|how)(?! about\b| if\b)|which|who|when|where|whose|whom)\b", re.I)


def wishes(commitments: Sequence[Commitment], sentences: Sequence[Utterance]) -> list[Commitment]:
    """Those that may be a requirement, by all that was said with them."""
    ended = {one.sentence.place for one in commitments if one.state in {"refused", "withdrawn"}}
    answers: dict[int, list[Utterance]] = {}
    for each in sentences:
        if not each.asked:
            answers.setdefault(each.message, []).append(each)
    asked = {one.sentence.message: one.question for one in reversed(commitments) if one.question}
    return [
        one
        for one in commitments
        if (one.wanted or one.in_other_words)
        and one.sentence.place not in ended
        and not _is_talk(one.sentence.text)
        and (
            _is_accepted(one, answers.get(max(one.messages), []))
            if one.sentence.asked
            else _is_stated(one, answers[one.sentence.message], asked.get(one.sentence.message))
        )
    ]


def _is_accepted(one: Commitment, answer: Sequence[Utterance]) -> bool:
    """What the analyst put forward; a yes may go on with a limit."""
    whole = " ".join(each.text for each in answer)
    if one.state == "corrected":
        return True
    if _CANNOT.search(one.text) and complains(one.text, Said(one.text, accepted=True)):
        return False
    if _TURNED.search(whole) or _HOW_IT_IS.match(one.text) or not answer:
        return False
    said_yes = acts.reply_of(answer[0].text).stance in {"yes", "partial"}
    return said_yes or not (one.in_other_words or _NEGATIVE.search(whole))


def _is_stated(one: Commitment, answer: Sequence[Utterance], first: Utterance | None) -> bool:
    """``first``: what its message answers, if it does not itself."""
    own, said = one.sentence, one.text
    question = one.question.text if one.question else ""
    if own.question or "small_talk" in own.acts or complains(said, Said(said, question=question)):
        return False
    is_order = _ORDERS.match(clean(said)) is not None
    if _CANNOT.search(said) and not (is_order or _RULES.search(said)):
        return False
    if _NOT_NEEDED.match(clean(said)):
        return False
    if not (is_order or _SAYS_HOW.search(own.text)) and (
        _TODAY.search(own.text)
        or one.features.get("says:existing")
        or signal("existing").search(own.text)
        or _only_comments(one, answer, first)
        or _reconsidered(own, answer)
    ):
        return False
    denied = _DENIES_OFFER.match(clean(said))
    about = content_words(denied["offer"]) if denied else set()
    return one.state == "corrected" or not about or share(about, content_words(question)) < SAME


def _reconsidered(own: Utterance, answer: Sequence[Utterance]) -> bool:
    """ "5 euros. Hmm. Let's say 3 instead." """
    return any(each.start > own.start and _RECONSIDERS.search(each.text) for each in answer)


def _only_comments(one: Commitment, answer: Sequence[Utterance], first: Utterance | None) -> bool:
    """It is of an answer that does not say yes to what could have been answered by yes."""
    asked = one.question
    if acts.reply_of(answer[0].text).stance == "no":
        return not _LIMITS.match(clean(one.sentence.text))
    now = asked or first
    if now and (_OF_NOW.search(now.text) or AFTER_TROUBLE.search(now.text)):
        return True
    if asked is None or not asked.question or _WH.search(asked.text):
        return False
    if acts.reply_of(answer[0].text).stance in {"yes", "partial"}:
        return bool(_TURNED.search(" ".join(each.text for each in answer)))
    return not _LIMITS.match(clean(one.sentence.text))


def _is_talk(text: str) -> bool:
    return bool(_CODE.search(text) or _TALK.search(text) or acts.about_talk(text))
