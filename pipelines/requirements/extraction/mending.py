"""Speech as it was meant: hums, words said twice, and sentences that were begun again."""

from __future__ import annotations

import re

_HUMS = re.compile(
    r"(?:,\s*)?\b(?:u+h+m*|u+m+|e+h*r*m+|(?<!-)h+m+|a+h+|o+h+|eh|huh)\b(?:,|\.{2,3}|…)?(?!['-])",
    re.I,
)
_ASIDES = re.compile(
    r",\s*(?:like|you know|i mean|i don't know|i dunno|how do you say|how to say|"
    r"what do you call it|what's it called|so to say|so to speak|let's say|basically|actually)"
    r"\s*,",
    re.I,
)
_EMPHASIS = frozenset({"very", "really", "no", "yes", "bye", "had", "that", "more", "many", "ha"})
_TWICE = re.compile(
    r"\b(?P<said>(?:[\w'-]{1,30} ){0,4}[\w'-]{1,30})(?:,|…|\.{2,3}|-|–)? (?:(?:like|i mean),? )?"
    r"(?P=said)(?![\w'-])",
    re.I,
)
_ARTICLE_TWICE = re.compile(
    r"\b(?:an?|the|my|our|your|their|his|her),? (?:(?:like|i mean),? )?"
    r"(?=(?:an?|the|my|our|your|their|his|her|each|every|another) )",
    re.I,
)
_OTHER_PERSON = re.compile(
    r"\b(?:he|she|it|they|we|i) (?P<verb>\w+), (?=(?:he|she|it|they|we|i) (?P=verb)\b)", re.I
)
_NAMED_FIRST = re.compile(
    r"(?P<start>^|[.;:!?] |\b(?:and|but|so|because|that|then),? )(?P<who>(?:the|an?|our|my|some|"
    r"all|those|these|each) (?:(?!(?:is|are) )[\w'-]+ ){0,2}(?!(?:is|are)\b)[\w'-]+)"
    r"(?: is| are)?, (?:he|she|it|they)(?P<gap>'| )",
    re.I,
)
"""The thing first and then its pronoun: "the teachers, they have to"."""
_BEGUN_AGAIN = re.compile(
    r"\b(?P<join>that|if|when|because|so|where|whether|and) [\w']+(?: [\w']+)?, "
    r"(?=(?P=join) [\w']+ )",
    re.I,
)
_PUT_RIGHT = re.compile(
    r"\b(?:it's |it is |that's |in |on |at |by |after |for )?(?:an?|the|one|two|three|four|five|"
    r"six|seven|eight|nine|ten|twelve|twenty|thirty|\d+) [\w-]+(?: [\w-]+)?,? "
    r"(?:no|sorry|wait|or rather|i mean)(?:,? (?:no|wait|sorry|let's say|i mean|make it|rather|"
    r"or rather|better|actually))+,? (?=[\w'])",
    re.I,
)
"""A thing or an amount that is put right at once: "a week, no, let's say three days"."""


def mended(text: str) -> str:
    """What the speaker settled on.

    Examples
    --------
    >>> mended("So the, uh, the label, it must, it must stay dry")
    'So the label must stay dry'
    >>> mended("A week, no, let's say three days")
    'Three days'
    """
    if " " not in text.strip():
        return text
    begun = text[:1].isupper()
    text = _HUMS.sub(lambda hum: "," if hum[0][:1] == "," and hum[0][-1:] == "," else "", text)
    text = re.sub(r"\s+(?=[,.;:!?])", "", re.sub(r",(?:\s*,)+", ",", text))
    text = _ASIDES.sub(" ", text)
    text = _once(text)
    text = _PUT_RIGHT.sub("", text)
    text = _ARTICLE_TWICE.sub("", text)
    text = re.sub(r"\b(an?|the) \1 ", r"\1 ", text)
    text = _OTHER_PERSON.sub("", text)
    text = _BEGUN_AGAIN.sub("", text)
    text = _NAMED_FIRST.sub(r"\g<start>\g<who>\g<gap>", text)
    text = re.sub(r"^[\s,]+", "", re.sub(r"\s{2,}", " ", text)).strip()
    return f"{text[:1].upper()}{text[1:]}" if begun else text


def _once(text: str) -> str:
    """Without what is said again at once, the longest first."""
    while True:
        shorter = _TWICE.sub(_kept_once, text)
        if shorter == text:
            return text
        text = shorter


