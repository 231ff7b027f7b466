"""What was said, freed of what only speaking or chatting brings with it."""

from __future__ import annotations

import re

from pipelines.requirements.lexicon import words
from pipelines.requirements.text import plain

_LINK = re.compile(r"\[([^\]\n]{1,200})\]\([^)\s]{1,300}\)")
_TAG = re.compile(r"</?[a-z][^<>]{0,80}>", re.I)
_MARKUP = re.compile(
    r"\*\*|__|~~|`+|(?<!\w)[*_](?=\w)|(?<=[\w.,!?])[*_](?!\w)|^\s*(?:#{1,6}|>+|\|)\s*"
)
_BULLET = re.compile(r"^\s*(?:[-*•–—]+|\(?\d{1,2}[.)](?!\d)|\(?[a-z]\))\s+", re.I)
_SYMBOLS = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2190-\u21ff\ufe0f]|(?<!\\w)[:;]-?[)(DPp](?!\\w)"
)
_HUMS = re.compile(r"(?:,\s*)?\b(?:u+h+m*|u+m+|e+r+m*|h+m+|m+hm+|a+h+|o+h+|eh|huh)\b,?(?!')", re.I)
_ASIDES = re.compile(
    r",\s*(?:like|you know|i mean|i think|i guess|i suppose|i believe|i'd say|let's say|"
    r"lets say|say|"
    r"sort of|kind of|right|okay|ok|well|yeah|yes|honestly|basically|actually|for example|"
    r"to be honest|if you like|so to speak|for instance|please|obviously|of course)\s*,"
    r"|\b(?:you know|i mean|(?<!\bthe )(?<!\bthis )(?<!\bthat )(?<!\bwhat )(?<!\bwhich )"
    r"(?<!\beach )(?<!\bevery )(?<!\bsame )(?:sort|kind) of|basically|honestly|literally)\b"
    r",?(?=\s)"
    r"|(?<=\b(?:is|be|or) )like,",
    re.I,
)
_SHOUTED = re.compile(r"\b[A-Z]{2,}(?: [A-Z]{2,})+\b")
_TWICE = re.compile(r"\b(?!(?:that|had|very|really|no)\b)([a-z']+)(?: \1\b)+", re.I)
_BEFORE_QUESTION = re.compile(
    r"(?:(?<=\bsee)|(?<=\bknow)|(?<=\bsay)|(?<=\btell)|(?<=\bshow)|(?<=\bchoose)|"
    r"(?<=\bdecide)),\s+"
    r"(?=(?:how|what|which|who|when|where|whether)\b)",
    re.I,
)
_TAG_QUESTION = re.compile(
    r"[,.;:–—-]*\s*(?:,\s*|\b)(?:(?:is|does|did|would|do)(?: that| this| it| you)* (?:all )?"
    r"(?:right|correct|ok|okay|sound right|sound good|make sense|work for you|agree)|"
    r"(?:is|are|do|does|will|would|can|could|should|has|have)n't (?:it|they|you|he|she|we|that)|"
    r"right|correct|yes|no|ok|okay|agreed|yeah|don't you think|or not|you see|you know|"
    r"understood|got it|do i have that right)\s*\?+\s*$",
    re.I,
)
_NO = r"no(?=[,.!;:–—]|\s+(?:i|we|you|it|they|the|that|he|she|just|but|not|only|no|there)\b)"
_OPENERS = re.compile(
    rf"^(?:[\s,.!;:…–—-]+|(?:{_NO}|yes|yeah|yep|yup|ya|nope|ok|okay|okey|right|sure|exactly|"
    rf"correct|"
    r"absolutely|definitely|certainly|of course|indeed|fine|great|good|perfect|true|agreed|"
    r"alright|all right|thanks|thank you|hello|hi|hey|sorry|well|so|and|also|but|or|plus|then|"
    r"actually|basically|honestly|obviously|ideally|preferably|hopefully|finally|firstly|"
    r"secondly|thirdly|lastly|next|besides|additionally|furthermore|moreover|again|anyway|"
    r"first of all|most importantly|importantly|on top of that|in addition|"
    r"(?:in|at) the end(?! of)|"
    r"as i said|like i said|as mentioned|as discussed|to be honest|to be clear|by the way|btw|"
    r"for example|for instance|especially|above all|at least for now|for now|for me|for us|"
    r"in my opinion|in my case|personally|from my side|from our side|one more thing|another thing|"
    r"good question|good point|good idea|nice|cool|got it|understood|noted|makes sense|wait|look|"
    r"listen|see|you know|i mean|like|just|please|maybe|perhaps|probably|that's right|"
    r"that is right|"
    r"that's correct|that is correct|sounds good|sounds right|looks good|no problem|of course not|"
    r"that means(?: that)?|hold on|"
    r"in short|in summary|to sum up|to summari[sz]e|to confirm|just to confirm|let me summari[sz]e|"
    r"to recap|so to recap|quick recap|recap|summary|quick checkpoint|checkpoint|"
    r"the (?:main|other|first|second|next|last|important) thing is(?: that)?|"
    r"the thing is(?: that)?|the main point is(?: that)?|"
    r"as well as|even|really|overall|so far|the truth is|yes please|no need)"
    # an opener is left by a comma, or goes straight into a clause
    r"(?![\w'/-])(?!-\w))+",
    re.I,
)
_KEPT_FIRST = re.compile(
    r"^(?:just|first|next|good|great|fine|right|like|see|look|listen|wait|sure|true|correct|"
    r"nice|cool|"
    r"even|really|noted|summary|hello|probably|perfect|definitely|absolutely|certainly) "
    r"(?!(?:i|we|you|it|he|she|they|the|a|an|that|this|there|make|add|keep|let|show|send|no|not|"
    r"one|have|in|if|when|and|but|so|then|our|my|people|users|customers|staff|put|give|only|every|"
    r"as|for|with|to|some|all|please|also|maybe|yes|definitely|what|how|don't)\b)",
    re.I,
)


