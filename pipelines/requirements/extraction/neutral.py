"""Words that stand by themselves: who speaks becomes the user, what somebody points to is named,
what they prefer is taken into account, and remarks about it go."""

from __future__ import annotations

import re
from typing import NamedTuple

from pipelines.requirements.extraction.actors import person
from pipelines.requirements.lexicon import actors, signal, words
from pipelines.requirements.text import any_base, content_words, lower_first, tokens, upper_first
from pipelines.requirements.validation import reading

LONGEST_NAME = 3  # words
LEAST_LEFT = 4  # words that stay when a remark goes
_PERSON = re.compile(
    r"(?<![\w'.-])(?:(?P<who>i|we|you)(?:'(?P<short>m|re|ve|d|ll)\b)?(?![\w'.-]*\w)"
    r"|(?P<own>my|our|your)|(?P<self>myself|ourselves|yourself|yourselves)"
    r"|(?P<other>me|us))(?![\w'-])(?P<was> am\b| was\b)?",
    re.I,
)
_MISSPELT = re.compile(r"\b(?:iam|im)\b", re.I)


class _Words(NamedTuple):
    subject: str
    object: str
    own: str


_USER = _Words("users", "the user", "the user's")
_THEM = _Words("they", "them", "their")
_TEAM = _Words("the team", "the team", "the team's")
_SHORT = {"m": " are", "re": " are", "ve": " have", "d": " would", "ll": " will"}
_TAKES_OBJECT = frozenset({"let", "lets", "help", "helps", "make", "makes", "allow", "allows"})
_ADVERBS = r"(?:(?:also|always|usually|really|just|only|then|still|never|often|\w+ly) )*"
_DOES = re.compile(
    rf"\s+{_ADVERBS}(?:(?:can|could|may|might|must|should|shall|will|would|are|were|have|has|do|"
    rf"don't|can't|cannot|won't|want|need|like|did|had)\b|(?P<verb>[a-z]+))",
    re.I,
)
_REMARKS = re.compile(
    r"(?:(?<=^)|(?<=[,;] )|(?<=\band )|(?<=\bbut )|(?<=\bso )|(?<=\bbecause ))"
    r"(?:(?:i|we)(?:'d| would)?(?: (?:also|just|definitely|really|still|personally))* "
    r"(?:think|guess|say|suppose|believe|feel like|feel)(?: (?:that|like))?,? "
    r"|(?:personally|honestly|basically|actually|definitely|obviously|for me),? )",
    re.I,
)
_COMMENT = re.compile(
    r"(?:, which|,? (?:so|and|because|since)(?: (?:i|we)(?:'d| would)? (?:think|guess|say))? "
    r"(?:that|this|it))(?:'s| is| was| might be| would be| makes it| made it) "
    r"(?:(?:an?|really|very|just|also|pretty|super|quite|so|more) )*(?:nice|good|great|fun|helpful|"
    r"useful|easi?er|easy|better|best|okay|fine|annoying|scary|cool|handy|tedious|enough)\b"
    r"(?P<said>[^,;]*)$",
    re.I,
)
_REASON = re.compile(
    r",? (?:because|so (?:it|that)(?:'s| is) (?:an?|also)|"
    r"since (?=i|we|it|they|that|there)|as (?:i|we) (?:said|mentioned)|"
    r"which (?:is|was) why)\b(?P<said>.*)$",
    re.I,
)
_REASON_FIRST = re.compile(
    r"(?:since|because|as) [^,]{5,100}, (?=(?:i|we|you|the|it|there|they)\b)", re.I
)
_WEIGHT = (
    r"(?:(?:an?|the|one of the|another|my|our|their) )?(?:(?:top|first|main|biggest|most|very|"
    r"really|more|quite|pretty|super|important|big|huge|major|key|number one|next|other) )*"
    r"(?:priorit(?:y|ies)|factors?|rankings?|criteri(?:on|a)|concerns?|consideration|"
    r"important(?: (?:thing|part|point))?)(?: (?:for|to) (?:me|us))?"
)
_WEIGHS = re.compile(
    rf"(?P<what>[\w' -]{{3,80}}?),? (?:is|are|would be|'s)(?: also)? "
    rf"(?P<weight>{_WEIGHT})(?P<more>,? (?:(?:that|which)(?:'s| is) )?"
    r"(?:like|such as|especially|when|if|because) .+)?",
    re.I,
)
_NTH = (
    r"(?:the |my |our )?(?:very )?(?:first|second|third|fourth|fifth|last|main|next|biggest|"
    r"most important|key|number one|other)|another|one"
)
_FIRST_THING = (
    rf"(?:{_NTH}) (?:thing|factor|criterion|point|concern|dimension|aspect)s?"
    r"(?: (?:when|if|that|i|we|for|in|to)\b[^,]{0,50}?)?"
)
_IS_FIRST = re.compile(
    rf"(?:{_WEIGHT}|{_FIRST_THING}|(?:{_NTH})(?: one)?(?= .*\b(?:the|an?|whether|how)\b)) "
    r"(?:is|are|would be|will be)(?: (?:probably )?going to be)?(?: that)? (?P<what>.+)",
    re.I,
)
_WHICH = re.compile(
    rf"(?:(?:that|it)(?:'s| is|'d be| would be) )?(?P<what>.{{3,80}}?), "
    rf"which (?:is|would be) {_WEIGHT}",
    re.I,
)
_FRONT = re.compile(r"(?P<front>(?:in|on|for|at|with) [^,]{3,40}), (?P<rest>.+)", re.I)
_PREFERS = re.compile(
    rf"(?:(?P<case>if .{{3,80}}?),? (?:then )?)?(?:i|we)(?:'d| would)? {_ADVERBS}"
    rf"(?P<verb>prefer|like|love|avoid|look for|look at|go for|choose|care about|check) "
    r"(?P<what>.+)",
    re.I,
)
_PIECES = re.compile(r"(?:,|;)? (?:so|but)(?: then)?,? |; ", re.I)
_ONES = re.compile(r"\bones\b|\b(?:it|those|them|that)$", re.I)
_STRICT = re.compile(r"\b(?:must|should|shall|only|has to|have to|needs?|wants?)\b", re.I)
_HAPPENED = re.compile(
    r"\b(?:was|were|had|did|died|went|came|saw|thought|ended up|happened|ago)\b",
    re.I,
)
_JOINT = re.compile(r", (?:so|and|but|because)\b", re.I)
_HAD_TO = re.compile(r"(?:i|we) had to\b|.*\bso (?:i|we) (?:wanted|needed)\b", re.I)
_DESCRIBES = re.compile(
    r"(?:there(?:'s| is| are| isn't)|(?:(?:at|in|for|on) )?some\b|"
    r"it(?:'s| is) (?:really |very |not |quite )*(?:an?|that|"
    r"pretty)\b|(?:that|this)(?:'s|'d| is| would) (?!(?:have|need|only)\b))",
    re.I,
)
_PLAYS = re.compile(
    r"(?:(?P<case>if .{5,120}?),? (?:then )?(?:that|it|this)|(?P<what>[\w' -]{3,60}?)) "
    r"(?:plays?|matters?|counts?)(?: (?:an?|the) (?:[\w-]+ ){1,3}(?:role|part))?"
    r"(?: (?:a lot|most|to me|for me|to us|for us|in .+))?",
    re.I,
)
_NAME = re.compile(
    r"\b(?:the|an?|my|our|your|every|each) (?=(?P<name>[\w-]+(?: [\w-]+){0,5}))", re.I
)
_POINTS = re.compile(
    r"(?:^(?P<subject>it|they)|(?<=\w )(?P<object>it|them|that|those))(?P<is>'s|'re)?(?![\w'-])",
    re.I,
)
_ONE = frozenset({"it", "that"})
_EMPTY_IT = re.compile(
    r"it(?:'s|'d| is| was| would| will| should| must| has to| needs to)"
    r"(?: (?:not|never|be|also|\w+ly))* (?:\w+ )?(?:to|that|if|when|because|enough|like)\b|"
    r"it (?:should|must|would|could|will|can) be\b|they (?:say|told)",
    re.I,
)


