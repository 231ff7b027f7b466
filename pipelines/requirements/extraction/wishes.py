"""What somebody would like, asks for, or calls useful."""

from __future__ import annotations

import re
from dataclasses import replace

from pipelines.requirements.extraction.built import LIKE, MODAL_AT, SPEAKERS, Built, Said
from pipelines.requirements.extraction.nounphrases import (
    is_or_are,
    named_phrase,
    names_thing,
    provided,
)
from pipelines.requirements.extraction.phrases import (
    base_form,
    grammar,
    head_of,
    is_participle,
    is_person,
)
from pipelines.requirements.extraction.statements import of_modal
from pipelines.requirements.extraction.subjects import of_subject
from pipelines.requirements.extraction.verbphrases import verb_phrase
from pipelines.requirements.text import lower_first, singular

_WISH_TO = re.compile(
    rf"^(?P<who>{SPEAKERS}|.{{2,60}}?)(?:\s+|(?=')){LIKE}(?: for)? to (?:be able to |"
    rf"also )?(?P<rest>.+)$",
    re.I,
)
_WISH_SOMEBODY = re.compile(
    rf"^{SPEAKERS}(?:\s+|(?=')){LIKE}(?: for)? (?P<who>(?!to\b).{{1,70}}?) "
    r"(?P<not>not )?to (?P<rest>.+)$",
    re.I,
)
_WISH_THING = re.compile(
    rf"^(?P<who>{SPEAKERS}|(?:[\w'-]+ ){{0,5}}?[\w'-]+?)(?:\s+|(?=')){LIKE}(?: to have| having|"
    rf" to get)? (?P<what>.+)$",
    re.I,
)
_THERE = re.compile(
    r"^there(?:'s| (?:should|must|shall|will|has to|have to|needs? to|would|could|can|ought to|"
    r"is|are))"
    r"(?: also| always| really| just| ideally| probably| at least)*(?: (?:be|"
    r"exist))?(?P<not> (?:not be|never be|be no|no)\b)? (?P<what>.+)$",
    re.I,
)
_ASKED_THERE = re.compile(
    r"^(?P<modal>should|shall|must|can|could|will|would) there (?P<rest>(?:also |always )?be .+)$",
    re.I,
)
_WAY_TO = re.compile(
    r"(?:an?|some|the|another)? ?(?:\w+ )?(?:way|option|possibility|ability|chance|means|"
    r"opportunity|button)\b",
    re.I,
)
_PREFERS = re.compile(
    rf"^{SPEAKERS}(?:'d| would)? rather (?:have )?(?P<what>(?:a|an|the|some|one)\s.+)$", re.I
)
_DO_YOU_WANT = re.compile(
    r"^(?:do|does|would|will|should|did) (?P<who>you|we|they|i|.{2,40}?) (?:also |really |"
    r"still |then |ever )*"
    r"(?:want|need|like|prefer|wish|love|expect)(?P<rest> .+)$",
    re.I,
)
_WOULD_HELP = re.compile(
    r"^(?P<what>(?:an?|the|some|more|another|[a-z]+er)\s.{2,70}?) (?:would|might|could)(?: also|"
    r" really| definitely)*"
    r" (?:be (?:also |really |very |quite |super |so )*(?:nice|great|good|helpful|useful|handy|"
    r"cool|perfect|ideal|lovely|"
    r"awesome|fantastic|amazing|a plus|a bonus|better|enough|important|convenient)|"
    r"help)(?: (?:for|to) \w+| a lot| us| me| too| also| as well)*$",
    re.I,
)
_IS_ENOUGH = re.compile(
    r"^(?P<what>(?:an?|one|two) .{2,70}?|.{3,70}?(?= (?:is|are) (?:enough|sufficient)))"
    r" (?:is|are|'s) (?:enough|sufficient|fine|okay|ok|good enough)(?: for (?:me|us|now|"
    r"the (?:start|beginning)))?$",
    re.I,
)
_WOULD_IT = re.compile(
    r"^(?:would|will|could|might) (?P<what>(?:an?|the|some|one|two|"
    r"three) .{4,120}?),? (?:be (?:\w+ )?"
    r"(?:useful|helpful|nice|good|great|handy|okay|ok|fine|enough|cool|interesting|sufficient|better)|"
    r"help|suffice|do|work|meet (?:the|your|that) needs?)(?: for (?:you|us|them)| (?:you|us))?$",
    re.I,
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
    rf"{SPEAKERS}(?:'re|'m| are| am) (?:planning|hoping|looking|trying|aiming)|"
    rf"what {SPEAKERS} (?:want|need) is|all {SPEAKERS} (?:want|need) is) to (?P<rest>.+)$",
    re.I,
)


def there_is(text: str, said: Said) -> Built | None:
    text = re.sub(
        r"^is there (?=(?:an?|any|some) (?:\w+ )?(?:way|option|possibility|chance) )",
        "there should be ",
        text,
    )
    found = _THERE.match(_ASKED_THERE.sub(r"there \g<modal> \g<rest>", text))
    if found is None:
        return None
    what = found["what"]
    if found["not"] or re.match(r"no\b|not\b|never\b", what, re.I):
        what = re.sub(r"^(?:no|not|any)\s+", "", what, flags=re.I)
        return (
            Built(f"ensure that there {is_or_are(what)} no {what}", negative=True)
            if names_thing(what)
            else None
        )
    way = re.match(
        r"(?:a|an|some|any) (?:\w+ )?(?:way|option|possibility|chance|"
        r"means) (?:for (?P<who>.{2,30}?) )?"
        r"(?:to (?P<rest>.+)|of (?P<verb>[a-z]+ing) (?P<object>.+))$",
        what,
        re.I,
    )
    if way:
        doing = way["rest"] or f"{base_form(way['verb'])} {way['object']}"
        return (
            Built(verb_phrase(doing), subject=way["who"] or "the user")
            if verb_phrase(doing)
            else None
        )
    if re.match(r"there(?:'s| is| are)\b", text, re.I):
        return None  # tells how things are
    return provided(what)


