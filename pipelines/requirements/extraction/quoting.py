"""Where no action can be built: the sentence itself, short and without yes and no, or nothing."""

from __future__ import annotations

import re
from typing import Literal

from pipelines.requirements.extraction.clauses import as_statement
from pipelines.requirements.extraction.peeling import without_matrix
from pipelines.requirements.extraction.phrases import base_form, grammar, is_content
from pipelines.requirements.extraction.speech import opened, spoken_clean
from pipelines.requirements.lexicon import signal, words
from pipelines.requirements.text import tokens, upper_first

MOST_WORDS = 30
LEAST_WORDS = 4
SHORT_ANSWER = 8  # words; a longer one is quoted without its question
NothingSaid = Literal["only_yes_or_no", "too_little", "asks_back", "about_the_talk"]
_ASKS = re.compile(
    r"^(?:(?:and|or|so|but|then|in that case|maybe|like),? )*(?:(?:what|which|who|whom|how|where|"
    r"when|why)(?: \w+){0,3} (?:is|are|do|does|did|can|could|should|would|will|must|has|have)\b|"
    r"(?:is|are|do|does|did|can|could|should|would|will|shall|must|may|has|have|isn't|aren't|"
    r"don't|doesn't) (?!not\b)\w+)",
    re.I,
)
"""In the order of words of a question: nobody keeps a question as a requirement."""
_CASE = re.compile(
    r"^(?:if|when|after|before|for|once|while|in|on|at)\b[^?]{3,160}?, "
    r"(?=(?:should|shall|must|may|can|could|will|would|do|does|what|which|how|who)\b)",
    re.I,
)
_BOUNDARY = re.compile(r"[,;:]\s|\s[–—-]\s|\s(?=(?:and|but|because|so|which|or|if|when)\s)")
_CLOSES = re.compile(
    r"(?:that(?:'s| is| was| covers| would be| should be)|this is) (?:it|all|everything|"
    r"about it|pretty much it|fine|great|good)\b"
    r"|nothing (?:else|more|to add)|i have nothing|we're done|i'm done|i agree|go ahead",
    re.I,
)
_POINTS = re.compile(r"\b(?:it|this|that|they|them|these|those|he|she)\b", re.I)
_ASKS_FOR = re.compile(
    r"\b(?:should|shall|must|can|could|may|would|need|needs|want|wants|like|allowed|wish\w*|"
    r"supposed|prefer|have to|has to|require\w*|important|expect\w*)\b",
    re.I,
)
_POINTS_BACK = re.compile(
    r"\b(?:it|this|that|they|them|these|those|he|she|first|second|third|former|latter|one|ones)\b",
    re.I,
)
_WANTS = re.compile(
    r"\b(?:must|should|shall|can|could|cannot|will|would|may|needs?|wants?|has to|have to|never|"
    r"only)\b|n't\b",
    re.I,
)
_FIGURE = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|hundred|"
    r"thousand)\b",
    re.I,
)


def quotation(text: str, *, question: str = "", before: str = "") -> str:
    """The words in quotation marks, cut at a clause; with the question if they only answer it."""
    said = _matter(text).strip(" ,;:-–—")
    asked = _last_question(question)
    short = len(tokens(said)) <= SHORT_ANSWER and not _stands_alone(said)
    if (
        short
        and asked
        and _ASKS_FOR.search(asked)
        and len(tokens(asked)) + len(tokens(said)) <= MOST_WORDS
    ):
        return f"“{asked}” – “{upper_first(said)}”"
    earlier = _leans_on(said, before)
    if earlier:
        return f"“{upper_first(earlier).rstrip('.!')}. {upper_first(said)}”"
    return f"“{upper_first(cut_short(said))}”"