def third_person(text: str, *, known: bool = False, others: bool = False) -> str:
    """``known``: the user is the actor, and need not be named again; ``others``: other people are,
    and "we" is whom they deal with."""
    text = _MISSPELT.sub("I'm", text)
    put: list[str] = []
    at = 0
    for found in _PERSON.finditer(text):
        if found[0].isupper() and len(found[0]) > 1:
            continue  # US
        spoken_to = (found["who"] or found[0]).lower().startswith("you")
        words = _THEM if known or (others and spoken_to) else _TEAM if others else _USER
        put += [text[at : found.start()], _third(found, text, words)]
        at, known = found.end(), known or not others
    return "".join([*put, text[at:]])


def _third(found: re.Match[str], text: str, words: _Words) -> str:
    was = found["was"] or ""
    if found["own"]:
        return words.own + was
    if found["self"]:
        return f"themselves{was}"
    if found["other"] or not _is_subject(found, text):
        return words.object + was
    short = _SHORT.get((found["short"] or "").lower(), "")
    return words.subject + short + {" am": " are", " was": " were"}.get(was.lower(), "")


def _is_subject(found: re.Match[str], text: str) -> bool:
    if found["who"].lower() != "you" or found["short"]:
        return True
    before = text[: found.start()].split()[-1:]
    if before and before[0].lower() in _TAKES_OBJECT:
        return False
    does = _DOES.match(text, found.end())
    return does is not None and (not does["verb"] or any_base(does["verb"]) is not None)


