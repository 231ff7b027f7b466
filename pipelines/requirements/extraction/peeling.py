"""What stands around the matter of a sentence, taken off it: matrix, place, condition, reason."""

from __future__ import annotations

import re

from pipelines.requirements.extraction.built import ADVERB, SPEAKERS
from pipelines.requirements.extraction.phrases import is_noun_phrase, is_verb
from pipelines.requirements.extraction.speech import clean, opened
from pipelines.requirements.text import lower_first, plain, tokens

_MATRIX = tuple(
    re.compile(rf"^{ADVERB}(?:{pattern})[\s,:]+(?=\w)", re.I)
    for pattern in (
        rf"{SPEAKERS}(?:'d| had| have|'ve|'m| am| was|'re| are| were)? (?:thought|think|"
        rf"thinking|dreaming) (?:about|of)"
        r"(?= (?:an?|the|some|having) )",
        rf"{SPEAKERS}(?:'d|'ve| have| had| would| also| just| already| earlier)* (?:think|thought|"
        rf"believe|guess|"
        r"suppose|said|say|mentioned|explained|noted|agreed|decided|confirmed|assume|understood|"
        r"understand|feel|mean|imagine|figured|realised|realized|stated|indicated)"
        r"(?: to me| to us| earlier| before| just now)?(?: (?:that|so))?",
        rf"{SPEAKERS}(?:'re| are) saying(?: that)?",
        rf"{SPEAKERS} (?:told|reminded) (?:me|us|you)(?: that)?",
        r"if i (?:understand|understood|got|get|heard)(?: you| that| it| this)*(?: correctly|"
        r" right)?",
        r"(?:so )?(?:my|our|the|your) (?:idea|goal|plan|aim|point|rule|requirement|wish|request|"
        r"expectation|understanding|hope|most important (?:thing|point|requirement)|main (?:thing|"
        r"goal|requirement|point)|other (?:thing|requirement)|first thing|next thing|biggest wish)"
        r"(?: here| for (?:me|us))? (?:is|was|would be)(?: that)?",
        r"(?:one|another|one more|a further|the first|the second|the next|the last) (?:thing|"
        r"requirement|point|wish|idea|feature) (?:is|was|would be)(?: that)?",
        rf"what {SPEAKERS}(?: also| really)* (?:want|need|would like|'d like|expect|have in mind)"
        r"(?: is| would be)(?: that)?",
        rf"all {SPEAKERS} (?:want|need) is(?: that)?",
        r"what(?:'s| is)(?: also| really| very| most)* (?:important|essential|nice|good|great|cool|"
        r"helpful|useful)(?: for (?:me|us|them))?(?: too| also)? is(?: that| if| when)?",
        r"it (?:is|was|'s) (?:agreed|decided|clear|planned|intended|understood)(?: that)?",
        r"what (?:would|'d)(?: also| really)* (?:help|be (?:\w+ )?(?:good|great|nice|useful|"
        r"helpful))(?: (?:me|us|them))?"
        r"(?: most| a lot)? is(?: that| if| when)?",
        r"(?:can|could|would|will) (?:we|you|it) (?:please |also )?make it(?: so| such|"
        r" happen)?(?: that)?",
        r"(?:my|our|the)(?: only| main| biggest| big| real| other)? (?:problem|trouble|"
        r"issue|difficulty|pain|headache)"
        r"(?: here| for (?:me|us)| at the moment)? is(?: that)?(?= (?:i|we|they|nobody|"
        r"no one|you)\b)",
        r"(?:the (?:thing|trouble|snag|point) is|let's say|let us say|say|suppose|"
        r"imagine)(?: that)?"
        r"(?= (?:i|we|they|nobody|the|an?|you|he|she)\b)",
        r"(?:please )?(?:note|remember|keep in mind|be aware)(?: that)?",
        r"is it (?:right|correct|true)(?: that)?",
        r"is it (?:enough|okay|ok|fine|all right|alright)(?: for you)? (?:if|when)",
        r"(?:it(?:'s| is| would be| might be|'d be) |that(?:'s| is) )?(?:really |also |very |"
        r"quite |most |"
        r"more |super |so )*(?:important|essential|crucial|critical|necessary|vital|best|better|"
        r"nice|"
        r"great|good|helpful|useful|handy|perfect|ideal|cool|amazing|fantastic|wonderful|lovely|"
        r"convenient|awesome|enough)(?: for (?:me|us|them))?(?: also)? (?:that|if|when)",
        rf"{SPEAKERS}{ADVERB and ''}(?:'d| would| do|'ll)? ?{ADVERB}(?:like|love|prefer|want|"
        rf"appreciate|hope|"
        r"wish|expect|need)(?: it| to see)?(?: very much)? (?:that|if|when)",
        r"(?:would|will|could|might|wouldn't) (?:it|that)(?: also| really| not)* (?:help|"
        r"be (?:\w+ )?"
        r"(?:useful|helpful|nice|good|great|better|best|handy|okay|ok|fine|enough|cool|"
        r"interesting|all right|alright|"
        r"possible|important))(?: (?:you|us|them|for (?:you|us|them)))?,? (?:if|when|that)",
        r"(?:please )?(?:make sure|ensure|be sure|see to it)(?: that)?(?! to\b)",
        rf"{SPEAKERS} (?:must|should|need to|have to|want to|would like to|"
        r"'d like to) (?:make sure|ensure)(?: that)?(?! to\b)",
    )
)
_ENSURING = re.compile(r"\b(?:make sure|ensure|be sure|see to it)\b", re.I)
_TIME = (
    r"(?:after|before|during|until|till|within|at|on|in|by|from|for|every|each|per|with|without|as)"
)
_IF = (
    r"(?:if|when|whenever|once(?! (?:per|an?|every|each|daily|only|in)\b)|unless|as soon as|"
    r"as long as|in case|every time|each time|only if|"
    r"only when|even if|until|till|provided that|provided|while|before|after|where)"
)
_IF_FIRST = re.compile(
    rf"^(?P<when>(?:{_IF}|in case of|in the event of|"
    rf"depending on)\b[^,]{{3,160}}?),\s+(?:then\s+)?(?=\w)",
    re.I,
)
_IF_ASKED = re.compile(
    rf"^(?P<when>{_IF}\b[^?]{{3,200}}?),\s+"
    r"(?=(?:should|can|could|must|may|shall|will|would|does|do) (?!be\b)[a-z])",
    re.I,
)
"""A condition may list several things where the question after it shows its end."""
_IF_FIRST_OPEN = re.compile(
    r"^(?P<when>(?:if|when|whenever|once|as soon as|every time|each time|"
    r"in case)\b.{3,120}?)\s+(?:then\s+)?"
    r"(?=(?:(?:the|an?|every|each|all|our|my|your|nobody|everybody|somebody|people|"
    r"no one)(?: (?!(?:that|which|who|if)\b)[\w-]+){0,3}? "
    r"(?:should|must|can|cannot|can't|has to|have to|needs? to|mustn't|shouldn't)\b"
    r"|(?:i|we|you)(?:'d| would| want| need| must| should| have to| can)\b"
    r"|(?:the )?(?:system|app|application|software|program|tool) (?:should|must|will|shall|"
    r"has to|needs to|can|is|sends?|shows?)\b"
    r"|(?:it|they) (?:should|must|can|cannot|can't|has to|have to|needs? to)\b"
    r"|there (?:should|must|has to|needs to)\b))",
    re.I,
)
_IF_THEN = re.compile(rf"^(?P<when>{_IF}\b[^,]{{3,120}}?) then (?=\w+ \w)", re.I)
_IF_FIRST_PLAIN = re.compile(
    r"^(?P<when>(?:if|when|whenever|once|as soon as|every time|each time) (?:[\w'-]+ ){2,9}?)"
    r"(?<!\bthat )(?<!\bwhat )(?<!\bwhich )(?<!\bwho )(?<!\bwhere )(?<!\bhow )(?<!\band )"
    r"(?<!\bor )(?<!\bbecause )(?<!\bif )(?<!\bwhen )(?<!\bsays )(?<!\bthink )(?<!\bthan )"
    r"(?<!\bbefore )(?<!\bafter )(?=(?:i|we|they|he|she) (?:then |just |only |also )?"
    r"(?!(?:is|are|was|were|had|have|has|do|did|don't|never|always)\b)[a-z]+ )",
    re.I,
)
"""A condition without a comma after it: "if something is broken they attach a photo"."""
_IF_LAST = re.compile(
    r",?\s+(?P<when>(?:if|when|whenever|once(?! (?:per|an?|every|each|daily|only|in)\b)|unless|"
    r"as soon as|as long as|in case|every time|each time|"
    r"only if|only when|even if|provided that|until|while|before|after)\b\s.{4,160})$",
    re.I,
)
_FINITE_IN_IF = re.compile(
    r"\b(?:is|are|was|were|has|have|had|do|does|did|isn't|aren't|hasn't|haven't|doesn't|don't|"
    r"'s|'re|"
    r"can|cannot|can't|could|will|won't|would|wants?|needs?|[a-z]{3,}(?:s|ed|es))\b",
    re.I,
)
_CLAUSE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|do|does|isn't|aren't|hasn't|haven't|doesn't|don't|can|"
    r"will)\b"
    r"|^(?:i|we|you|he|she|it|they|somebody|someone|nobody) |^(?:the|an?|our|my|every|"
    r"each) [\w-]+ [a-z]{3,}(?:s|ed)\b",
    re.I,
)
_AMOUNT_BEFORE = re.compile(
    r"\b(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|shortly|right|"
    r"immediately|long|directly|just|only)$",
    re.I,
)
_REASON = re.compile(
    r"(?:,?\s+(?:because|since (?=(?:i|we|it|they|you|the|our|there)\b)|"
    r"so(?! [^,]{0,40}\b(?:should|must|has to|needs to|will be)\b)(?: that)?(?= (?:(?:i|"
    r"we|you|it|they|he|she|that|"
    r"there|everyone|everybody|nobody|nothing|people|no one|the|an?|our|my|customers|users|staff)"
    r"\b))|"
    r"otherwise|or else|(?<=,) so(?! [^,]{0,40}\b(?:should|must|has to|needs to)\b)|"
    r"in order (?:to|for)|as (?=(?:i|we|it|they|this|that) )|which (?:is|are|"
    r"was|means|makes|would)\b|"
    r"that way|this way|but (?!(?:not|only|never|no|except|without|also|no more|at most|"
    r"at least)\b)|"
    r"although|even though|though|whereas)"
    r"|,?\s+(?:or (?:do|does|is|are|should|must|shall|may|would|can|could|will|not|what|how)\b)"
    r"|,\s+(?:[\w-]+ is (?:enough|fine|okay|ok|good)|right|you know|like|"
    r"please|i think|i guess|i believe|i suppose|if possible|"
    r"if that's possible|"
    r"for example|e\.g\.|isn't it|not just|and so on|etc|no|or something|or so|or similar|"
    r"that would|that'd|that's|that is|"
    r"maybe|perhaps|at the moment|right now|currently|at present|"
    r"it's|it is|it would|these|they're|they are|this is|this would)\b"
    r"|\s+(?:e\.g\.|for example|for instance|if possible|or something|and so on|and stuff|"
    r"etc\.?|or whatever|and such)\b"
    r"|\s+[–—-]{1,2}\s+|\s*[(\[]|\s*;\s+|:\s+(?=(?:i|we|it|they|that|most|many|some)\b))"
    r".*$",
    re.I,
)
_EXCEPTION = re.compile(
    r"\b(?:but|except|unless|only|not|never|no more|without|at (?:most|least)|excluding|"
    r"apart from)\b",
    re.I,
)
_NEXT_CLAUSE = re.compile(
    r",?\s+so\s+(?=[^,]{2,40}?\b(?:should|must|has to|needs to)\b|there will be\b)|"
    r"(?:,|;)?\s+(?:and|but)(?: then)?\s+(?=(?:i|we|you|they|he|she)(?:'\w+)?\s+[a-z]+|"
    r"it(?:'s| is)\b)|"
    r"(?:,|;)?\s+(?:and|but|plus)(?: also| then| that| of course)*\s+(?=(?P<who>"
    r"(?:i|we|you|they|it|he|she|there|nobody|everybody|everyone|no one)|"
    r"(?:the|a|an|our|my|each|every|all|some|any|only|those|these|no)\s+(?:[\w'-]+\s+){1,4}?|"
    r"[a-z][\w-]+s\s+(?:[\w-]+\s+)?)"
    r"(?:'d|'ll|\s*(?:should|must|can|cannot|can't|could|shall|will|would|may|might|need|needs|"
    r"have to|has to|"
    r"want|wants|is|are|gets?|sends?|shows?|reminds?|receives?|sees?|enters?|keeps?|also))\b)"
    r"|,\s+(?=(?:it|they|there|the \w+|we|i|you)(?:'d|'ll| (?:should|must|can|cannot|shall|will|"
    r"would|may|needs?|have|has|want|is|are))\b)"
    r"|,?\s+(?:and|but)(?: then)? (?=(?:the|our|each|every) [\w-]+ (?!of|for|in|on|at|with|"
    r"and|or|to|from|by|per)[a-z]+s "
    r"(?:it|them|the|an?|to|on|in|their|his|her)\b)"
    r"|,\s+(?=(?:i|we|you|they|he|she|people|ppl|somebody|someone) (?:just |only |also |always )?"
    r"(?!(?:and|or|of|who|that|which|in|on|at|for|with|from|to)\b)[a-z]+)"
    r"|,\s+(?=(?:an?|the) [\w-]+ (?!of|for|in|on|at|with|and|or|to|from|by|per)[a-z]+s\b)"
    r"|,\s+(?=(?:nobody|somebody|people|everybody) (?!(?:may|can|must|should|else|is allowed)\b))",
    re.I,
)
_LABEL = re.compile(
    r"^(?!(?:i|we|you|it|they|if|when)\b)[A-Z][\w/&' -]{2,40}?(?::| [–—-]{1,2})\s+"
    r"(?=(?:the|a|an|each|every|all|users?|customers?|staff|only|no|it|you|we|there|system|app|"
    r"must|should)\s\S+\s\S+\s)",
    re.I,
)
_FRONTED = re.compile(
    rf"^(?P<place>{_TIME}\s+(?:the |a |an |each |every |all |any |our |my |"
    rf"one )?[^,]{{2,60}}?),\s+(?=\w)",
    re.I,
)
_FRONTED_OPEN = re.compile(
    r"^(?P<place>(?:for|on|in|at) (?:each|every|the|all|any|my|our|your) (?:[\w-]+ ){1,3}?"
    r"(?:of (?:the|a|each|every) [\w-]+ )?)(?<!of )(?=(?:the|a|an|all|our|my|we|i|you|there|it) )",
    re.I,
)
_FRONTED_WISH = re.compile(
    r"^(?P<place>(?:with|without|for|on|in|at|during|after|before|from|every|"
    r"each) (?:(?!(?:i|we|you|they|he|she|it|"
    r"there)\b)[\w-]+ ){1,6})(?=(?:i|we|you|they|he|she|it|there)(?:'d| (?:need|want|should|must|"
    r"can|would|could|will|have to|has to|needs|wants|may)) )",
    re.I,
)
_OPEN_QUESTION = re.compile(
    r"\b(?:where|what|how|whether|which|who) (?:(?:the|a|an|many|much|\w+s|\w+) ){0,2}[\w-]+$", re.I
)


