"""A subject and what it does, in the form that keeps its meaning: actor, system or thing."""

from __future__ import annotations

import re

from pipelines.requirements.extraction.built import ADVERB, Built, Said
from pipelines.requirements.extraction.nounphrases import is_pronoun, named_phrase, provided
from pipelines.requirements.extraction.phrases import (
    base_form,
    grammar,
    head_of,
    is_noun_phrase,
    is_participle,
    is_person,
    is_plural,
    is_system,
)
from pipelines.requirements.extraction.pronouns import things_named
from pipelines.requirements.extraction.verbphrases import (
    conjugated,
    gerund_phrase,
    verb_phrase,
    without_adverbs,
)
from pipelines.requirements.lexicon import actors
from pipelines.requirements.text import lower_first, plain

_ONLY_WHO = re.compile(
    r"^(?:only|just) (?P<who>.{2,50}?) (?:can|may|should|must|shall|will|is allowed to|"
    r"are allowed to|gets? to|could|has to|have to|is able to|are able to)"
    r"(?: be able to| be allowed to| also)? (?P<rest>.+)$",
    re.I,
)
_GIVE_BY_PASSIVE = re.compile(
    r"\bby (?P<agent>(?:the |an? |our )?[\w-]+(?: [\w-]+)?"
    r"(?: and (?:the |an? |our )?[\w-]+(?: [\w-]+)?)?)(?=$|, )",
    re.I,
)
_COUNTED = re.compile(
    r"(?:at least|at most|no more than|not more than|up to|exactly|more than|less than|only|"
    r"most|some|half|few|two|three|"
    r"four|five|six|ten|\d+)\b",
    re.I,
)


_IS_WHERE = re.compile(
    r"be (?:also )?(?:in|on|for|compatible|available|accessible|reachable|integrated|connected|"
    r"installed|translated|usable|free|(?:very |really |also )*(?:fast|quick|"
    r"secure|safe|"
    r"stable|readable|reliable|cheap|modern|multilingual))\b",
    re.I,
)
_AND_DONE = re.compile(
    r"(?P<and>\b(?:and|or) (?:then |also )?)(?P<verb>[a-z]+ed)\b(?! [a-z]+s\b)", re.I
)
_SYSTEM_ACTS = re.compile(
    r"\b(?:app|application|system|software|program|platform|website|tool) (?:will|should|must|can|"
    r"only|also|then|does|is|has|needs)\b",
    re.I,
)


def only_who(text: str, said: Said) -> Built | None:
    found = _ONLY_WHO.match(text)
    who = named_phrase(found["who"]) if found else None
    doing = verb_phrase(found["rest"]) if found else ""
    if not who or not doing:
        return None
    return only_for(who, doing) if is_person(who) or who == "the user" else None


def only_for(who: str, doing: str) -> Built:
    """A right of one kind of people, as what they do; of several kinds, as what they are let do."""
    if re.search(r"\band\b|\bor\b|,", who):
        return Built(f"allow only {who} to {doing}")
    return Built(f"{doing}, which nobody else may do", subject=who)


def of_subject(
    who: str, rest: str, said: Said, *, modal: str = "must", negative: bool = False
) -> Built | None:
    """A subject and what it does, in the form that keeps its meaning."""
    rest = without_adverbs(rest)
    if re.match(r"(?:not|never) ", rest, re.I):
        negative, rest = not negative, rest.split(" ", 1)[1]
    who = {"them": "they", "him": "he", "her": "she", "us": "we", "me": "i"}.get(
        who.strip(" ,").lower(), who.strip(" ,")
    )
    if re.match(r"(?:not all|not every|not everyone|no|only)\b", who, re.I):
        return _quantified(who, rest, modal)
    rest = re.sub(r"^(?:remain|stay) (?=[a-z]+(?:ble|ed|en|al)\b)", "be ", rest)
    if re.fullmatch(r"(?:remain|stay)(?: (?:forever|permanently|stored|saved))?", rest, re.I):
        if negative or is_pronoun(who) or not is_noun_phrase(who):
            return None
        return Built(plain(f"keep {lower_first(who)} {rest.partition(' ')[2]}"))
    if who.lower() in {"it", "this", "that"} and rest.startswith("be "):
        named = [name for name in things_named(said.before) if not is_plural(name)]
        if len(named) == 1:
            who = named[0]
        elif who.lower() == "it" and not things_named(said.before) and _IS_WHERE.match(rest):
            who = "the system"
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
            return None if modal == "present" else provided(had["what"])
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
        return only_who(f"{who} may {rest}", Said(""))
    return (
        Built(f"ensure that {lower_first(who)} {'can ' if modal == 'can' else ''}{rest}")
        if modal == "can" and re.match(r"no\b", who, re.I) and is_noun_phrase(who.split(" ", 1)[-1])
        else None
    )


