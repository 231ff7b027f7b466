"""What a sentence says its speaker chooses by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from pipelines.requirements.extraction.choices import named
from pipelines.requirements.extraction.items import STOP, clean, items, usable
from pipelines.requirements.extraction.state import Criterion
from pipelines.requirements.lexicon import (
    CriterionCue,
    criteria_patterns,
    criterion_cues,
    quality_of,
)
from pipelines.requirements.text import lower_first, plain, tokens

BARE = 0.75
"""Strength of a thing named in answer to "What do you look for?"."""
BY_CONDITION = 0.75
FEW_WORDS = 3
MOST_CHARACTERS = 1500  # of one sentence; speech written down may lack full stops
_ASKED = re.compile(r"^(?:how|whether|if|what|which|where|when|who)\b", re.I)
_SUBJECT = r"(?:i|we|you|it|that|they|there|this|these|those|he|she)"
_JOINT = re.compile(
    rf"(?:[,;]|\s[-–—])?\s+(?P<why>and|but|so|because|since|although|though|then)\s+"
    rf"(?:(?:also|then)\s+)?(?={_SUBJECT}(?:'\w+)?\s)|(?:[,;:]\s+|\s*—\s*)(?={_SUBJECT}(?:'\w+)?\s)"
    r"|\s+and (?=(?:yeah|yes|the [\w-]+ (?:is|are|matters?)|"
    r"(?:see|check|look at|consider|compare|read))\s)",
    re.I,
)
_IF = re.compile(
    r"\b(?:if|when|as long as) (?P<if>[^?]{3,160}?),?\s+(?:then |so |yeah,? |of course |and )*"
    r"(?=(?:i|we|you|that|it)(?:'\w+)?\s)",
    re.I,
)
_STATE = re.compile(
    r"^(?P<who>.{2,60}?)(?:'s|'re| (?:is|are|was|were|looks?|seems?|has|have|feels?))"
    r"(?: also| really| just)* (?P<how>.+)$",
    re.I,
)
_HAS = re.compile(
    r"^(?P<who>[\w' -]{2,40}?) (?:has|have|had|offers?|provides?) (?P<what>.+)$", re.I
)
_IT = re.compile(r"^(?:it|that|this|they|them|these|those|the place|one|any|you)$", re.I)
_POINTS = re.compile(
    r"^(?:so |and |but |which |i think |i guess |,|for me |\s)*"
    r"(?:it|that|this|they|those|these|which)\b",
    re.I,
)
_AS_AS = re.compile(
    r"^(?:as \w+ as|(?:not )?(?:too|very|really|quite|pretty|super|more|less|easy to)\b"
    r"(?! (?:many|much)))",
    re.I,
)
_REMARK = re.compile(
    r",?\s*\b(?:(?:i (?:think|guess|mean|believe|suppose|feel like)|i(?:'d| would) say|you know)\b"
    r"(?! (?:about|of|how|what|whether|if)\b)"
    r"|i know\b(?! (?:about|of|how|what|whether|if|the|my|exactly)\b))"
    r"(?: that\b(?!(?:'| is| would| was| will)))?,?\s*",
    re.I,
)
_FINITE = re.compile(
    r"\b(?:i|we|he|she|they|you|it|that|is|are|was|were|am|do|does|did|don't|have|has|had|will|"
    r"would|can|could|should|it's|that's|i'm|there's|goes?|nobody|nobody's|everybody|everyone|"
    r"[a-z]+n't)\b",
    re.I,
)
_LIKE = re.compile(r",?\s+(?:like|such as|meaning|i mean),?\s+(?=(?:if|whether|how|what)\b)", re.I)
_START = re.compile(
    r"^(?:(?:right now|yeah|yes|yep|no|well|so|and|but|or|okay|ok|oh|also|right|actually|"
    r"basically|honestly|um|uh|sure|of course|then|for example|definitely|usually|"
    r"obviously|plus|apart from that|"
    r"other than that|besides that|first of all|firstly|secondly|lastly|finally|"
    r"currently|personally|for me|in my case|at the moment|these days|"
    r"as (?:things|it) stands?|to be honest)\b(?!')[\s,:-]+)+",
    re.I,
)
_MOTIVE = re.compile(
    r"(?<!good )(?<!nice )(?<!better )(?<!great )(?<!helps )(?<!is )(?<!are )(?<!be )"
    r"\b(?:if|when|whenever) (?:i|we|you)\b.*$",
    re.I,
)
_ABLE = re.compile(
    r"^(?:i|you|we|one) (?:can |could |would |get to |am able to |are able to |'d )?"
    r"(?P<do>[a-z].+)$",
    re.I,
)
_PROMISE = re.compile(r"^that ((?:they|it|the [\w-]+) [\w' ]{4,60})", re.I)
_SOMEONE_TO = re.compile(r"^(?P<who>[\w' -]{2,30}?) to (?:be able to )?(?P<do>[a-z].+)$", re.I)


class Clause(NamedTuple):
    text: str
    why: str
    """The word that joins it to what stands before: and, but, because …"""


def find(text: str, *, noun: str, bare: bool) -> list[Criterion]:
    """The criteria of one sentence; ``bare`` when a list of things is an answer."""
    text = _opened(plain(_REMARK.sub(" ", text[:MOST_CHARACTERS])).rstrip(" .!?…"))
    if criteria_patterns("closing").match(text):
        return []
    condition, left = _by_condition(text, noun)
    found = [one for clause in _joined(clauses(left)) for one in _of_clause(clause, noun)]
    if condition or found:
        return [*found, *condition]
    if bare and (promise := _PROMISE.match(text)):
        return [_criterion(f"whether {promise[1]}", noun, None, BARE)]
    if bare and not _FINITE.search(_first_part(text)):
        return [_criterion(one, noun, None, BARE) for one in items(text, noun=noun)]
    return []


def _opened(text: str) -> str:
    return lower_first(_START.sub("", text))


def _joined(found: Sequence[Clause]) -> list[str]:
    """Clauses that say something of their own; what is said of another one stays with it."""
    kept: list[str] = []
    for clause in found:
        if kept and criteria_patterns("refused").match(clause.text):
            kept[-1] = f"i avoid {kept[-1]}"
        else:
            kept.append(_MOTIVE.sub("", clause.text))
    return kept


def _first_part(text: str) -> str:
    """A list without what is told of its last thing, and without embedded questions."""
    kept = re.split(r"\b(?:because|since|which|that|who|so|but)\b", text, flags=re.I)[0]
    return re.sub(r"\b(?:how|whether|if|what|where)\b[^,]*", "", kept, flags=re.I)


def clauses(text: str) -> list[Clause]:
    found, start, why = [], 0, ""
    for joint in _JOINT.finditer(text):
        found.append(Clause(text[start : joint.start()], why))
        start, why = joint.end(), joint["why"] or ""
    return [one for one in [*found, Clause(text[start:], why)] if tokens(one.text)]


def _by_condition(text: str, noun: str) -> tuple[list[Criterion], str]:
    """ "If the price is low, I take it": what must hold, and the text that is left."""
    for found in _IF.finditer(text):
        rest = text[found.end() :]
        takes = criteria_patterns("chooses").match(rest)
        leaves = criteria_patterns("rejects").match(rest)
        stated = _stated(found["if"], noun, negative=leaves is not None)
        if stated and (takes or leaves):
            return [stated], text[: found.start()].rstrip(" ,")
    return [], text


def _stated(said: str, noun: str, *, negative: bool) -> Criterion | None:
    """A condition as something to choose by."""
    has = re.match(r"^there(?:'s| is| are) (?P<what>.+)$", said, re.I) or _HAS.match(said)
    if has:
        what = clean(has["what"], noun=noun)
        return (
            _criterion(what, noun, "if", BY_CONDITION, negative=negative) if usable(what) else None
        )
    state = _STATE.match(_opened(said))
    if state is None or re.match(r"i\b|we\b", state["who"], re.I):
        return None
    who, how = clean(state["who"], noun=noun), plain(state["how"])
    if _IT.match(state["who"]) or who.lower() in {noun, ""}:
        made = Criterion(how, "quality", noun, "find", "if", BY_CONDITION)
    elif len(tokens(how)) <= FEW_WORDS:
        return Criterion(who, "thing", noun, "choose", "if", BY_CONDITION)
    else:
        made = Criterion(how, "quality", who, "find", "if", BY_CONDITION)
    return replace(made, negative=negative)


def _of_clause(text: str, noun: str) -> list[Criterion]:
    cue, start, end = _best_cue(text)
    if cue is None:
        return _must_be(text, noun)
    if cue.side == "before":
        return _before(text[:start], text[end:], cue, noun)
    return _after(text[end:], cue, noun)


def _must_be(text: str, noun: str) -> list[Criterion]:
    """ "It has to be quiet", "the flat must allow pets", "there should be a lift"."""
    found = criteria_patterns("must_be").match(text)
    if found is None or re.match(r"(?:i|we|you|he|she|people)\b", text, re.I):
        return []
    who, rest = clean(named(found, "who"), noun=noun), STOP.sub("", named(found, "rest"))
    rest = f"not {rest}" if named(found, "not") else rest
    made = Criterion(rest, "quality", noun, "find", "must be", BY_CONDITION)
    if who.lower() == "there" or re.match(r"have\b", rest):
        return [
            _criterion(one, noun, "must be", BY_CONDITION)
            for one in items(re.sub(r"^have ", "", rest), noun=noun)
        ]
    if not (_IT.match(who) or who.lower() in {noun, f"{noun}s", ""}):
        return [replace(made, what=f"{who} is {rest}", form="part")]
    return [replace(made, form="quality" if " be" in found[0] else "does")]


def _best_cue(text: str) -> tuple[CriterionCue | None, int, int]:
    best: tuple[CriterionCue | None, int, int] = (None, 0, 0)
    for cue in criterion_cues():
        found = cue.pattern.search(text)
        if found is None or (cue.side == "before" and not tokens(text[: found.start()])):
            continue
        rank = (cue.strength, -found.start(), found.end())
        if best[0] is None or rank > (best[0].strength, -best[1], best[2]):
            best = (cue, found.start(), found.end())
    return best


def _before(text: str, rest: str, cue: CriterionCue, noun: str) -> list[Criterion]:
    """ "Water and light are important, and a lift": what stands before, and what is added."""
    if _POINTS.match(text) and len(tokens(text)) <= FEW_WORDS:
        return [_pointing(cue, noun)]
    more = re.match(r"^,?\s+(?:and|then|as well as|also|followed by) (?P<what>.+)$", rest)
    listed = items(text, noun=noun) + (items(more["what"], noun=noun) if more else [])
    return [_criterion(one, noun, cue, cue.strength) for one in listed]


def _pointing(cue: CriterionCue, noun: str) -> Criterion:
    """ "That is important": what "that" is must be found in what was said before."""
    return Criterion("", "pointing", noun, cue.verb, cue.name, cue.strength, must=cue.must)


def _after(text: str, cue: CriterionCue, noun: str) -> list[Criterion]:
    text = re.sub(r"^that (?=(?:it|they)\b)", "", plain(text).lstrip(" ,:"), flags=re.I)
    parts = _LIKE.split(text, maxsplit=1)
    listed = items(parts[0], noun=noun)
    made = [
        _criterion(one, noun, cue, cue.strength, negative=cue.side == "avoid") for one in listed
    ]
    if len(parts) > 1 and len(made) == 1:
        made = [replace(made[0], told=parts[1])]
    if made:
        return [_by_doing(one) for one in made]
    able = _ABLE.match(text) if cue.name == "would be good" else None
    if able:
        doing = clean(STOP.sub("", able["do"]), noun=noun)
        return [replace(_pointing(cue, noun), what=doing, form="doing")]
    if _pointing_quality(text) or _IT.match(text):
        told, negative = _pointing_quality(text), cue.side == "avoid"
        return [replace(_pointing(cue, noun), told=told, negative=negative)]
    return []


def _by_doing(one: Criterion) -> Criterion:
    """ "to be close to work" is a quality; "my kids to walk there" is what they can do."""
    being = re.match(r"^to be (?P<how>(?!able).+)$", one.what, re.I)
    if being:
        return replace(one, what=being["how"], form="quality")
    doing = _SOMEONE_TO.match(one.what)
    if doing and one.form == "thing":
        return replace(one, what=f"{doing['who']} can {doing['do']}", form="part")
    return one


def _pointing_quality(text: str) -> str:
    """ "that's affordable" after "make sure": it says how the thing named before must be."""
    found = re.match(r"^(?:that|it|they)(?:'s|'re| is| are) (?P<how>[\w -]{3,40})$", text, re.I)
    return found["how"] if found else ""


def _criterion(
    what: str, noun: str, cue: CriterionCue | str | None, strength: float, *, negative: bool = False
) -> Criterion:
    from_list = isinstance(cue, CriterionCue)
    return Criterion(
        what=what,
        form=form_of(what, noun),
        noun=noun,
        verb=cue.verb if isinstance(cue, CriterionCue) else "find",
        cue=cue.name if isinstance(cue, CriterionCue) else cue,
        strength=strength,
        must=from_list and isinstance(cue, CriterionCue) and cue.must,
        negative=negative,
    )


def form_of(what: str, noun: str) -> str:
    spoken = [word.lower() for word in tokens(what)]
    head = re.split(r"\b(?:that|which|who|where|with|in|on|near|close|for|at|to)\b", what.lower())[
        0
    ]
    last = tokens(head)[-1:] or [""]
    if _ASKED.match(what):
        return "question"
    if last[0].lower() in {noun, f"{noun}s", "place", "one"} and len(spoken) > 1:
        return "own"
    if spoken[:1] == ["to"]:
        return "doing"
    if spoken[0] in {"in", "on", "near", "close", "within", "with"} and len(spoken) > 1:
        return "quality"
    if _AS_AS.match(what) or (quality_of(spoken[0]) and len(last[0]) and _no_noun(spoken)):
        return "quality"
    return "thing"


def _no_noun(spoken: list[str]) -> bool:
    """ "close to work" is a quality, "good light" is a thing."""
    linking = {"to", "from", "and", "or", "for", "enough", "by", "with", "in"}
    return len(spoken) == 1 or spoken[1] in linking


def things(topic: str, like: Criterion) -> list[Criterion]:
    """What a question names, as criteria of the same weight."""
    return [
        replace(like, what=one, form=form_of(one, like.noun))
        for one in items(topic, noun=like.noun)
    ]
