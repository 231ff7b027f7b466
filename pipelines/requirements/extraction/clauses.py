"""Takes a clause apart: who, what, and when."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from pipelines.requirements.extraction.state import Reading
from pipelines.requirements.lexicon import Cue, actors, cues, signal, words
from pipelines.requirements.text import (
    base,
    is_base_verb,
    is_participle,
    lower_first,
    plain,
    strip_openers,
    tokens,
)

STRONG = 0.6
SUBJECT_WORDS = 9
LONGEST_PRONOUN = 4  # letters of what stands before "look for": I, we, they, you
_CONDITION = r"(?:if|when|whenever|once|unless|as soon as|in case|every time|each time)\b"
_LEADING = re.compile(
    rf"^((?:{_CONDITION}|after |before |above |below |during ).{{3,120}}?),\s+", re.I
)
_TRAILING = re.compile(rf"[\s,]+((?:{_CONDITION}) .{{3,}})$", re.I)
_JOINT = re.compile(
    r"(?:,|;| -| –)?\s+(?:and|but|so|plus)(?: also| then| that)?\s+|[;:]\s+|\s[-–]\s"
    r"|,\s+(?=(?:the|a|an|it|they|he|she|we|you|nobody|staff|people) )",
    re.I,
)
_WAY = re.compile(
    r"^(?:(?:some |a |an |the |any )?(?:kind of |sort of |easy |easier |simple |quick )*"
    r"(?:way|possibility|ability|option|chance|means|opportunity))(?: for (?P<who>.{2,40}?))? to "
    r"(?P<rest>.+)",
    re.I,
)
_TO_VERB = re.compile(
    r"^(?P<who>(?:[\w'&-]+ ){1,5}?)to (?P<rest>(?:also |only |be )?(?P<verb>\w+)\b.*)"
)
_MODAL = re.compile(
    r"^(?P<who>.{1,60}?) "
    r"(?:could|can|would|should|must|may|might|will|gets? to|are able to|is able to)"
    r"(?: also| only| then| always)? (?P<rest>.+)",
    re.I,
)
_RELATIVE = re.compile(
    r"(?<!so )\b(?:that|which|who|what|whatever|whoever)(?: (?:nobody|i|you|they|we))?\s+$", re.I
)
_BEFORE_SUBJECT = re.compile(
    r"[,;:]\s+|\b(?:because|so|and then|where|"
    r"(?:think|say|said|says|means?|sure|important|hope|know|told us|told me|case)(?: that)?)\s+",
    re.I,
)
_CONTRACTED = re.compile(
    r"\b(?:it|that|there|he|she|they|we|i|you|who|what)'(?:s|re|m|ve|ll|d)\b", re.I
)
_YES_OR_NO = re.compile(r"^(?P<modal>should|must|shall|may|can|could|will) (?P<rest>.+)", re.I)
_HAD = re.compile(r"^(?P<place>.{2,40}?) (?:had|showed|would have|would show) (?P<thing>.+)", re.I)
_LINK = re.compile(r"^(?:(?:if|to|that|for|having|when)\b[\s,]*)+", re.I)
_ADVERB = re.compile(
    r"^(?:also|only|then|always|just|still|really|at least|automatically|not|simply|ideally)\s+",
    re.I,
)


class Found(NamedTuple):
    cue: Cue
    start: int
    end: int
    who: str
    """Whom the cue itself names: "can *we*", "only *managers* may"."""


def clauses(sentence: str) -> list[str]:
    """Split where the second half says something wanted of its own."""
    parts, rest = [], plain(sentence)
    while cut := _cut(rest):
        left, rest = rest[: cut.start()], rest[cut.end() :]
        parts.append(left)
    return [*parts, rest]


def _cut(text: str) -> re.Match[str] | None:
    for joint in _JOINT.finditer(text):
        left, right = text[: joint.start()], text[joint.end() :]
        cue = find_cue(right)
        near = cue and cue.cue.strength >= STRONG and len(tokens(right[: cue.start])) <= 5
        if near and len(tokens(left)) >= 3 and not _LEADING.match(f"{left}, x"):
            return joint
    return None


def find_cue(text: str) -> Found | None:
    """The cue that says most about the clause; of equal ones the first."""
    found = [
        Found(cue, match.start(), match.end(), _who(match))
        for cue in cues()
        for match in [cue.pattern.search(text)]
        if match and not _RELATIVE.search(text[: match.start()])
    ]
    return max(found, key=lambda one: (one.cue.strength, -one.start), default=None)


def _who(match: re.Match[str]) -> str:
    return plain(match.groupdict().get("who") or "")


def asks_for_yes(question: str) -> bool:
    return _YES_OR_NO.match(strip_openers(question)) is not None


def as_statement(question: str) -> str:
    """ "Should the system lock it?" as "the system should lock it"."""
    text = strip_openers(question).rstrip(" ?")
    asked = _YES_OR_NO.match(text)
    if asked is None:
        return text
    spoken = asked["rest"].split()
    for at, word in enumerate(spoken[1:8], start=1):
        if is_base_verb(word) and spoken[at - 1].lower() not in words("determiners"):
            return " ".join([*spoken[:at], asked["modal"].lower(), *spoken[at:]])
    return text


def split_condition(text: str) -> tuple[str, str | None]:
    leading = _LEADING.match(text)
    if leading and len(tokens(text[leading.end() :])) >= 2:
        return text[leading.end() :], plain(leading[1])
    trailing = _TRAILING.search(text)
    if trailing and len(tokens(text[: trailing.start()])) >= 2:
        return text, plain(trailing[1]).rstrip(".!?")
    return text, None


def read(clause: str) -> Reading:
    """The best reading of a clause, with or without a cue."""
    text = strip_openers(clause).rstrip(" .!?…,;:\"'")
    main, condition = split_condition(signal("aside").sub("", text))
    main = strip_openers(main)
    found = find_cue(main)
    reading = _around(found, main) if found else _without_cue(main)
    if reading.kind == "wish" and condition and condition.lower().startswith("if"):
        condition = None  # "it would be nice if …" names the wish, not a condition
    return replace(reading, condition=condition)


def _around(found: Found, main: str) -> Reading:
    cue = found.cue
    before = plain(main[: found.start]).rstrip(",")
    after = plain(main[found.end :]).lstrip(" ,:")
    if cue.kind == "value":
        # "Distance is important" names the thing before the cue, "I look for" after it.
        return _reading("", after if len(before) <= LONGEST_PRONOUN else before, "noun", cue)
    before = found.who or before
    if cue.kind in {"obligation", "ability"}:
        subject, predicate, shape = _predicate(_subject(before), after)
    else:
        subject, predicate, shape = _wanted(_subject(before), after)
        if not after and before:
            subject, predicate, shape = "the system", before, "noun"
    if not predicate:
        return _reading("", main, "fragment", cue)
    return _reading(subject, predicate, shape, cue)


def _reading(subject: str, predicate: str, shape: str, cue: Cue | None) -> Reading:
    return Reading(
        subject=subject,
        predicate=predicate,
        condition=None,
        shape=shape,
        cue=cue.name if cue else None,
        kind=cue.kind if cue else None,
        strength=cue.strength if cue else 0.0,
        priority=cue.priority if cue else "should",
        negative=bool(cue and cue.negative),
    )


def _subject(before: str) -> str:
    """The noun phrase that stands last before the cue."""
    piece = _BEFORE_SUBJECT.split(before)[-1]
    return " ".join(strip_openers(piece).split()[-SUBJECT_WORDS:])


def _predicate(subject: str, after: str) -> tuple[str, str, str]:
    """After must, should, can: a verb phrase."""
    after = _ADVERB.sub("", after)
    able = re.match(r"be (?:able|allowed) to (.+)", after, re.I)
    if able:
        return subject, able[1], "modal"
    head = tokens(after)[:3]
    if len(head) > 1 and (head[0].lower() == "be" or _gets(head)):
        return _be(subject, after, head)
    if head and base(head[0]):
        return subject, lower_first(after), "modal"
    return subject, after, "state"


def _gets(head: list[str]) -> bool:
    return head[0].lower() == "get" and is_participle(head[1])


def _be(subject: str, after: str, head: list[str]) -> tuple[str, str, str]:
    verb_at = 2 if head[1].lower() in {"automatically", "also", "clearly", "always", "fully"} else 1
    verb = head[verb_at] if len(head) > verb_at else ""
    rest = after.split(" ", verb_at + 1)[verb_at + 1 :]
    if not (verb and is_participle(verb)):
        state = after.split(" ", 1)[1]
        return subject, f"keep {lower_first(subject) or 'it'} {state}", "state"
    tail = " ".join(rest)
    agent = re.search(r"\bby ((?:the |an? )?[\w-]+(?: [\w-]+)?)$", tail)
    if agent and not (is_person_like(agent[1]) or agent[1].lower() in actors("system")):
        agent = None
    doer = agent[1] if agent else "the system"
    tail = tail[: agent.start()].rstrip() if agent else tail
    return doer, plain(f"{base(verb)} {lower_first(subject)} {tail}"), "passive"


def is_person_like(phrase: str) -> bool:
    last = phrase.lower().split()[-1].rstrip("s")
    return last in actors("people") or phrase.lower().removeprefix("the ") in actors("people")


def _wanted(subject: str, after: str) -> tuple[str, str, str]:
    """After need, want, would like, it would be nice: a verb, a person with a verb, or a thing."""
    if re.match(r"to (?:also |only )?\w+", after, re.I):
        return subject, lower_first(_ADVERB.sub("", after[3:])), "modal"
    after = _LINK.sub("", after)
    way = _WAY.match(after)
    if way:
        return way["who"] or subject, way["rest"], "modal"
    other = _TO_VERB.match(after)
    if other and base(other["verb"]):
        return _predicate(plain(other["who"]), other["rest"])
    modal = _MODAL.match(after)
    if modal:
        return _predicate(_subject(modal["who"]), modal["rest"])
    return _thing_or_clause(subject, after)


def _thing_or_clause(subject: str, after: str) -> tuple[str, str, str]:
    spoken = tokens(after)
    if spoken and is_base_verb(spoken[0]) and len(spoken) > 1:
        return subject, after, "modal"
    inner = finite(after)
    if inner and inner.subject.lower() in actors("self") | actors("they") | actors("system"):
        return inner.subject, inner.predicate, "present"
    had = _HAD.match(after)
    if had and not is_person_like(had["place"]):
        return "the system", f"show {had['thing']} on {lower_first(had['place'])}", "modal"
    return "the system", after, "noun"


class Finite(NamedTuple):
    subject: str
    predicate: str


def finite(text: str) -> Finite | None:
    """Subject and verb of a statement in the present tense ("the technician scans a part")."""
    spoken = text.split()
    for at, word in enumerate(spoken[1:7], start=1):
        bare = word.strip(",.").lower()
        verb = base(bare)
        if verb is None or bare in words("prepositions") or bare.endswith(("ing", "ed")):
            continue
        if _agrees(spoken[at - 1], bare, verb):
            return Finite(" ".join(spoken[:at]), " ".join([verb, *spoken[at + 1 :]]))
    return None


def _agrees(noun: str, form: str, verb: str) -> bool:
    low = noun.lower().strip(",.")
    if low in words("determiners") | words("prepositions"):
        return False
    many = low.endswith("s") or low in {"i", "we", "they", "you", "people", "staff", "everybody"}
    return (form != verb) != many or low in {"staff", "children"}


def _without_cue(main: str) -> Reading:
    spoken = tokens(main)
    if spoken and is_base_verb(spoken[0]) and len(spoken) > 1 and not _noun_start(spoken):
        return _reading("the system", lower_first(main), "imperative", None)
    passive = re.match(
        r"(?P<who>.{2,60}?) (?:is|are|gets?)(?: also| then| only)? (?P<verb>\w+)\b(?P<rest>.*)",
        main,
    )
    if passive and is_participle(passive["verb"]):
        phrase = f"be {passive['verb']}{passive['rest']}"
        subject, predicate, _ = _be(passive["who"], phrase, tokens(phrase)[:3])
        return _reading(subject, predicate, "present", None)
    stated = finite(main)
    if stated:
        return _reading(stated.subject, stated.predicate, "present", None)
    copula = _CONTRACTED.search(main) or set(map(str.lower, spoken)) & words("auxiliaries")
    shape = "state" if copula else "fragment"
    return _reading("", main, shape, None)


def _noun_start(spoken: list[str]) -> bool:
    """ "Text messages are …": a word that may be a verb, followed by its own verb."""
    return bool(spoken[1:]) and any(
        word.lower() in {"is", "are", "was", "were", "has", "goes"} for word in spoken[1:4]
    )
