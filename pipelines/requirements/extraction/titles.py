"""Titles: short noun phrases, from an action or from a sentence that is quoted."""

from __future__ import annotations

import re

from pipelines.requirements.extraction.phrases import (
    gerund,
    grammar,
    head_of,
    is_content,
    is_noun_phrase,
    is_verb,
)
from pipelines.requirements.extraction.pronouns import things_named
from pipelines.requirements.extraction.verbphrases import finite_verb
from pipelines.requirements.extraction.wellformed import ends_well
from pipelines.requirements.lexicon import mapping, words
from pipelines.requirements.text import plain, singular

MOST_WORDS = 8
QUOTED_WORDS = 6
_ARTICLE = re.compile(r"^(?:the|a|an|some|any|their|its) ", re.I)
_CUT = re.compile(
    r",\s|:\s|\s(?:so that|because|which|who|that (?:is|are|has|have|was|were|the user|can|will|"
    r"must)|when|if|unless|where|in order)\b"
)
_PLACE = re.compile(
    r"\s(?:of|for|in|on|at|with|without|from|to|by|about|per|within|after|before|until|as|via|"
    r"between|during|based|according|every|each)\b"
)


def title_of(action: str) -> str:
    """A short noun phrase for an action.

    Examples
    --------
    >>> title_of("Cancel an appointment"), title_of("Add notes to each order")
    ('Appointment Cancellation', 'Adding Notes to Each Order')
    >>> title_of("Show the number of open orders"), title_of("Never delete invoices")
    ('Number of Open Orders', 'Ban on Deleting Invoices')
    """
    text = action[:1].lower() + action[1:]
    for pattern, made in _SPECIAL:
        found = pattern.match(text)
        if found:
            return in_title_case(_short(made(found)))
    return in_title_case(_short(_of_verb(text)))


def _of_verb(text: str) -> str:
    text = re.sub(r"^(?:always|automatically|immediately|directly|manually) ", "", text)
    verb, _, rest = text.partition(" ")
    rest = re.sub(r"^(?:only|automatically) ", "", rest)
    if verb in grammar("silent") or verb in {"handle", "know", "enable"}:
        rest = re.sub(r"^the user (?=(?:a|an|the|some|every|each)\b)", "", rest)
        shown = _ARTICLE.sub("", rest)
        counted = re.sub(r"^(?:at (?:least|most)|up to|no more than) ", "", shown)
        if is_noun_phrase(head_of(counted)) and not re.match(
            r"(?:up|out|if|whether|how|what|who|that|which)\b", shown
        ):
            return shown
    noun = mapping("grammar", "title_nouns").get(verb)
    place = _PLACE.search(rest)
    thing = _ARTICLE.sub("", rest[: place.start()] if place else rest)
    named = thing.split()
    if (
        noun
        and 0 < len(named) <= 3
        and all(map(is_content, named))
        and not re.search(r"\b(?:and|or)\b|,", thing)
    ):
        tail = rest[place.start() :] if place else ""
        tail = "" if re.search(r"\b(?:their|the user|them|it)\b", tail) else tail
        if tail.startswith((" of", " in", " to")):
            return _both_gerunds(f"{gerund(verb)} {rest}")
        return f"{' '.join([*named[:-1], singular(named[-1])])} {noun}{tail}"
    return _both_gerunds(f"{gerund(verb)} {rest}")


def _both_gerunds(phrase: str) -> str:
    """ "scanning the form and attach it" with both verbs alike."""
    return re.sub(
        r"\b(and|or|then) ([a-z]+)(?= (?:the|a|an|it|them|their|all|any|each|every)\b)",
        lambda found: f"{found[1]} {gerund(found[2])}" if is_verb(found[2]) else found[0],
        phrase,
    )


def _right(found: re.Match[str]) -> str:
    return f"right to {found['rest']}"


def _ban(found: re.Match[str]) -> str:
    who = _ARTICLE.sub("", found["who"])
    return (
        f"ban on {found['rest']}"
        if who in {"everybody", "everyone"}
        else f"ban on {who} {found['rest']}"
    )


def _never(found: re.Match[str]) -> str:
    verb, _, rest = found["rest"].partition(" ")
    return f"ban on {gerund(verb)} {rest}"


def _made(found: re.Match[str]) -> str:
    """ "Make the timetable visible without a login" as "visible timetable without a login"."""
    return f"{found['how']} {_ARTICLE.sub('', found['what'])}{found['rest']}"