_GIVES_REASON = re.compile(r"\b(?:because|since|otherwise|so that)\b", re.I)
_ASKS_AGAIN = re.compile(
    r"[^,]{1,40}?(?:'d like\b|\b(?:want|wants|need|needs|should|must|would like|has to|have to)\b)",
    re.I,
)
"""What follows a reason and asks for something is no part of the reason."""


def clauses_of(text: str) -> list[str]:
    """A sentence cut where the next half says something wanted by itself."""
    parts, start = [], 0
    for cut in _NEXT_CLAUSE.finditer(text):
        left = text[start : cut.start()]
        if (
            len(tokens(left)) >= 4
            and not _OPEN_QUESTION.search(left)
            and not re.match(rf"(?:{_IF}|for|at|on|in)\b", left, re.I)
            and not (_GIVES_REASON.search(left) and not _ASKS_AGAIN.match(text[cut.end() :]))
        ):
            parts.append(left.strip(" ,;"))
            start = cut.end()
    return [*parts, text[start:]]


def opened_text(text: str) -> str:
    """In plain words, without what leads up to the matter and without a label before it."""
    return opened(_LABEL.sub("", clean(text)))


def without_matrix(text: str) -> tuple[str, bool]:
    """ "I think it's important that X" leaves X."""
    ensured = False
    while True:
        for pattern in _MATRIX:
            found = pattern.match(text)
            if found:
                ensured = ensured or _ENSURING.search(found[0]) is not None
                text = opened(text[found.end() :])
                break
        else:
            return text, ensured