def wish_somebody(text: str, said: Said) -> Built | None:
    found = _WISH_SOMEBODY.match(text)
    if found is None or _WAY_TO.match(found["who"]):
        return None
    return of_subject(found["who"], found["rest"], said, negative=bool(found["not"]))


def wish_to(text: str, said: Said) -> Built | None:
    found = _WISH_TO.match(text)
    if found is None or re.search(r"\b(?:not|n't|never)\b", text[: found.start("rest")], re.I):
        return None
    if not re.fullmatch(rf"{SPEAKERS}|it", found["who"], re.I) and not named_phrase(found["who"]):
        return None
    return of_subject(found["who"], found["rest"], said)


def wish_thing(text: str, said: Said) -> Built | None:
    found = _PREFERS.match(text) or _WISH_THING.match(text)
    if found is None:
        return None
    who = found.groupdict().get("who") or "i"
    if re.search(
        r"\b(?:not|never|no|should|must|can|will|to)\b|n't", text[: found.start("what")], re.I
    ):
        return None
    what = found["what"]
    if re.fullmatch(SPEAKERS, who, re.I):
        return _wanted_thing(what, said)
    named = named_phrase(who)
    thing = provided(what) if named else None
    if thing is None:
        return None
    return replace(thing, action=f"{thing.action} for {lower_first(who)}")


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
    modal = MODAL_AT.match(what)
    if modal and not re.search(r"\b(?:that|which|who|where)\b", modal["who"], re.I):
        return of_modal(what, said)
    return provided(what)


def possible_to(text: str, said: Said) -> Built | None:
    found = _FOR_IT_TO.match(text) or _IDEA_TO.match(text)
    if found is None:
        return None
    return of_subject(found.groupdict().get("who") or "i", found["rest"], said)


def do_you_want(text: str, said: Said) -> Built | None:
    found = _DO_YOU_WANT.match(text)
    if found is None:
        return None
    who = found["who"]
    if not re.fullmatch(rf"{SPEAKERS}|it", who, re.I) and not named_phrase(who):
        return None
    rest = found["rest"].strip()
    if re.match(r"to\s", rest, re.I):
        return of_subject(who, rest[3:], said)
    if re.match(r"that\s", rest, re.I):
        return of_modal(rest[5:], said)
    return wish_somebody(f"we want {rest}", said) or (
        _wanted_thing(rest, said) if re.fullmatch(SPEAKERS, who, re.I) else None
    )


_POSSIBILITY = re.compile(
    r"^(?:the|an?|another) (?:possibility|option|ability|opportunity) to (?P<rest>[a-z]+ .+)$", re.I
)
_NAMED_ALONE = re.compile(
    r"^(?P<what>(?:an?|some|one|another|two|three|four|five) (?!of\b|other\b|lot\b|few\b|bit\b)"
    r".{4,120}?)"
    r"(?:,? (?:that|this|it)(?: would|'d| will) be (?:\w+ )?(?:good|great|nice|fine|enough|helpful|"
    r"perfect|cool|useful)(?: too| also)?)?$",
    re.I,
)


def named_alone(text: str, said: Said) -> Built | None:
    """ "A printed list with the totals", as an answer or in a sum-up."""
    able = _POSSIBILITY.match(text) or (
        _TO_DO.match(text) if said.question or said.accepted else None
    )
    if able and (doing := verb_phrase(able["rest"])):
        return Built(doing, subject="the user")
    found = _NAMED_ALONE.match(text)
    what = found["what"] if found else (text if said.accepted else "")
    noun = head_of(what)
    told = _TELLS_MORE.search(what)
    named = what[: told.start()] if told else what
    what = re.sub(r"^some (?=[a-z]+\b(?<!s)\b)", "a ", what) if told else what
    enough = len(noun.split()) > 1 or told is not None or said.accepted
    if not named or not enough or is_person(noun) or _HAS_VERB.search(named):
        return None
    first = noun.split()[0]
    if is_participle(first) or (first.endswith("ing") and base_form(first)):
        return None  # "prepared by the office", "depending on the weather"
    if singular(noun.lower().split()[-1]) in grammar("time_nouns") | {"thing", "way", "example"}:
        return None
    return provided(what)


_TO_DO = re.compile(r"^to (?P<rest>[a-z]+ .+)$", re.I)
_TELLS_MORE = re.compile(
    r" (?:(?:of |with |for |on )?(?:who|which|that|where|what|how)|(?:you|we|they|i|"
    r"people) (?:can|could|may|have|want|need))\b",
    re.I,
)
_HAS_VERB = re.compile(
    r"\b(?:is|are|was|were|am|has|had|do|does|did|can|could|will|would|should|must|may|might|i|we|"
    r"you|they|he|she|it|who|which|that|what|because|so|if|when)\b|'",
    re.I,
)


def would_help(text: str, said: Said) -> Built | None:
    """ "A list of late cases would be helpful"."""
    found = _WOULD_HELP.match(text) or _WOULD_IT.match(text) or _IS_ENOUGH.match(text)
    return provided(found["what"]) if found else None