def _ensured(found: re.Match[str]) -> str:
    text = _ARTICLE.sub("", found["rest"])
    state = re.match(
        r"(?P<who>.+?) (?:can |must |should )?(?:(?:only )?be|is|are)(?P<not> not)? (?P<how>.+)$",
        text,
    )
    can = re.match(
        r"(?P<who>.+?) (?P<not>cannot|can|do not|does not) (?:only )?(?P<verb>[a-z-]+)(?P<how>.*)$",
        text,
    )
    if state and is_noun_phrase(state["who"]):
        only = " only" if " only be " in text or " only " in text[: state.start("how")] else ""
        how = (
            f"{state['how'].split()[0]}{only} {' '.join(state['how'].split()[1:])}"
            if only
            else state["how"]
        )
        return plain(f"{state['who']}{' not' if state['not'] else ''} {how}")
    if can and is_noun_phrase(can["who"]):
        negative = "" if can["not"] == "can" else " not"
        return f"{can['who']}{negative} {gerund(can['verb'])}{can['how']}"
    spoken = text.split()
    for at in range(1, min(7, len(spoken))):
        who = " ".join(spoken[:at])
        verb = finite_verb(who, spoken[at:])
        if verb and is_noun_phrase(who):
            return " ".join([*spoken[:at], gerund(verb), *spoken[at + 1 :]])
    return text


_SPECIAL = (
    (re.compile(r"(?P<rest>.+), which nobody else may do$"), _right),
    (re.compile(r"allow (?:only )?(?P<who>.+?) to (?P<rest>.+)$"), _right),
    (re.compile(r"prevent (?P<who>.+?) from (?P<rest>.+)$"), _ban),
    (re.compile(r"never (?P<rest>.+)$"), _never),
    (re.compile(r"ensure that there (?:is|are) (?P<rest>no .+)$"), lambda found: found["rest"]),
    (re.compile(r"ensure that (?P<rest>.+)$"), _ensured),
    (
        re.compile(
            r"make (?P<what>(?:the |a |"
            r"an )?(?:[\w-]+ ){1,3}?)(?P<how>[a-z]+)(?P<rest>(?: (?:for|in|on|at|with|without|"
            r"to|from|by)\b.*)?)$"
        ),
        lambda found: (
            _made(found)
            if found["how"] in grammar("state_adjectives")
            else f"making {found[0][5:]}"
        ),
    ),
)


def _short(phrase: str) -> str:
    """At most some words, and no end that asks for more."""
    cut = _CUT.search(phrase)
    if cut and len(phrase[: cut.start()].split()) >= 2:
        phrase = phrase[: cut.start()]
    spoken = phrase.strip(" .,;:").split()
    if len(spoken) > MOST_WORDS:
        whole = " ".join(spoken)
        ends = [found.start() for found in _PLACE.finditer(whole)]
        fitting = [
            end
            for end in ends
            if 2 <= len(whole[:end].split()) <= MOST_WORDS and ends_well(whole[:end])
        ]
        spoken = whole[: fitting[-1]].split() if fitting else spoken[:MOST_WORDS]
    while len(spoken) > 1 + (spoken[0].endswith("ing")) and (
        not ends_well(" ".join(spoken))
        or spoken[-1].lower() in {"it", "them", "based", "according", "not", "even", "who"}
        or (spoken[-1].endswith("ly") and not is_content(spoken[-1]))
        or spoken[-1].lower() in grammar("many") - {"people", "children", "staff", "data", "police"}
        or (spoken[-1].endswith("ing") and spoken[-2].lower() in {"and", "or"})
        or (
            singular(spoken[-1].lower()) in grammar("time_nouns")
            and spoken[-2].lower() in grammar("many")
        )
        or (is_verb(spoken[-1]) and spoken[-2].lower() in {"and", "or", "to"})
    ):
        spoken = spoken[:-1]
    return " ".join(spoken)


def in_title_case(phrase: str) -> str:
    spoken = re.sub(r"[“”\"]", "", phrase).split()
    return " ".join(_cased(word, at in {0, len(spoken) - 1}) for at, word in enumerate(spoken))


def _cased(word: str, edge: bool) -> str:
    low = word.lower()
    if low in grammar("acronyms"):
        return low.upper()
    if not edge and low in grammar("small"):
        return low
    return "-".join(part[:1].upper() + part[1:] for part in word.split("-"))


def title_of_quoted(sentence: str, question: str = "") -> str:
    """What a quoted sentence is about, else its first words."""
    for text in (sentence, question):
        names = [name.removeprefix("the ") for name in things_named(text)]
        names = [
            name
            for name in names
            if not any(is_verb(word) and not name.endswith(word) for word in name.split())
        ]
        if names:
            return in_title_case(max(names, key=lambda name: min(len(name.split()), 3)))
    plural = re.findall(r"\b[a-z]{3,}s\b", sentence.lower())
    plural = [
        word
        for word in plural
        if is_content(word) and not is_verb(singular(word)) and word not in words("auxiliaries")
    ]
    if plural:
        return in_title_case(plural[0])
    spoken = sentence.split()
    begin = " ".join(spoken[:QUOTED_WORDS]).rstrip(" ,.;:")
    return f"“{begin}{'…' if len(spoken) > QUOTED_WORDS else ''}”"