def nothing_said(
    text: str, *, question: str = "", before: str = "", asked_back: bool = False
) -> NothingSaid | None:
    """Why a sentence is not even worth quoting."""
    said = _matter(text).strip(" ,;:-–—.!?")
    spoken = tokens(said)
    if not spoken or signal("bare").match(said):
        return "only_yes_or_no"
    if asked_back and text.rstrip().endswith("?"):
        return "asks_back"
    if _asks(said) and len(spoken) > 3:
        return "asks_back"
    if _CLOSES.match(said) or (signal("fixed").match(said) and len(spoken) <= LEAST_WORDS + 2):
        return "about_the_talk"
    content = [
        word for word in spoken if is_content(word) and base_form(word) not in grammar("weak")
    ]
    figure = _FIGURE.search(said) is not None
    asked = _last_question(question)
    if asked and (content or figure) and _ASKS_FOR.search(asked) and not _POINTS_BACK.search(said):
        return None
    if _leans_on(said, before):
        return None
    enough = len(content) + figure >= 2
    doing = any(base_form(word) or word.lower() in words("auxiliaries") for word in spoken)
    return None if enough and len(spoken) >= LEAST_WORDS and doing else "too_little"


_WANTED_THAT = re.compile(
    r"^(?:do|does|would|will|should) (?:you|we|they|the [\w-]+) (?:also |really |still |then )*"
    r"(?:want|like|need|prefer|wish)(?: (?:that|it if|if))? (?P<rest>(?!to\b).+)$",
    re.I,
)


def declared(text: str) -> str:
    """A question that was answered with yes, as the statement that it puts forward."""
    said = _matter(text).rstrip(" ?")
    wanted = _WANTED_THAT.match(said)
    if wanted and _VERB_WITHIN.search(wanted["rest"]):
        return wanted["rest"]
    case = _CASE.match(said)
    lead, main = (case[0], said[case.end() :]) if case else ("", said)
    stated = as_statement(main)
    return f"{lead}{stated}" if stated != main else text


_VERB_WITHIN = re.compile(r"\b(?:can|could|should|must|will|would|is|are|has|have|[a-z]+s)\b", re.I)


def asks_in_order(text: str) -> bool:
    """It has the order of words of a question."""
    return _asks(_matter(text))


def _asks(said: str) -> bool:
    return _ASKS.match(_CASE.sub("", said, count=1)) is not None


def points_to_nothing(said: str) -> bool:
    """It begins with a pronoun, and nobody can tell what that is."""
    return _POINTS.match(said) is not None


def _leans_on(said: str, before: str) -> str:
    """The sentence before, where this one points to it and both are short enough to be quoted."""
    earlier = opened(spoken_clean(before)).strip()
    enough = sum(map(is_content, tokens(earlier))) >= 2 and _WANTS.search(said) is not None
    short = len(tokens(earlier)) + len(tokens(said)) <= MOST_WORDS
    points = _POINTS.search(" ".join(said.split()[:6])) is not None
    return earlier if points and enough and short and not earlier.endswith("?") else ""


def _matter(text: str) -> str:
    """What is said, without yes and no and without "I think that"."""
    said = opened(spoken_clean(text))
    return without_matrix(said)[0] or said


def cut_short(said: str) -> str:
    spoken = said.split()
    if len(spoken) <= MOST_WORDS:
        return said.rstrip(" ,;:")
    start = " ".join(spoken[:MOST_WORDS])
    ends = [found.start() for found in _BOUNDARY.finditer(start)]
    fitting = [end for end in ends if len(start[:end].split()) >= MOST_WORDS // 2]
    return f"{(start[: fitting[-1]] if fitting else start).rstrip(' ,;:')} …"


def _stands_alone(said: str) -> bool:
    spoken = said.lower().split()
    return len(spoken) >= LEAST_WORDS and (
        re.search(
            r"\b(?:must|should|can|will|would|need|needs|want|wants|is|are|has|have)\b", said, re.I
        )
        is not None
    )


def _last_question(question: str) -> str:
    parts = [
        part.strip()
        for part in re.split(r"(?<=[.?!])\s+", spoken_clean(question))
        if part.strip().endswith("?")
    ]
    return upper_first(opened(parts[-1]) or parts[-1]) if parts else ""
