"""Where no action can be built: the sentence itself, short and without yes and no, or nothing."""

from __future__ import annotations

import re
from typing import Literal

from pipelines.requirements.extraction.peeling import without_matrix
from pipelines.requirements.extraction.phrases import base_form, grammar, is_content
from pipelines.requirements.extraction.speech import opened, spoken_clean
from pipelines.requirements.lexicon import signal, words
from pipelines.requirements.text import tokens, upper_first

MOST_WORDS = 30
LEAST_WORDS = 4
SHORT_ANSWER = 8  # words; a longer one is quoted without its question
NothingSaid = Literal["only_yes_or_no", "too_little", "asks_back", "about_the_talk"]
_BOUNDARY = re.compile(r"[,;:]\s|\s[–—-]\s|\s(?=(?:and|but|because|so|which|or|if|when)\s)")
_CLOSES = re.compile(
    r"(?:that(?:'s| is| was| covers| would be| should be)|this is) (?:it|all|everything|"
    r"about it|pretty much it|fine|great|good)\b"
    r"|(?:i|we)(?:'ll| will|'m going to| am going to|'d like to| want to)(?: just| now| quickly)* "
    r"(?:summari[sz]e|recap|repeat|rephrase|sum up|go over)\b"
    r"|nothing (?:else|more|to add)|i have nothing|we're done|i'm done|i agree|go ahead",
    re.I,
)
_POINTS = re.compile(r"\b(?:it|this|that|they|them|these|those|he|she)\b", re.I)
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
    asked = asked if tokens(asked) else ""
    short = len(tokens(said)) <= SHORT_ANSWER and not _stands_alone(said)
    if short and asked and len(tokens(asked)) + len(tokens(said)) <= MOST_WORDS:
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
    if _CLOSES.match(said) or (signal("fixed").match(said) and len(spoken) <= LEAST_WORDS + 2):
        return "about_the_talk"
    content = [
        word for word in spoken if is_content(word) and base_form(word) not in grammar("weak")
    ]
    figure = _FIGURE.search(said) is not None
    asked = _last_question(question)
    if asked and (content or figure) and not _POINTS.search(said):
        return None
    if _leans_on(said, before):
        return None
    enough = len(content) + figure >= 2
    doing = any(base_form(word) or word.lower() in words("auxiliaries") for word in spoken)
    return None if enough and len(spoken) >= LEAST_WORDS and doing else "too_little"


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