def without_remarks(own: str) -> str:
    """Without "I think" amid a sentence, reasons, and a last clause on how good it is."""
    text = _REMARKS.sub("", _reason_first(own))
    last = _COMMENT.search(text) or _REASON.search(text)
    if (
        last
        and "perhaps" not in text[: last.start()].split()[-1:]
        and len(tokens(text[: last.start()])) >= LEAST_LEFT
        and not (signal("only").search(last[0]) or _denies(last[0]))
    ):
        text = text[: last.start()]
    return text


def _reason_first(own: str) -> str:
    found = _REASON_FIRST.match(own)
    return own[found.end() :] if found else own


def weighed(own: str) -> str:
    """ "Location is most important to me", "price plays a big role": what is taken into account."""
    if front := _FRONT.fullmatch(own):
        rest = weighed(without_remarks(front["rest"]))
        return rest and f"{rest} {lower_first(front['front'])}"
    if found := _WHICH.fullmatch(own):
        return _account(found["what"].split(",")[0])
    if found := _IS_FIRST.fullmatch(own):
        return _account(found["what"])
    if found := _WEIGHS.fullmatch(own):
        return _account(found["what"], (found["more"] or "").lstrip(","))
    if found := _PLAYS.fullmatch(own):
        case = found["case"]
        return _account(f"whether {case[3:]}" if case else found["what"])
    return ""


def preferred(own: str) -> tuple[str, str]:
    """ "…, so I usually prefer the casual ones": what is preferred, and in which case."""
    if _STRICT.search(own):
        return "", ""
    for piece in reversed(_PIECES.split(own)):
        if found := _PREFERS.fullmatch(without_remarks(piece.strip(" ,"))):
            verb = {"like": "prefer", "love": "prefer"}.get(found["verb"].lower(), found["verb"])
            if not (_denies(found["what"]) or _ONES.search(found["what"])):
                return f"{verb} {found['what']}", found["case"] or ""
        elif other := weighed(without_remarks(piece.strip(" ,"))):
            return other, ""
    return "", ""


def _account(what: str, more: str = "") -> str:
    said = lower_first(re.sub(r",? and then there(?:'s| is)", " and", what.strip(" ,"), flags=re.I))
    said, more = (
        re.split(r",? so (?:it|that)\b", said)[0],
        re.split(r",? so (?:it|that)\b", more)[0],
    )
    more = re.sub(r"(?:that|which)(?:'s| is) (?=like)", "", more)
    if said.split()[0] in (words("prepositions") - {"if"}) | actors("self") | {
        "it",
        "that",
        "this",
        "there",
        "not",
    } or _denies(said):
        return ""
    if len(content_words(said)) == 0 or len(tokens(said + more)) > 30:
        return ""
    return f"consider {said}{',' if more else ''}{more}"


def _denies(text: str) -> bool:
    return bool(re.search(r"\b(?:no|not|never|nobody)\b|n't\b", text, re.I))


def narrates(own: str) -> bool:
    """It tells what happened, or how something is that nobody can change."""
    if _HAD_TO.match(own):
        return True
    return bool(
        _HAPPENED.search(_JOINT.split(own)[0]) or _DESCRIBES.match(own)
    ) and not _STRICT.search(own)


def named(text: str, before: str) -> str:
    """With the one thing that was named before, for a pronoun that stands for it."""
    if reading.flaw(text.rstrip(".")) != "pointing" or _EMPTY_IT.match(text):
        return text
    names = {name.lower(): name for name in _names(before)}
    found = _POINTS.search(text)
    if len(names) != 1 or found is None or _let(text, found):
        return text
    (name,) = names.values()
    many = found[0].lower().split("'")[0] not in _ONE
    if many != _many(name):
        return text
    verb = (" are" if many else " is") if found["is"] else ""
    full = upper_first(f"{text[: found.start()]}the {name}{verb}{text[found.end() :]}")
    return text if reading.flaw(full.rstrip(".")) == "pointing" else full


def _let(text: str, found: re.Match[str]) -> bool:
    """ "Let them choose": of people, who are seldom named with an article."""
    return text[: found.start()].lower().split()[-1:] in ([each] for each in _TAKES_OBJECT)


def _many(name: str) -> bool:
    low = name.lower()
    return low.endswith("s") and not low.endswith(("ss", "us", "is", "ews"))


def _names(before: str) -> list[str]:
    """The things that are named with an article; people and the product are none."""
    grammar = ("determiners", "prepositions", "auxiliaries", "openers")
    stops = frozenset[str]().union(*map(words, grammar)) | actors("they") | {"it", "itself"}
    found = []
    for match in _NAME.finditer(before):
        name: list[str] = []
        for word in match["name"].split():
            low = word.lower()
            if low in stops or low in actors("self") or (name and _is_verb(low)):
                break
            name.append(word)
        said = " ".join(name)
        if match["name"].split()[len(name) : len(name) + 1] in (["or"], ["and"]):
            return []  # it may stand for both
        if 0 < len(name) <= LONGEST_NAME and not (said.lower() in actors("system") or person(said)):
            found.append(said)
    return found


def _is_verb(word: str) -> bool:
    return any_base(word) is not None and not word.endswith(("ing", "ings"))