def without_fronted(text: str) -> tuple[str, str]:
    for pattern in (_FRONTED, _FRONTED_OPEN, _FRONTED_WISH):
        found = pattern.match(text)
        place = found["place"].strip() if found else ""
        named = place.partition(" ")[2]
        if found and is_noun_phrase(named) and not _FINITE_IN_IF.search(named.rpartition(" ")[0]):
            return text[found.end() :].strip(), lower_first(place)
    return text, ""


def condition_first(text: str) -> tuple[str, str]:
    found = _IF_ASKED.match(text) or _IF_FIRST.match(text) or _IF_THEN.match(text)
    found = found or _IF_FIRST_OPEN.match(text)
    if found is None:
        found = _IF_FIRST_PLAIN.match(text)
        spoken = found["when"].split(" ", 2) if found else []
        if found and not _FINITE_IN_IF.search(spoken[2]) and not _speaks(spoken[1], spoken[2]):
            return text, ""
    if found is None or len(tokens(text[found.end() :])) < 2:
        return text, ""
    return text[found.end() :], plain(found["when"]).split(":")[0]


def _speaks(who: str, rest: str) -> bool:
    """ "When I scan it": a verb in its base form is finite after these."""
    return who.lower() in {"i", "we", "you", "they"} and is_verb(rest.split()[0])


