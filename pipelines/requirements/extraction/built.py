"""What is read, a sentence, and what is built of it; with the words that many shapes share."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Built:
    """A clause in the words of a requirement."""

    action: str
    subject: str = ""
    """Who does it, as it was said; empty for the system."""
    condition: str = ""
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence with what is needed to understand it."""

    text: str
    question: str = ""
    before: str = ""
    """What was said just before it, by the same speaker or in the same message."""
    accepted: bool = False
    """Proposed or summed up, and accepted: what it names is wanted."""


ADVERB = (
    r"(?:(?:also|just|really|actually|definitely|certainly|probably|maybe|perhaps|basically|simply|"
    r"still|ideally|obviously|then|now|absolutely|mainly|mostly|of course|honestly|like|hopefully|"
    r"even|additionally|at least|for sure|please|essentially|both|all|always(?= (?:want|need|"
    r"like)))"
    r"\s+)*"
)
SPEAKERS = r"(?:i|we|you|they|he|she)"
LIKE = (
    r"(?:(?:'d|would|do|will|'ll|might|did) )?"
    + ADVERB
    + r"(?:like|love|prefer|want|need|wish|hope|"
    r"expect|plan|wants|needs|wanted|appreciate)"
)
ABLE = (
    r"(?:be able to|be allowed to|get to|have the (?:ability|option|possibility|chance|right|"
    r"permission|opportunity) to|have (?:a|an|some) (?:easy |simple |quick )?(?:way|option|"
    r"possibility) to|be in a position to)"
)
POLITE_END = re.compile(
    r"(?:,?\s+(?:please|full stop|period|too|as well|of course|ideally|at all|somehow|also|"
    r"though|if possible|maybe|"
    r"for example|for sure|thanks|thank you|then|right|correct|right away please|at some point|"
    r"definitely|"
    r"basically|actually|really|and everything|and all that|and things like that|or anything))+$",
    re.I,
)
_MODAL = (
    r"(?P<modal>(?:really |absolutely |definitely |also |then |always |only )?(?:should|must|"
    r"shall|will|would|can|could|may|might|cannot|can't|"
    r"couldn't|won't|wouldn't|shouldn't|mustn't|ought to|(?:would |'d )(?:have|need) to|"
    r"needs? to|has to|have to|had to|'ll|"
    r"is to|are to|"
    r"(?:is|are|be) (?:supposed|required|expected|meant|allowed|able|permitted|going|obliged) to|"
    r"(?:is|are)(?: not|n't) (?:allowed|permitted|supposed|able) to|got to|gets? to))"
)
MODAL_AT = re.compile(
    rf"^(?P<who>.{{1,90}}?)(?:\s+|(?='))(?:{_MODAL})(?P<not>\s+(?:not|never)\b)?\s+(?P<rest>.+)$",
    re.I,
)
