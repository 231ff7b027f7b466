"""What somebody complains of as it is today: a wish at most, never a ban."""

from __future__ import annotations

import re

from pipelines.requirements.lexicon import signal

_CANNOT = (
    r"(?:can't|cannot|can not|couldn't|could not|won't let|wouldn't let|"
    r"(?:do|does|did)(?: not|n't) (?:let|allow)|"
    r"(?:am|is|are|was|were|'m|'re)(?: not|n't) able to|(?:am|is|are|'m|'re) unable to)"
)
_OF_ME = re.compile(
    rf"^(?:(?:and|but|so|then|because) )*(?:(?:i|we)\b[^,;]{{0,20}}?)?{_CANNOT}", re.I
)
_OF_THE_SYSTEM = re.compile(
    r"\b(?:it|(?:the|this|our|that) (?:\w+ )?(?:app|application|system|software|program|platform|"
    r"(?:web)?site|page|tool))"
    rf" (?:{_CANNOT}(?! (?:be|take|have)\b)|(?:do|does|did|will)(?: not|n't)|won't|never)\b",
    re.I,
)
_TODAY = re.compile(r"\b(?:today|now|still|even|yet|anymore|any more|so far|currently)\b", re.I)
_DENIED = re.compile(r"n't\b|\b(?:cannot|not|never|nobody|no one|none|unable)\b", re.I)
_PAST = re.compile(r"\b(?:couldn't|could not|didn't|did not|wasn't|weren't)\b", re.I)
_RULE = re.compile(
    r"\b(?:must|should|shall|may|ought|allowed|permitted)\b|mustn't|shouldn't|"
    r"(?:\bnot|n't) want|\b(?:(?:wants?|needs?|would like|'d like)\b[^,;]{0,200}?"
    r"(?:\b(?:cannot|not|never|nobody|no one)\b|n't\b))",
    re.I,
)
_IRONY = re.compile(
    r"\b(?:i|we) (?:just |really |absolutely |simply )*love (?:how|that|it when) |"
    r"\bbut\b[^.]*? was\b",
    re.I,
)
_YOU = re.compile(r"\byou (?:\w+ )?(?:can't|cannot|can not|couldn't)\b", re.I)
AFTER_TROUBLE = re.compile(
    r"\b(?:problems?|issues?|troubles?|difficult\w*|challenges?|bother\w*|annoy\w*|frustrat\w*|"
    r"pains?|struggle\w*|complain\w*|dislike|hate|wrong|missing|worst|bad|weakness\w*|obstacles?)\b",
    re.I,
)


def complains(text: str, *, question: str = "", accepted: bool = False) -> bool:
    """Whether a sentence tells what somebody cannot do today, or what a system fails to do.

    Examples
    --------
    >>> [complains(text) for text in ("I can't sort them", "Guests must not book")]
    [True, False]
    """
    if _IRONY.search(text):
        return True
    if _RULE.search(text) or not _DENIED.search(text):
        return False
    if accepted:
        return _YOU.search(text) is not None
    of_today = _TODAY.search(text) or signal("existing").search(text) or _PAST.search(text)
    after = AFTER_TROUBLE.search(question)
    return bool(of_today or after or _OF_ME.match(text) or _OF_THE_SYSTEM.search(text))