def condition_last(text: str) -> tuple[str, str]:
    found = _IF_LAST.search(text)
    if found is None or len(tokens(text[: found.start()])) < 2:
        return text, ""
    when = re.split(r",\s+so\b", plain(found["when"]))[0]
    inner = when.split(" ", 1)[1]
    if re.search(r"\bone$", text[: found.start()]) and re.match(r"after\b", when, re.I):
        return text, ""  # "one after the other"
    if re.match(r"(?:before|after)\b", when, re.I) and _AMOUNT_BEFORE.search(text[: found.start()]):
        return text, ""
    if re.match(r"(?:until|while|before|after)\b", when, re.I) and not _CLAUSE.search(inner):
        return text, ""
    if re.search(
        r"\b(?:see|know|check|show|tell|ask|decide|choose|verify|find out|sure)\s*$",
        text[: found.start()],
    ) and when.lower().startswith(("if", "when")):
        return text, ""  # "show if it is paid" asks for the answer, it sets no condition
    return text[: found.start()], when.split(":")[0].rstrip(" .!?")


def without_reason(text: str) -> str:
    found = _REASON.search(text)
    if found is None or not found.start() or len(tokens(text[: found.start()])) < 2:
        return text
    if _EXCEPTION.match(found[0].lstrip(" ,;-–—(")):
        return text
    return text[: found.start()]
