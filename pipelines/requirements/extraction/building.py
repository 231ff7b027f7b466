"""From a sentence that says what is wanted to an action: who does what, and when.

A sentence is taken only in a shape that is known from its first word to its last; of anything
else nothing is built, and the requirement quotes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pipelines.requirements.extraction.phrases import (
    base_form,
    gerund,
    grammar,
    head_of,
    is_content,
    is_noun_phrase,
    is_participle,
    is_person,
    is_plural,
    is_system,
    is_verb,
    third_person,
)
from pipelines.requirements.extraction.pronouns import neutral, resolved, things_named
from pipelines.requirements.extraction.speech import clean, opened
from pipelines.requirements.extraction.wellformed import ends_well
from pipelines.requirements.lexicon import actors, words
from pipelines.requirements.text import lower_first, plain, tokens


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


_ADVERB = (
    r"(?:(?:also|just|really|actually|definitely|certainly|probably|maybe|perhaps|basically|simply|"
    r"still|ideally|obviously|then|now|absolutely|mainly|mostly|of course|honestly|like|hopefully|"
    r"even|additionally|at least|for sure|please|essentially|both|all|always(?= (?:want|need|"
    r"like)))"
    r"\s+)*"
)
_I = r"(?:i|we|you|they|he|she)"
_LIKE = (
    r"(?:(?:'d|would|do|will|'ll|might|did) )?"
    + _ADVERB
    + r"(?:like|love|prefer|want|need|wish|hope|"
    r"expect|plan|wants|needs|wanted|appreciate)"
)
_ABLE = (
    r"(?:be able to|be allowed to|get to|have the (?:ability|option|possibility|chance|right|"
    r"permission|opportunity) to|have (?:a|an|some) (?:easy |simple |quick )?(?:way|option|"
    r"possibility) to|be in a position to)"
)
_MATRIX = tuple(
    re.compile(rf"^{_ADVERB}(?:{pattern})[\s,:]+(?=\w)", re.I)
    for pattern in (
        rf"{_I}(?:'d|'ve| have| had| would| also| just| already| earlier)* (?:think|thought|"
        rf"believe|guess|"
        r"suppose|said|say|mentioned|explained|noted|agreed|decided|confirmed|assume|understood|"
        r"understand|feel|mean|imagine|figured|realised|realized|stated|indicated)"
        r"(?: to me| to us| earlier| before| just now)?(?: (?:that|so))?",
        rf"{_I} (?:told|reminded) (?:me|us|you)(?: that)?",
        r"if i (?:understand|understood|got|get|heard)(?: you| that| it| this)*(?: correctly|"
        r" right)?",
        r"(?:so )?(?:my|our|the|your) (?:idea|goal|plan|aim|point|rule|requirement|wish|request|"
        r"expectation|understanding|hope|most important (?:thing|point|requirement)|main (?:thing|"
        r"goal|requirement|point)|other (?:thing|requirement)|first thing|next thing|biggest wish)"
        r"(?: here| for (?:me|us))? (?:is|was|would be)(?: that)?",
        r"(?:one|another|one more|a further|the first|the second|the next|the last) (?:thing|"
        r"requirement|point|wish|idea|feature) (?:is|was|would be)(?: that)?",
        rf"what {_I}(?: also| really)* (?:want|need|would like|'d like|expect|have in mind)"
        r"(?: is| would be)(?: that)?",
        rf"all {_I} (?:want|need) is(?: that)?",
        r"it (?:is|was|'s) (?:agreed|decided|clear|planned|intended|understood)(?: that)?",
        r"(?:please )?(?:note|remember|keep in mind|be aware)(?: that)?",
        r"is it (?:right|correct|true)(?: that)?",
        r"(?:it(?:'s| is| would be| might be|'d be) |that(?:'s| is) )?(?:really |also |very |"
        r"quite |most |"
        r"more |super |so )*(?:important|essential|crucial|critical|necessary|vital|best|better|"
        r"nice|"
        r"great|good|helpful|useful|handy|perfect|ideal|cool|amazing|fantastic|wonderful|lovely|"
        r"convenient|awesome|enough)(?: for (?:me|us|them))?(?: also)? (?:that|if|when)",
        rf"{_I}{_ADVERB and ''}(?:'d| would| do|'ll)? ?{_ADVERB}(?:like|love|prefer|want|"
        rf"appreciate|hope|"
        r"wish|expect|need)(?: it| to see)?(?: very much)? (?:that|if|when)",
        r"(?:please )?(?:make sure|ensure|be sure|see to it)(?: that)?(?! to\b)",
        rf"{_I} (?:must|should|need to|have to|want to|would like to|'d like to) (?:make sure|"
        rf"ensure)"
        r"(?: that)?(?! to\b)",
    )
)
_ENSURING = re.compile(r"\b(?:make sure|ensure|be sure|see to it)\b", re.I)
_NEGATED_MATRIX = re.compile(
    rf"\b{_I} (?:do not|don't|did not|didn't|would not|wouldn't|never|no longer|cannot|"
    rf"can't) (?:\w+ )?"
    r"(?:think|believe|want|need|like|care|expect|require|mind|plan|have to|see|know|wish|use|"
    r"suppose)"
    r"|\b(?:do not|don't|does not|doesn't|did not|didn't|should not|shouldn't|must not|will not|"
    r"won't)"
    r" (?:have|need) to\b|\bneedn't\b|\bno need\b|\bnot (?:necessary|needed|required|important)\b"
    r"|\binstead of having to\b",
    re.I,
)
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
_IF_FIRST_OPEN = re.compile(
    r"^(?P<when>(?:if|when|whenever|once|as soon as|every time|each time|"
    r"in case)\b.{3,120}?)\s+(?:then\s+)?"
    r"(?=(?:(?:i|we|you)(?:'d| would| want| need| must| should| have to| can)\b"
    r"|(?:the )?(?:system|app|application|software|program|tool) (?:should|must|will|shall|"
    r"has to|needs to|can|is|sends?|shows?)\b"
    r"|there (?:should|must|has to|needs to)\b))",
    re.I,
)
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
    r"so(?! [^,]{0,40}\b(?:should|must|has to|needs to)\b)(?: that)?(?= (?:(?:i|"
    r"we|you|it|they|he|she|that|"
    r"there|everyone|everybody|nobody|people|no one|the|our|my|customers|users|staff)\b))|"
    r"otherwise|or else|(?<=,) so(?! [^,]{0,40}\b(?:should|must|has to|needs to)\b)|"
    r"in order (?:to|for)|as (?=(?:i|we|it|they|this|that) )|which (?:is|are|"
    r"was|means|makes|would)\b|"
    r"that way|this way|but (?!(?:not|only|never|no|except|without|also|no more|at most|"
    r"at least)\b)|"
    r"although|even though|though|whereas)"
    r"|,?\s+(?:or (?:do|does|is|are|should|must|shall|may|would|can|could|will|not|what|how)\b)"
    r"|,\s+(?:right|you know|like|please|i think|i guess|i believe|i suppose|if possible|"
    r"if that's possible|"
    r"for example|e\.g\.|isn't it|not just|and so on|etc|no|or something|or so|or similar|"
    r"that would|that'd|that's|that is|"
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
_POLITE_END = re.compile(
    r"(?:,?\s+(?:please|full stop|period|too|as well|of course|ideally|at all|somehow|also|"
    r"though|if possible|maybe|"
    r"for example|for sure|thanks|thank you|then|right|correct|right away please|at some point|"
    r"definitely|"
    r"basically|actually|really|and everything|and all that|and things like that|or anything))+$",
    re.I,
)
_NEXT_CLAUSE = re.compile(
    r",?\s+so\s+(?=[^,]{2,40}?\b(?:should|must|has to|needs to)\b)|"
    r"(?:,|;)?\s+(?:and|but)\s+(?=(?:i|we|you|they|he|she)(?:'\w+)?\s+[a-z]+|it(?:'s| is)\b)|"
    r"(?:,|;)?\s+(?:and|but|plus)(?: also| then| that| of course)*\s+(?=(?P<who>"
    r"(?:i|we|you|they|it|he|she|there|nobody|everybody|everyone|no one)|"
    r"(?:the|a|an|our|my|each|every|all|some|any|only|those|these|no)\s+(?:[\w'-]+\s+){1,4}?|"
    r"[a-z][\w-]+s\s+(?:[\w-]+\s+)?)"
    r"(?:'d|'ll|\s*(?:should|must|can|cannot|can't|could|shall|will|would|may|might|need|needs|"
    r"have to|has to|"
    r"want|wants|is|are|gets?|sends?|shows?|reminds?|receives?|sees?|enters?|keeps?|also))\b)"
    r"|,\s+(?=(?:it|they|there|the \w+|we|i|you)(?:'d|'ll| (?:should|must|can|cannot|shall|will|"
    r"would|may|needs?|have|has|want|is|are))\b)"
    r"|,\s+(?=(?:an?|the) [\w-]+ (?!of|for|in|on|at|with|and|or|to|from|by|per)[a-z]+s\b)"
    r"|,\s+(?=(?:nobody|somebody|people|everybody) (?!(?:may|can|must|should|else|is allowed)\b))",
    re.I,
)
_MODAL = (
    r"(?P<modal>(?:really |absolutely |definitely |also |then |always |only )?(?:should|must|"
    r"shall|will|would|can|could|may|might|cannot|can't|"
    r"couldn't|won't|wouldn't|shouldn't|mustn't|ought to|needs? to|has to|have to|had to|'ll|"
    r"is to|are to|"
    r"(?:is|are|be) (?:supposed|required|expected|meant|allowed|able|permitted|going|obliged) to|"
    r"(?:is|are)(?: not|n't) (?:allowed|permitted|supposed|able) to|got to|gets? to))"
)
_MODAL_AT = re.compile(
    rf"^(?P<who>.{{1,90}}?)(?:\s+|(?='))(?:{_MODAL})(?P<not>\s+(?:not|never)\b)?\s+(?P<rest>.+)$",
    re.I,
)
_NEGATIVE_MODAL = re.compile(r"n't|cannot|\bnot\b|\bnever\b", re.I)
_WISH_TO = re.compile(
    rf"^(?P<who>{_I}|.{{2,60}}?)(?:\s+|(?=')){_LIKE}(?: for)? to (?:be able to |"
    rf"also )?(?P<rest>.+)$",
    re.I,
)
_WISH_SOMEBODY = re.compile(
    rf"^{_I}(?:\s+|(?=')){_LIKE}(?: for)? (?P<who>(?!to\b).{{1,70}}?) "
    r"(?P<not>not )?to (?P<rest>.+)$",
    re.I,
)
_WISH_THING = re.compile(
    rf"^(?P<who>{_I}|(?:[\w'-]+ ){{0,5}}?[\w'-]+?)(?:\s+|(?=')){_LIKE}(?: to have| having|"
    rf" to get)? (?P<what>.+)$",
    re.I,
)
_WISH_SEEN = re.compile(
    rf"^{_I}(?:\s+|(?=')){_LIKE} (?P<what>(?:the|our|my|all|a|an|every|"
    rf"each)\s.{{2,60}}?) (?P<verb>[a-z]+ed|sent|shown|kept|made|sorted|put|done)\b(?P<rest>.*)$",
    re.I,
)
_THERE = re.compile(
    r"^there(?:'s| (?:should|must|shall|will|has to|have to|needs? to|would|could|can|ought to|"
    r"is|are))"
    r"(?: also| always| really| just| ideally| probably| at least)*(?: (?:be|"
    r"exist))?(?P<not> (?:not be|never be|be no|no)\b)? (?P<what>.+)$",
    re.I,
)
_WAY_TO = re.compile(
    r"(?:an?|some|the|another)? ?(?:\w+ )?(?:way|option|possibility|ability|chance|means|"
    r"opportunity|button)\b",
    re.I,
)
_PREFERS = re.compile(
    rf"^{_I}(?:'d| would)? rather (?:have )?(?P<what>(?:a|an|the|some|one)\s.+)$", re.I
)
_FOR_IT_TO = re.compile(
    r"^(?:(?:it|that|this)(?: would|'d| will)(?: also| really)? help(?: a lot| us| me| them)?|"
    r"(?:it (?:is|would be|should be|must be|has to be)|it'd be|it's|is it|would it be|"
    r"will it be|make it|"
    r"(?:this|that) (?:is|would be))(?: also| really| very| quite)* "
    r"(?:nice|great|good|helpful|useful|handy|possible|important|essential|crucial|necessary|"
    r"cool|ideal|"
    r"perfect|better|best|easy|"
    r"convenient))(?: for (?P<who>.{2,40}?))? to (?:be able to )?(?P<rest>.+)$",
    re.I,
)
_IDEA_TO = re.compile(
    r"^(?:(?:the|my|our|your) (?:idea|goal|plan|aim|wish|point|main thing|"
    r"most important thing) (?:is|was)|"
    rf"{_I}(?:'re|'m| are| am) (?:planning|hoping|looking|trying|aiming)|what {_I} (?:want|"
    rf"need) is|all {_I} (?:want|need) is) to (?P<rest>.+)$",
    re.I,
)
_ASK_FOR = re.compile(
    rf"^(?:can|could|may|shall|should|would|will) (?:{_I}|it|the (?:system|app|"
    rf"application)) (?:also |maybe |please |perhaps |then )*(?:get|have) (?P<what>.+)$",
    re.I,
)
_ASK_MODAL = re.compile(
    r"^(?P<modal>can|could|may|shall|should|must|will|would|does|do|is|are) (?P<rest>.+)$", re.I
)
_DO_YOU_WANT = re.compile(
    r"^(?:do|does|would|will|should|did) (?P<who>you|we|they|i|.{2,40}?) (?:also |really |"
    r"still |then |ever )*"
    r"(?:want|need|like|prefer|wish|love|expect)(?P<rest> .+)$",
    re.I,
)
_HOW_ABOUT = re.compile(r"^(?:how|what) about (?P<rest>.+)$", re.I)
_WOULD_HELP = re.compile(
    r"^(?P<what>(?:an?|the|some|more|another|[a-z]+er)\s.{2,70}?) (?:would|might|could)(?: also|"
    r" really| definitely)*"
    r" (?:be (?:also |really |very |quite |super |so )*(?:nice|great|good|helpful|useful|handy|"
    r"cool|perfect|ideal|lovely|"
    r"awesome|fantastic|amazing|a plus|a bonus|better|enough|important|convenient)|"
    r"help)(?: (?:for|to) \w+| a lot| us| me)*$",
    re.I,
)
_WHAT_IF = re.compile(r"^what if (?P<rest>.+)$", re.I)
_NOBODY = re.compile(
    r"^(?:nobody|no one|no-one|none of (?P<of>.{3,30}?))(?: else)?(?: (?:but|except(?: for)?|"
    r"other than|apart from|besides) (?P<but>.{2,50}?))?"
    r" (?:can|may|should|must|shall|will|is allowed to|gets? to|could|has to)(?: be able to|"
    r" be allowed to| ever)? (?P<rest>.+)$",
    re.I,
)
_ONLY_WHO = re.compile(
    r"^(?:only|just) (?P<who>.{2,50}?) (?:can|may|should|must|shall|will|is allowed to|"
    r"are allowed to|gets? to|could|has to|have to|is able to|are able to)"
    r"(?: be able to| be allowed to| also)? (?P<rest>.+)$",
    re.I,
)
_LET = re.compile(
    r"^(?:please )?(?:let|allow|enable|permit) (?P<who>us|me|them|"
    r".{3,40}?) (?:to )?(?P<rest>(?:[a-z]+)\b.+)$",
    re.I,
)
_DONT = re.compile(r"^(?:please )?(?:do not|don't|never|no longer) (?P<rest>.+)$", re.I)
_NO_THING = re.compile(r"^no (?P<what>[a-z].+)$", re.I)
_GIVE_BY_PASSIVE = re.compile(r"\bby (?P<agent>(?:the |an? |our )?[\w-]+(?: [\w-]+)?)$", re.I)
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
    r"^(?P<place>(?:for|on|in|at) (?:each|every|the|all|any) (?:[\w-]+ ){1,3}?)(?=(?:the|a|an|"
    r"all|our|my|we|i|you|there|it) )",
    re.I,
)


_OPEN_QUESTION = re.compile(
    r"\b(?:where|what|how|whether|which|who) (?:(?:the|a|an|many|much|\w+s|\w+) ){0,2}[\w-]+$", re.I
)


def clauses_of(text: str) -> list[str]:
    """A sentence cut where the next half says something wanted by itself."""
    parts, start = [], 0
    for cut in _NEXT_CLAUSE.finditer(text):
        left = text[start : cut.start()]
        if (
            len(tokens(left)) >= 4
            and not _OPEN_QUESTION.search(left)
            and not re.match(rf"(?:{_IF}|for|at|on|in)\b", left, re.I)
        ):
            parts.append(left.strip(" ,;"))
            start = cut.end()
    return [*parts, text[start:]]


def opened_text(text: str) -> str:
    """In plain words, without what leads up to the matter and without a label before it."""
    return opened(_LABEL.sub("", clean(text)))


def built_clause(said: Said) -> Built | None:
    text, ensured = without_matrix(said.text)
    if not text:
        return None
    text, place = _without_fronted(text)
    said = replace(said, before=place) if things_named(place) else said
    text, first = _condition_first(text)
    if first:
        text, _ = without_matrix(opened(text))
        said = replace(said, before=first) if things_named(first) else said
    text = _without_reason(text)
    text, last = _condition_last(text)
    text = _POLITE_END.sub("", text.rstrip(" .!?,;:…")).rstrip(" .!?,;:")
    if _NEGATED_MATRIX.search(text):
        return None
    text = re.sub(
        r"^(?:you|me|i|we) and (?!(?:i|we|you)\b)(?=[a-z])", "the user and ", text, flags=re.I
    )
    built = _shaped(text, said, ensured=ensured)
    if built is None:
        return None
    when = ", ".join(filter(None, (first, last, built.condition)))
    action = f"{built.action} {place}".strip() if place else built.action
    return _finished(replace(built, action=action, condition=when), said)


def _finished(built: Built, said: Said) -> Built | None:
    """In neutral words, with what "it" stands for where that is certain."""
    by_system = not built.subject or is_system(built.subject)
    action = neutral(_POLITE_END.sub("", plain(built.action)), of_person=not by_system)
    before = built.condition if "its " in action or things_named(built.condition) else said.before
    action = resolved(action, before=before, by_them=built.subject.lower() == "they")
    condition = neutral(built.condition, of_person=False) if built.condition else ""
    action = action.strip(" ,.;:")
    return replace(built, action=action[:1].upper() + action[1:], condition=condition)


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


def _without_fronted(text: str) -> tuple[str, str]:
    for pattern in (_FRONTED, _FRONTED_OPEN):
        found = pattern.match(text)
        if found and not _FINITE_IN_IF.search(
            found["place"].split(" ", 1)[1].rsplit(" ", 1)[0] + " "
        ):
            place = found["place"].strip()
            if is_noun_phrase(place.split(" ", 1)[1]):
                return text[found.end() :].strip(), lower_first(place)
    return text, ""


def _condition_first(text: str) -> tuple[str, str]:
    found = _IF_FIRST.match(text) or _IF_FIRST_OPEN.match(text)
    if found is None or len(tokens(text[found.end() :])) < 2:
        return text, ""
    return text[found.end() :], plain(found["when"]).split(":")[0]


def _condition_last(text: str) -> tuple[str, str]:
    found = _IF_LAST.search(text)
    if found is None or len(tokens(text[: found.start()])) < 2:
        return text, ""
    when = plain(found["when"])
    inner = when.split(" ", 1)[1]
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


def _without_reason(text: str) -> str:
    found = _REASON.search(text)
    if found is None or not found.start() or len(tokens(text[: found.start()])) < 2:
        return text
    if _EXCEPTION.match(found[0].lstrip(" ,;-–—(")):
        return text
    return text[: found.start()]


def _shaped(text: str, said: Said, *, ensured: bool) -> Built | None:
    """The first shape that fits."""
    if ensured:
        return _ensured(text, said)
    for shape in _SHAPES:
        built = shape(text, said)
        if built is not None:
            return built
    return None


def _nobody(text: str, said: Said) -> Built | None:
    found = _NOBODY.match(text)
    if found is None:
        return None
    doing = verb_phrase(found["rest"])
    if not doing or found["of"]:
        return None
    if found["but"]:
        who = _named(found["but"])
        return _only(who, doing) if who else None
    if " else " in text.lower()[:14] or re.match(r"no ?-?one else|nobody else", text, re.I):
        return None
    return Built(f"prevent everybody from {_gerund_phrase(doing)}", negative=True)


def _only_who(text: str, said: Said) -> Built | None:
    found = _ONLY_WHO.match(text)
    who = _named(found["who"]) if found else None
    doing = verb_phrase(found["rest"]) if found else ""
    if not who or not doing:
        return None
    return _only(who, doing) if is_person(who) or who == "the user" else None


def _only(who: str, doing: str) -> Built:
    """A right of one kind of people, as what they do; of several kinds, as what they are let do."""
    if re.search(r"\band\b|\bor\b|,", who):
        return Built(f"allow only {who} to {doing}")
    return Built(f"{doing}, which nobody else may do", subject=who)


def _there_is(text: str, said: Said) -> Built | None:
    found = _THERE.match(text)
    if found is None:
        return None
    what = found["what"]
    if found["not"] or re.match(r"no\b|not\b|never\b", what, re.I):
        what = re.sub(r"^(?:no|not|any)\s+", "", what, flags=re.I)
        return (
            Built(f"ensure that there {_is(what)} no {what}", negative=True)
            if _thing(what)
            else None
        )
    way = re.match(
        r"(?:a|an|some) (?:\w+ )?(?:way|option|possibility|"
        r"means) (?:for (?P<who>.{2,30}?) )?to (?P<rest>.+)$",
        what,
        re.I,
    )
    if way and verb_phrase(way["rest"]):
        return Built(verb_phrase(way["rest"]), subject=way["who"] or "the user")
    if re.match(r"there(?:'s| is| are)\b", text, re.I):
        return None  # tells how things are
    return _provided(what)


def _wish_somebody(text: str, said: Said) -> Built | None:
    found = _WISH_SOMEBODY.match(text)
    if found is None or _WAY_TO.match(found["who"]):
        return None
    return of_subject(found["who"], found["rest"], said, negative=bool(found["not"]))


def _wish_to(text: str, said: Said) -> Built | None:
    found = _WISH_TO.match(text)
    if found is None or re.search(r"\b(?:not|n't|never)\b", text[: found.start("rest")], re.I):
        return None
    if not re.fullmatch(_I, found["who"], re.I) and not _named(found["who"]):
        return None
    return of_subject(found["who"], found["rest"], said)


def _wish_seen(text: str, said: Said) -> Built | None:
    """ "I want the bill sent by e-mail"."""
    found = _WISH_SEEN.match(text)
    if found is None or not is_participle(found["verb"]) or not _thing(found["what"]):
        return None
    verb = base_form(found["verb"])
    return Built(f"{verb} {lower_first(found['what'])}{found['rest']}")


def _wish_thing(text: str, said: Said) -> Built | None:
    found = _PREFERS.match(text) or _WISH_THING.match(text)
    if found is None:
        return None
    who = found.groupdict().get("who") or "i"
    if re.search(
        r"\b(?:not|never|no|should|must|can|will|to)\b|n't", text[: found.start("what")], re.I
    ):
        return None
    what = found["what"]
    if re.fullmatch(_I, who, re.I):
        return _wanted_thing(what, said)
    named = _named(who)
    provided = _provided(what) if named else None
    if provided is None:
        return None
    return replace(provided, action=f"{provided.action} for {lower_first(who)}")


def _wanted_thing(what: str, said: Said) -> Built | None:
    way = re.match(
        r"(?:a|an|some|the)? ?(?:kind of |sort of )?(?:easy |simple |quick |better )?(?:way|"
        r"option|possibility|ability|chance|means|opportunity)"
        r"(?: for (?P<who>.{2,40}?))? to (?P<rest>.+)$",
        what,
        re.I,
    )
    if way:
        return of_subject(way["who"] or "i", way["rest"], said)
    modal = _MODAL_AT.match(what)
    if modal and not re.search(r"\b(?:that|which|who|where)\b", modal["who"], re.I):
        return _modal(what, said)
    return _provided(what)


def _ask_for(text: str, said: Said) -> Built | None:
    found = _ASK_FOR.match(text)
    return _provided(found["what"]) if found else None


def _possible_to(text: str, said: Said) -> Built | None:
    found = _FOR_IT_TO.match(text) or _IDEA_TO.match(text)
    if found is None:
        return None
    return of_subject(found.groupdict().get("who") or "i", found["rest"], said)


def _do_you_want(text: str, said: Said) -> Built | None:
    found = _DO_YOU_WANT.match(text)
    if found is None:
        return None
    who = found["who"]
    if not re.fullmatch(_I, who, re.I) and not _named(who):
        return None
    rest = found["rest"].strip()
    if re.match(r"to\s", rest, re.I):
        return of_subject(who, rest[3:], said)
    return (
        _wish_somebody(f"we want {rest}", said)
        or _wish_seen(f"we want {rest}", said)
        or (_wanted_thing(rest, said) if re.fullmatch(_I, who, re.I) else None)
    )


def _what_if(text: str, said: Said) -> Built | None:
    found = _WHAT_IF.match(text)
    return _modal(found["rest"], said) if found else None


def _how_about(text: str, said: Said) -> Built | None:
    found = _HOW_ABOUT.match(text)
    if found is None:
        return None
    head, _, rest = found["rest"].partition(" ")
    verb = base_form(head) if head.lower().endswith("ing") else None
    if verb and rest:
        return Built(verb_phrase(f"{verb} {rest}"))
    what = found["rest"]
    named = re.match(r"(?:an?|the|some|another|more|different|separate)\s", what, re.I)
    return _provided(what) if named or len(tokens(head_of(what.rstrip("?")))) > 1 else None


def _would_help(text: str, said: Said) -> Built | None:
    """ "A list of late cases would be helpful"."""
    found = _WOULD_HELP.match(text)
    return _provided(found["what"]) if found else None


_ALTERNATIVE = re.compile(r",? or (?:(?:also|only|just|instead|keep|both)\b|[\w-]+\??$)", re.I)


def _asked(text: str, said: Said) -> Built | None:
    """ "Should the customer see the price": the subject ends before the verb."""
    found = _ASK_MODAL.match(text)
    if found is None or _ALTERNATIVE.search(text):
        return None
    spoken = found["rest"].split()
    options: list[tuple[int, str, str]] = []
    for at in range(1, min(9, len(spoken))):
        who, rest = " ".join(spoken[:at]), " ".join(spoken[at:])
        if not (_is_pronoun(who) or is_noun_phrase(who)):
            continue
        verb = re.sub(
            rf"^{_ADVERB}(?:not |only |always |never |[a-z]+ly )*", "", rest, flags=re.I
        ).split()
        if verb and (is_verb(verb[0]) or verb[0].lower() == "be") and verb[0].islower():
            acts = _is_pronoun(who) or is_system(who) or is_person(who)
            options.append((3 if acts and _fits(verb) else _fits(verb), who, rest))
    if not options:
        return None
    _, who, rest = max(options, key=lambda option: option[0])
    modal = found["modal"].lower()
    if modal in {"do", "does"}:
        return _present_of(who, rest, said)
    if modal in {"is", "are"}:
        return None
    return of_subject(who, rest, said, modal=modal)


def _fits(verb: list[str]) -> int:
    """How well what follows goes with a verb."""
    if verb[0].lower() == "be":
        return 3
    after = verb[1].lower() if len(verb) > 1 else ""
    numbers = grammar("many") - {"data", "people", "children", "staff", "men", "women"}
    if after in words("determiners") | words("prepositions") | numbers or after.isdigit():
        return 2
    return 1 if after and not is_verb(after) else 0


def _modal(text: str, said: Said) -> Built | None:
    """ "The driver must scan the parcel"."""
    for found in _modals(text):
        who = opened(found["who"]).strip(" ,")
        who = (
            re.sub(rf"\s+{_ADVERB.rstrip('*')}$".replace(r"\s+)", r"\s*)"), "", f"{who} ").strip()
            or who
        )
        if not (_is_pronoun(who) or is_noun_phrase(who)):
            continue
        negative = bool(_NEGATIVE_MODAL.search(found["modal"]) or found["not"])
        rest = found["rest"]
        if re.match(r"(?:not|never)\s", rest, re.I):
            negative, rest = True, rest.split(" ", 1)[1]
        only = "only " if re.match(r"only ", found["modal"], re.I) else ""
        return of_subject(
            who, only + rest, said, modal=_plain_modal(found["modal"]), negative=negative
        )
    return None


def _modals(text: str) -> Iterator[re.Match[str]]:
    found = _MODAL_AT.match(text)
    if found:
        yield found


def _plain_modal(modal: str) -> str:
    low = modal.lower()
    return (
        "can"
        if re.search(r"\b(?:can|could|may|might|able|allowed|permitted|gets? to)|cannot", low)
        else "must"
    )


def _present(text: str, said: Said) -> Built | None:
    """ "The driver scans the parcel", "orders are stored for ten years"."""
    spoken = text.split()
    for at in range(1, min(8, len(spoken))):
        who, rest = " ".join(spoken[:at]), " ".join(spoken[at:])
        if spoken[at].endswith(",") or who.endswith(","):
            return None
        if not (_is_pronoun(who) or is_noun_phrase(who)) or who.lower().split()[-1] in words(
            "prepositions"
        ):
            continue
        passive = re.match(
            r"(?:is|are|gets?)(?P<adv> (?:also|then|always|only|automatically|never|"
            r"not))* (?P<verb>[a-z]+)\b",
            rest,
            re.I,
        )
        if passive and passive["verb"].lower() in grammar("mishaps"):
            return None
        if passive and is_participle(passive["verb"]):
            return of_subject(
                who,
                "be" + rest[len(rest.split()[0]) :],
                said,
                modal="must",
                negative=bool(re.search(r"\b(?:not|never)\b", passive[0])),
            )
        adverb = spoken[at : at + 1] if spoken[at].endswith("ly") else []
        verb = finite_verb(who, spoken[at + len(adverb) :])
        if verb:
            rest = " ".join([*adverb, verb, *spoken[at + len(adverb) + 1 :]])
            return _present_of(who, rest, said)
    return None


def finite_verb(who: str, spoken: list[str]) -> str | None:
    """The base of the verb that goes with this subject, if one comes next."""
    if len(spoken) < 2 or spoken[1].lower() in {"is", "are", "was", "were", "has", "have"}:
        return None
    word = re.sub(r"[,.]$", "", spoken[0]).lower()
    verb = base_form(word)
    if verb is None or word.endswith(("ing", "ed")) or word in words("prepositions"):
        return None
    plural = is_plural(who) or who.lower() in {"i", "we", "you", "they"}
    return verb if word == (verb if plural else third_person(verb)) else None


def _present_of(who: str, rest: str, said: Said) -> Built | None:
    if re.match(
        r"(?:have|own|employ|be|know|think|hope|feel|like|love|hate|mean|forget|lose|live|come|"
        r"go)\b",
        rest,
    ) and re.fullmatch(_I, who, re.I):
        return None  # tells how things are
    return of_subject(who, _all_base(rest), said, modal="present")


def _all_base(phrase: str) -> str:
    """ "scan the form and attaches it" with every verb in its base form."""

    def plainly(found: re.Match[str]) -> str:
        verb = base_form(found["verb"])
        return (
            f"{found['and']}{verb}"
            if verb and third_person(verb) == found["verb"].lower()
            else found[0]
        )

    return re.sub(
        r"(?P<and>(?:\b(?:and|or|then)|,)\s(?:then |also )?)(?P<verb>[a-z]+s)(?= (?:the|a|an|it|"
        r"them|this|that|their|his|her|all|each|every|in|on|to|for|at|from|into|with|by)\b)",
        plainly,
        phrase,
    )


def _ordered(text: str, said: Said) -> Built | None:
    """ "Send me the list", "please let us export it", "don't send more than one"."""
    refused = _DONT.match(text)
    if refused:
        phrase = verb_phrase(refused["rest"])
        return Built(f"never {phrase}", negative=True) if phrase else None
    let = _LET.match(text)
    if let and not re.match(
        r"(?:me|us) (?:know|explain|think|see if|check|tell|say|add|give|clarify|start|show you)\b",
        text[4:],
        re.I,
    ):
        who = let["who"]
        if (re.fullmatch(r"us|me|them", who, re.I) or _named(who)) and is_verb(
            let["rest"].split()[0]
        ):
            return of_subject(
                {"us": "we", "me": "i", "them": "they"}.get(who.lower(), who), let["rest"], said
            )
    spoken = text.split()
    if len(spoken) < 2 or not is_verb(spoken[0]) or _reads_as_noun(spoken):
        return None
    return Built(verb_phrase(text))


def _reads_as_noun(spoken: list[str]) -> bool:
    """ "Text messages are …", "order number": a word that may be a verb, but names something."""
    after = spoken[1].lower().strip(",.")
    goes_on = after in words("determiners") | words("prepositions") | {
        "me",
        "us",
        "it",
        "them",
        "only",
        "all",
        "more",
        "up",
        "out",
    }
    if any(word.lower() in words("auxiliaries") for word in spoken[1:5]) and not re.search(
        r"\b(?:that|which|who|if|when|what|how)\b", " ".join(spoken[1:5])
    ):
        return True
    return (
        not goes_on
        and spoken[0].lower() not in grammar("orders")
        and not after.isdigit()
        and not after.endswith("s")
    )


def _no_thing(text: str, said: Said) -> Built | None:
    found = _NO_THING.match(text)
    what = found["what"] if found else ""
    if (
        not what
        or re.search(r"\b(?:should|must|can|may|will|is|are|has|have)\b", what)
        or not _thing(what)
    ):
        return None
    if re.match(r"(?:more|less|later|longer|one|problem|need|idea|worries)\b", what, re.I):
        return None
    return Built(f"ensure that there {_is(what)} no {what}", negative=True)


def _ensured(text: str, said: Said) -> Built | None:
    """ "Make sure that the caretaker gets a message": the statement as it is."""
    if re.match(r"to\s+[a-z]", text):
        return Built(verb_phrase(text[3:]))
    found = _MODAL_AT.match(text)
    if found:
        return _modal(text, said)
    spoken = text.split()
    for at in range(1, min(8, len(spoken))):
        who, verb = " ".join(spoken[:at]), spoken[at].lower()
        if (
            is_noun_phrase(who)
            and (verb in {"is", "are", "has", "have", "does", "do"} or base_form(verb))
            and not verb.endswith("ing")
        ):
            if verb in words("prepositions") or (base_form(verb) == verb and not is_plural(who)):
                continue
            return Built(f"ensure that {lower_first(text)}")
    return None


_SHAPES = (
    _nobody, _only_who, _there_is, _ask_for, _possible_to, _do_you_want, _how_about, _what_if,
    _would_help, _wish_somebody, _wish_to, _wish_seen, _modal, _wish_thing,
    _asked, _no_thing, _ordered, _present,
)  # fmt: skip


def of_subject(
    who: str, rest: str, said: Said, *, modal: str = "must", negative: bool = False
) -> Built | None:
    """A subject and what it does, in the form that keeps its meaning."""
    rest = _bare(rest)
    if re.match(r"(?:not|never) ", rest, re.I):
        negative, rest = not negative, rest.split(" ", 1)[1]
    who = {"them": "they", "him": "he", "her": "she", "us": "we", "me": "i"}.get(
        who.strip(" ,").lower(), who.strip(" ,")
    )
    if re.match(r"(?:not all|not every|not everyone|no|only)\b", who, re.I):
        return _quantified(who, rest, modal)
    rest = re.sub(r"^(?:remain|stay) (?=[a-z]+(?:ble|ed|en|al)\b)", "be ", rest)
    if who.lower() in {"it", "this", "that"} and rest.startswith("be "):
        named = [name for name in things_named(said.before) if not is_plural(name)]
        who = named[0] if len(named) == 1 else who
    passive = _passive(rest)
    if passive:
        return _done_to(who, passive, said, modal=modal, negative=negative)
    if re.match(r"be\b", rest, re.I):
        return _state(who, rest, said, negative=negative)
    phrase = verb_phrase(rest)
    return _doing(who, phrase, said, modal=modal, negative=negative) if phrase else None


def _doing(who: str, phrase: str, said: Said, *, modal: str, negative: bool) -> Built | None:
    low = who.lower()
    if low in actors("self") | {"i", "we", "you"}:
        had = re.match(r"have (?P<what>.+)$", phrase)
        if had and not negative:
            return None if modal == "present" else _provided(had["what"])
        return _by_somebody("the user", phrase, negative=negative)
    if low in {"they", "he", "she"}:
        return _by_somebody(who, phrase, negative=negative)
    if is_system(who) or (low in {"it", "this", "that"} and _is_the_system(phrase, said)):
        return Built(f"never {phrase}" if negative else phrase, negative=negative)
    if low in {"it", "this", "that"}:
        named = [name for name in things_named(said.before) if not is_plural(name)]
        return (
            _by_thing(named[0], phrase, modal=modal, negative=negative) if len(named) == 1 else None
        )
    if is_person(who) or re.match(
        r"(?:everyone|everybody|anyone|anybody|someone|somebody|people)$", low
    ):
        return _by_somebody(who, phrase, negative=negative)
    return _by_thing(who, phrase, modal=modal, negative=negative)


def _quantified(who: str, rest: str, modal: str) -> Built | None:
    if re.match(r"only\b", who, re.I):
        return _only_who(f"{who} may {rest}", Said(""))
    return (
        Built(f"ensure that {lower_first(who)} {'can ' if modal == 'can' else ''}{rest}")
        if modal == "can" and re.match(r"no\b", who, re.I) and is_noun_phrase(who.split(" ", 1)[-1])
        else None
    )


def _bare(rest: str) -> str:
    rest = re.sub(rf"^{_ADVERB}", "", rest.strip(), flags=re.I)
    rest = re.sub(rf"^{_ABLE} ", "", rest, flags=re.I)
    rest = re.sub(r"^only be\b", "be only", rest, flags=re.I)
    return re.sub(rf"^{_ADVERB}", "", rest, flags=re.I)


def _by_somebody(who: str, phrase: str, *, negative: bool) -> Built | None:
    if negative:
        named = "the user" if who == "the user" else _named(who)
        if not named:
            return None
        return Built(f"prevent {named} from {_gerund_phrase(phrase)}", negative=True)
    if re.search(r"\b(?:and|or)\b", head_of(who)):
        return Built(f"allow {lower_first(who)} to {phrase}")
    if _COUNTED.match(who):
        return Built(
            f"ensure that {lower_first(who)} {phrase if is_plural(who) else _conjugated(phrase)}"
        )
    some = head_of(who) != who and is_noun_phrase(who)
    return Built(phrase, subject=who, condition=f"for {lower_first(who)}" if some else "")


_COUNTED = re.compile(
    r"(?:at least|at most|no more than|not more than|up to|exactly|more than|less than|only|"
    r"most|some|half|few|two|three|"
    r"four|five|six|ten|\d+)\b",
    re.I,
)


def _by_thing(who: str, phrase: str, *, modal: str, negative: bool) -> Built | None:
    """What a thing does: the system has it done, or sees to it."""
    verb, _, rest = phrase.partition(" ")
    low = lower_first(who)
    if (
        not negative
        and verb in grammar("containing")
        and rest
        and not re.match(r"(?:to|up|on|in)\b", rest)
    ):
        at = "on" if head_of(who).lower().split()[-1] in grammar("place_on") else "in"
        shown = {"have": "include", "contain": "include", "carry": "show"}.get(verb, verb)
        return Built(f"{shown} {rest} {at} {low}")
    if (
        not negative
        and verb in grammar("ergative")
        and modal == "must"
        and not re.match(r"(?:the|a|an|it|all|each|every|new|their)\b", rest)
    ):
        return Built(f"{verb} {low} {rest}".strip())
    plural = is_plural(who)
    if modal == "can":
        return Built(
            f"ensure that {low} {'cannot' if negative else 'can'} {phrase}", negative=negative
        )
    if negative:
        return Built(f"ensure that {low} {'do' if plural else 'does'} not {phrase}", negative=True)
    doing = phrase if plural else _conjugated(phrase)
    return Built(f"ensure that {low} {doing}")


def _conjugated(phrase: str) -> str:
    spoken = phrase.split()
    at = next(
        (
            at
            for at, word in enumerate(spoken)
            if not word.endswith("ly") and word not in {"only", "always", "never", "also"}
        ),
        0,
    )
    spoken[at] = third_person(spoken[at])
    return " ".join(spoken)


def _passive(rest: str) -> re.Match[str] | None:
    found = re.match(
        r"(?:be|get|become|been)(?P<adverb>(?: (?:also|then|always|only|automatically|never|not|"
        r"immediately|clearly|easily|fully|directly|properly|safely|securely|manually|still|"
        r"just))*) (?P<verb>[a-z]+)\b(?P<rest>.*)$",
        rest,
        re.I,
    )
    return found if found and is_participle(found["verb"]) else None


def _done_to(
    who: str, passive: re.Match[str], said: Said, *, modal: str, negative: bool
) -> Built | None:
    verb, rest = base_form(passive["verb"]) or "", passive["rest"]
    adverbs = [
        word for word in passive["adverb"].split() if word not in {"also", "then", "still", "just"}
    ]
    if not verb:
        return None
    low = who.lower()
    thing = {
        "i": "the user",
        "we": "the user",
        "you": "the user",
        "me": "the user",
        "us": "the user",
        "they": "them",
    }.get(low, lower_first(who))
    if not _is_pronoun(who) and not is_noun_phrase(who):
        return None
    negative = negative or "never" in adverbs or "not" in adverbs
    adverbs = [word for word in adverbs if word not in {"not", "never"}]
    limited = "only" in adverbs or re.match(r" only\b", rest)
    said_of = _is_pronoun(who) and low not in {"i", "we", "you"}
    if verb in {"allow", "permit", "able", "require"} and rest.startswith(" to "):
        return of_subject(who, rest[4:], said, modal="can", negative=negative)
    if limited:
        if said_of:
            return None
        can = "can" if modal == "can" else ("are" if is_plural(thing) else "is")
        be = " only be" if can == "can" else " only"
        return Built(
            f"ensure that {thing} {can}{be} {passive['verb']}{re.sub(r'^ only', '', rest)}"
        )
    agent = _GIVE_BY_PASSIVE.search(rest)
    doer = ""
    if agent and (is_person(agent["agent"]) or is_system(agent["agent"])):
        doer, rest = agent["agent"], rest[: agent.start()].rstrip()
    if negative:
        phrase = plain(f"{verb} {thing} {rest}")
        return Built(
            f"prevent {doer} from {_gerund_phrase(phrase)}"
            if doer and is_person(doer)
            else f"never {phrase}",
            negative=True,
        )
    after = " ".join(adverbs)
    particle = re.match(
        r" (in|out|up|off|down|back|over|away)\b(?! (?:the|a|an|front|case|order)\b)", rest
    )
    moved = f" {particle[1]}" if particle else ""
    rest = rest[particle.end() :] if particle else rest
    phrase = plain(f"{verb} {thing}{moved} {after}{' ' if after else ''}{rest.strip()}")
    return Built(phrase, subject=doer or ("the user" if modal == "can" else ""))


def _state(who: str, rest: str, said: Said, *, negative: bool) -> Built | None:
    """ "The timetable must be visible without a login"."""
    after = rest.split(" ", 1)[1] if " " in rest else ""
    after = re.sub(rf"^{_ADVERB}", "", after, flags=re.I)
    if not after or _is_pronoun(who) or not is_noun_phrase(who):
        return None
    if re.match(r"(?:cluttered|confusing|annoying|complicated|difficult|hard|bad)\b", after, re.I):
        return None
    first = after.split()[0].lower().strip(",")
    if is_system(who) and first in {"about", "for", "a", "an", "like"}:
        return None  # tells what it is
    low = lower_first(who)
    if not negative and first in grammar("state_adjectives") and not is_person(who):
        return Built(f"make {low} {after}")
    if is_system(who) and not negative:
        return Built(f"ensure that {_the(low)} is {after}")
    be = ("are" if is_plural(who) else "is") + (" not" if negative else "")
    return Built(f"ensure that {low} {be} {after}", negative=negative)


def _the(phrase: str) -> str:
    return phrase if re.match(r"(?:the|a|an)\s", phrase) else f"the {phrase}"


def verb_phrase(text: str) -> str:
    """A verb with what belongs to it, or nothing."""
    text = _POLITE_END.sub("", _bare(text)).strip(" ,.;:!?")
    text = re.sub(
        r"^(?:go and|go ahead and|be able to|have to|try to|start to|help (?:me|us|"
        r"them) (?:to )?|come and) ",
        "",
        text,
        flags=re.I,
    )
    only = re.match(
        r"(?P<only>only|always|never|[a-z]+ly) (?P<verb>[a-z-]+)\b(?P<rest>.*)$",
        text,
        re.I,
    )
    if only and is_verb(only["verb"]):
        verb = only["verb"].lower()
        if only["only"].lower() == "only":
            return f"{verb} only{only['rest']}" if only["rest"] else ""
        if only["only"].lower() in {"automatically", "always", "never", "manually"}:
            return f"{only['only'].lower()} {verb}{only['rest']}"
        return f"{verb}{only['rest']} {only['only'].lower()}"
    spoken = text.split()
    if not spoken or not is_verb(spoken[0]):
        return ""
    return lower_first(re.sub(r"^(\S+) also\b", r"\1", text))


def _gerund_phrase(phrase: str) -> str:
    spoken = phrase.split()
    at = 1 if spoken[0] in {"always", "automatically", "never", "manually"} else 0
    spoken[at] = gerund(spoken[at])
    text = " ".join(spoken)
    return re.sub(
        r"\b(and|or) ([a-z]+)\b(?= (?:the|a|an|it|them|their|all|any)\b)",
        lambda found: f"{found[1]} {gerund(found[2])}" if is_verb(found[2]) else found[0],
        text,
    )


def _provided(what: str) -> Built | None:
    """A thing that is wanted, with the verb that goes with it."""
    what = re.sub(
        r"^(?:like |maybe |also |just |some kind of |some sort of |a kind of |a sort of |"
        r"kind of |something like |to have |definitely )+",
        "",
        what.strip(),
        flags=re.I,
    )
    what = _POLITE_END.sub("", what).strip(" ,.;:!?")
    if not _thing(what) or re.search(rf"\b{_I}'", what, re.I):
        return None
    noun = re.findall(r"[\w-]+", head_of(what).lower())
    verb = (
        "send" if noun and any(_single(noun[-1]) == sent for sent in grammar("send")) else "provide"
    )
    return Built(f"{verb} {lower_first(what)}")


def _single(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _thing(what: str) -> bool:
    head = head_of(what)
    spoken = head.lower().split()
    if not spoken or not ends_well(what):
        return False
    if re.match(
        r"(?:it|this|that|these|those|them|him|her|me|us|you|to|for|with|in|on|at|if|when|so|"
        r"because|and|but|or|not|what|how|who|only)\b",
        what,
        re.I,
    ):
        return False
    first = spoken[0]
    bare = base_form(first) == first and len(spoken) > 1 and spoken[1] in words("determiners")
    return not bare and is_noun_phrase(head) and any(map(is_content, spoken))


def _named(who: str) -> str:
    """A noun phrase as it may stand in an action, or nothing."""
    who = who.strip(" ,")
    if re.fullmatch(r"i|we|me|us|you|myself", who, re.I):
        return "the user"
    if _is_pronoun(who) or not is_noun_phrase(who):
        return ""
    return lower_first(re.sub(r"^(?:our|my|your)\b", "the", who, flags=re.I))


def noun_of(text: str) -> str:
    """A thing named by itself, as it may stand after a verb; empty if it is none."""
    what = neutral(_POLITE_END.sub("", text), of_person=False).strip(" ,.;:!")
    return (
        lower_first(what)
        if _thing(what)
        and not re.search(r"\b(?:is|are|was|were|can|should|must|will|has|have)\b", what)
        else ""
    )


def asked_of(question: str) -> Built | None:
    return _asked(question, Said(""))


def _is_pronoun(who: str) -> bool:
    return (
        re.fullmatch(r"i|we|you|they|he|she|it|this|that|these|those", who.strip(), re.I)
        is not None
    )


def _is_the_system(phrase: str, said: Said) -> bool:
    """Whether "it" is the system: nothing else was named just before, and a system does such."""
    verb = phrase.split()[0]
    alone = not things_named(said.before) and verb in grammar("done_by_it")
    return alone or verb in grammar("done_by_systems")


def _is(what: str) -> str:
    return "are" if is_plural(what) else "is"