def clean(text: str) -> str:
    """The sentence in plain words: no markup, no hums, nothing said twice."""
    return _SHOUTED.sub(_spoken, unmarked(spoken_clean(text)))


def _spoken(shouted: re.Match[str]) -> str:
    """In small letters, unless it is a row of abbreviations."""
    said = shouted[0].lower()
    return said if {*said.split()} & words("auxiliaries") else shouted[0]


def unmarked(text: str) -> str:
    """Without markup, bullets and little pictures; the words stay as they were."""
    text = _TAG.sub("", _LINK.sub(r"\1", text))
    text = _MARKUP.sub("", _BULLET.sub("", text))
    return plain(_SYMBOLS.sub(" ", text))


def spoken_clean(text: str) -> str:
    text = re.sub(r"(?<=[a-z]),(?=[a-z])", ", ", unmarked(text))
    text = _HUMS.sub(
        lambda hum: "," if hum[0].startswith(",") and hum[0].endswith(",") else "", text
    )
    text = _KEEP_IT_SIMPLE.sub(" ", _ASIDES.sub(" ", text))
    text = _TAG_QUESTION.sub("", text) if text.rstrip().endswith("?") else text
    text = _TWICE.sub(r"\1", _BEFORE_QUESTION.sub(" ", plain(text)))
    return re.sub(r"\s+([,.;:!?])", r"\1", re.sub(r"([,;])(?:\s*[,;])+", r"\1", text)).strip()


_KEEP_IT_SIMPLE = re.compile(
    r"(?:^|[\s,;.–-]+)(?:please |just |but )*"
    r"(?:(?:don't|dont|do not) (?:over ?-?complicate|overthink)"
    r" (?:it|this|things)|(?:let's|lets|let us) keep (?:it|this|things) simple)\b",
    re.I,
)
"""How to talk about it, not what is wanted."""


def opened(text: str) -> str:
    """Without yes, no and what else leads up to the matter."""
    while True:
        if _KEPT_FIRST.match(text):
            return text
        found = _OPENERS.match(text)
        shorter = text[found.end() :].lstrip(" ,.!;:…–—-") if found else text
        if found and not shorter:
            return ""
        if shorter == text:
            return text
        text = shorter
