"""Things named one after the other, each freed of the words around it."""

from __future__ import annotations

import re

from pipelines.requirements.lexicon import criteria_map, criteria_patterns
from pipelines.requirements.text import is_base_verb, plain, tokens

MOST_WORDS = 12
STOP = re.compile(
    r"(?:,?\s+(?:because|since|so that|so (?=(?:i|it|we|you|that|they)\b)|but|although|"
    r"though|while|using|unless|if|when|even though|"
    r"to (?=(?:see|check|know|make|find|get|be sure)\b)|as (?=(?:i|it|we|you|they)\b)|"
    r"and (?:then )?(?=(?:i|it|you|we|that|they|based|so|in|on|at|when)\b)|"
    r"which (?=(?:is|are|means|was|makes)\b)|(?:i guess|i think|you know)\b)|"
    r",\s+(?=(?:i|it|you|we|that|they|there|like|right|so|especially|who|which)\b)|\s[-–—]\s).*$",
    re.I,
)
_ASKED = r"(?:how|whether|if|what|which|where|when|who)\b"
_BETWEEN = re.compile(
    rf"\s*,\s*(?:and |or )?(?:then |also |maybe |of course )*"
    rf"|\s+(?:and|or) (?:also |then |maybe )?(?={_ASKED})"
    r"|\s+(?:and|or) (?:also |then |maybe |just )?(?=(?:the|a|an|my|its)\b)",
    re.I,
)
_ONE_THAT_IS = re.compile(
    r"^(?:the |a )?(?:something|somewhere|anything|one|ones|place|places) "
    r"(?:that|which)(?:'s|'re| is| are) ",
    re.I,
)
_THAT_IS = re.compile(
    r"^(?P<thing>[\w-]+) (?:that|which) (?:is|are) (?P<how>[\w-]+(?: [\w-]+){0,2})$", re.I
)
_AND = re.compile(r"\s+and (?:then |also |maybe )?", re.I)
_DETERMINER = re.compile(
    r"^(?:the|a|an|my|our|your|its|their|this|that|these|those|some|any|all|what|each)\s+"
    r"(?!(?:kind|type|sort|much|many|time)\b)",
    re.I,
)
_NO_THING = re.compile(
    r"\b(?:was|were|did|didn't|had|has|have|is|are|isn't|aren't|don't|doesn't|do|does|can't|will|"
    r"would|could|should|it's|that's|they're|there's)\b",
    re.I,
)
_DOING = re.compile(r"[a-z]+ (?:the|a|an|my|our|your|it|them)\b", re.I)
_AS_MUCH = re.compile(r"\bas (?:much|many|little|few)\b", re.I)


def items(text: str, *, noun: str) -> list[str]:
    """What is named, piece by piece; nothing where nothing is named."""
    text = STOP.sub("", text) if not re.match(_ASKED, text, re.I) else _question_end(text)
    parts = [piece for piece in _BETWEEN.split(text) if piece]
    several = len(parts) > 1
    found = [clean(one, noun=noun) for part in parts for one in _halves(part, several=several)]
    return [one for one in found if one and usable(one)]


def _question_end(text: str) -> str:
    return re.sub(
        r",?\s+(?:because|since|so (?=i\b)|but|and (?=(?:based|i|then)\b)|regarding|and see\b).*$",
        "",
        text,
        flags=re.I,
    )


def _halves(part: str, *, several: bool) -> list[str]:
    """ "Price and location" are two; "sun and shade" stay one, for both name one thing."""
    halves = _AND.split(part)
    if len(halves) != 2 or re.match(_ASKED, part, re.I):
        return [part]
    sought = criteria_map("sought")
    weighty = any(tokens(half)[-1:] and tokens(half)[-1].lower() in sought for half in halves)
    return halves if several or weighty else [part]


def clean(text: str, *, noun: str) -> str:
    """Without fillers at either end, articles, and the name of what is chosen."""
    text = _ONE_THAT_IS.sub("", plain(text).strip(" ,.;:!?-–—\"'"))
    while True:
        shorter = criteria_patterns("fillers").sub("", text).strip(" ,.;:!-–—")
        shorter = shorter if re.match(_ASKED, text, re.I) else _DETERMINER.sub("", shorter)
        if shorter == text or not shorter:
            break
        text = shorter
    text = re.sub(r"\s+into (?:account|consideration)$", "", text, flags=re.I)
    text = _THAT_IS.sub(_before_noun, text)
    own = rf"(?:{re.escape(noun)}s?|place|building|area|it)"
    return re.sub(rf"\s+(?:of|in|at|for|about) (?:the|an?|my|your|that|each) {own}$", "", text)


def _before_noun(found: re.Match[str]) -> str:
    """ "Reviews that are not so good" as "bad reviews"."""
    how = re.sub(
        r"^not (?:so |very |that |really )?(?:good|great)$", "bad", found["how"], flags=re.I
    )
    return f"{how} {found['thing']}" if "not" not in how.split() else found[0]


def usable(text: str) -> bool:
    spoken = tokens(text)
    if not spoken or len(spoken) > MOST_WORDS or criteria_patterns("empty").search(text):
        return False
    if re.match(_ASKED, text, re.I):
        return len(spoken) > 2
    if _AS_MUCH.search(text) or (_DOING.match(text) and is_base_verb(spoken[0])):
        return False
    head = re.split(r"\b(?:that|which|who|where|with)\b", text)[0]
    return (bool(head.strip()) and not _NO_THING.search(head)) or text.startswith("with ")