def _kept_once(found: re.Match[str]) -> str:
    said = found["said"]
    return found[0] if said.lower() in _EMPHASIS or said.isdigit() else said


_CLAUSE = (
    r"(?:i|we|you|they|he|she|it|its|it's|that's|thats|there|there's|theres|everyone|everybody|"
    r"nobody|somebody|people)"
)
_BREAKS = re.compile(
    rf"\s+(?=(?:u+m+|u+h+|uhm|erm)\s)"
    rf"|\s+(?=(?:and|but|so|because|cause|then|also)\s+(?:then |also |right now )?(?:{_CLAUSE}|if|"
    rf"when|for (?:the|that|this)|(?:the|a|an|this|our|my|some|all) [\w'-]+ (?:has|have|must|"
    rf"should|can|could|will|would|is|are|gets?|goes|needs?|wants?))\b)"
    rf"|\s+(?=(?:i mean|you know|i think|i guess|i would say|i'd say|i dont know|i don't know|"
    rf"believe me|for example)\b)"
    rf"|(?<!\bthat)(?<!\bif)(?<!\bwhen)(?<!\bwhat)(?<!\bbecause)(?<!\bwhere)(?<!\bwhich)"
    rf"(?<!\band)(?<!\bbut)(?<!\bso)(?<!\bthen)(?<!\bwho)(?<!\bhow)(?<!\bas)(?<!\bthan)"
    rf"(?<!\bsay)(?<!\bsaid)(?<!\bthink)(?<!\bmean)(?<!\bwhy)(?<!\bbefore)(?<!\bafter)"
    rf"(?<!\buntil)(?<!\btime)(?<!\bthings)(?<!\bthing)(?<!\bor)"
    rf"\s+(?=(?:that's|thats|this is|there's|it's|{_CLAUSE} (?:should|must|has to|have to|need|"
    rf"needs|want|would|can|cannot|can't|cant|dont|don't)|i'd like|id like)\b)",
    re.I,
)
RUN_ON = 14  # words without any mark
_MARKS = re.compile(r"[,.;:!?–—]")
_APOSTROPHES = (
    (re.compile(r"\b(do|does|did|is|are|was|were|has|have|had|ca|wo|could|would|should)nt\b", re.I),
     r"\1n't"),
    (re.compile(r"\b(that|there|what|here|who|he|she)s\b(?= )", re.I), r"\1's"),
    (re.compile(r"\bits\b(?= (?:a|an|the|not|very|too|like|always|in|on|at|only|just|always|good|"
                r"fine|enough|important|because|really|for|flat|all)\b)", re.I), "it's"),
    (re.compile(r"\bid\b(?= (?:like|say|love|want|prefer|rather))", re.I), "I'd"),
    (re.compile(r"\bim\b", re.I), "I'm"),
    (re.compile(r"\b(we|they|you)(?:re|ve|ll)\b(?<!were)(?<!well)", re.I), r"\1're"),
)  # fmt: skip
_ANSWERS_FIRST = re.compile(
    r"^(?P<head>(?:yes|yeah|yep|yup|no|nope|right|exactly|okay|ok|sure|of course|correct)"
    r"(?: (?:yes|yeah|no|please|exactly|right))?) "
    r"(?=(?!(?:one|way|need|idea|problem|now|more|longer|matter|doubt|to)\b)\w)",
    re.I,
)


def is_run_on(text: str) -> bool:
    """Many words without a mark between them, as some programs write down what they hear."""
    spoken = text.split()
    marks = len(_MARKS.findall(text.rstrip(" .!?")))
    return len(spoken) >= RUN_ON and marks * 25 <= len(spoken)


def breaks(text: str) -> list[int]:
    """Where a run-on sentence begins anew; pieces have three words or more."""
    places: list[int] = []
    begin = 0
    for cut in _BREAKS.finditer(text):
        if len(text[begin : cut.start()].split()) >= 3 and len(text[cut.end() :].split()) >= 3:
            places.append(cut.end())
            begin = cut.end()
    return places


def marked(text: str) -> str:
    """With the apostrophes and the first comma that were left out."""
    for pattern, instead in _APOSTROPHES:
        text = pattern.sub(instead, text)
    return _ANSWERS_FIRST.sub(r"\g<head>, ", text)