def _by_somebody(who: str, phrase: str, *, negative: bool) -> Built | None:
    if negative:
        named = "the user" if who == "the user" else named_phrase(who)
        if not named:
            return None
        return Built(f"prevent {named} from {gerund_phrase(phrase)}", negative=True)
    if re.search(r"\b(?:and|or)\b", head_of(who)):
        return Built(f"allow {lower_first(who)} to {phrase}")
    if _COUNTED.match(who):
        return Built(
            f"ensure that {lower_first(who)} {phrase if is_plural(who) else conjugated(phrase)}"
        )
    some = head_of(who) != who and is_noun_phrase(who)
    return Built(phrase, subject=who, condition=f"for {lower_first(who)}" if some else "")


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
        rest = re.sub(r" (?:on|in|with) it$", "", rest)
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
    doing = phrase if plural else conjugated(phrase)
    return Built(f"ensure that {low} {doing}")


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
    if not verb or passive["verb"].lower() in grammar("mishaps"):
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
    if not is_pronoun(who) and not is_noun_phrase(who):
        return None
    negative = negative or "never" in adverbs or "not" in adverbs
    adverbs = [word for word in adverbs if word not in {"not", "never"}]
    limited = "only" in adverbs or re.match(r" only\b", rest)
    said_of = is_pronoun(who) and low not in {"i", "we", "you"}
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
    if agent and (_are_people(agent["agent"]) or is_system(agent["agent"])):
        doer, rest = agent["agent"], rest[: agent.start()].rstrip()
    if " and " in doer and not negative:
        return Built(plain(f"allow {lower_first(doer)} to {verb} {thing} {rest}"))
    if negative:
        phrase = plain(f"{verb} {thing} {rest}")
        return Built(
            f"prevent {doer} from {gerund_phrase(phrase)}"
            if doer and is_person(doer)
            else f"never {phrase}",
            negative=True,
        )
    after = " ".join(adverbs)
    particle = re.match(
        r" (in|out|up|off|down|back|over|away)\b(?! (?:the|a|an|front|case|order)\b)", rest
    )
    moved = f" {particle[1]}" if particle else ""
    rest = _AND_DONE.sub(_done_as_well, rest[particle.end() :] if particle else rest)
    phrase = plain(f"{verb} {thing}{moved} {after}{' ' if after else ''}{rest.strip()}")
    return Built(phrase, subject=doer or ("the user" if modal == "can" else ""))


def _done_as_well(found: re.Match[str]) -> str:
    """ "Imported daily and matched by number": the second participle as the first."""
    verb = base_form(found["verb"]) if is_participle(found["verb"]) else None
    return f"{found['and']}{verb}" if verb else found[0]


def _are_people(agent: str) -> bool:
    """One of them or several; who is named next to a speaker is somebody too."""
    parts = agent.split(" and ")
    speaks = [re.fullmatch(r"you|me|us|the user", part, re.I) is not None for part in parts]
    return (len(parts) > 1 and any(speaks)) or all(map(is_person, parts))


def _state(who: str, rest: str, said: Said, *, negative: bool) -> Built | None:
    """ "The timetable must be visible without a login"."""
    after = rest.split(" ", 1)[1] if " " in rest else ""
    after = re.sub(rf"^{ADVERB}", "", after, flags=re.I)
    if not after or is_pronoun(who) or not is_noun_phrase(who):
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


def _is_the_system(phrase: str, said: Said) -> bool:
    """Whether "it" is the system: nothing else was named just before, and a system does such."""
    if re.match(r"automatically |take (?:longer|more) than ", phrase):
        return True
    verb = phrase.split()[0]
    alone = not things_named(said.before) or _SYSTEM_ACTS.search(said.before)
    return bool(alone and verb not in grammar("not_done_by_it")) or verb in grammar(
        "done_by_systems"
    )
