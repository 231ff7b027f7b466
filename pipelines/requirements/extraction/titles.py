"""Titles: short noun phrases, from an action or from a sentence that is quoted."""

from __future__ import annotations

import re

from pipelines.requirements.extraction.phrases import (
    base_form,
    gerund,
    grammar,
    head_of,
    is_content,
    is_noun_phrase,
    is_plural,
    is_verb,
    third_person,
)
from pipelines.requirements.extraction.pronouns import things_named
from pipelines.requirements.extraction.verbphrases import finite_verb
from pipelines.requirements.extraction.wellformed import ends_well
from pipelines.requirements.lexicon import mapping, words
from pipelines.requirements.text import plain, singular, upper_first

MOST_WORDS = 8
QUOTED_WORDS = 6
_ARTICLE = re.compile(r"^(?:the|a|an|some|any|their|its) ", re.I)
SHORT_SENTENCE = 12  # words; of a longer one a single noun says too little
_WANTED = re.compile(
    r"\b(?:want|wants|wanna|need|needs|would like|should|must|has to|have to|shall|add)\b", re.I
)
_DETERMINED = re.compile(r"(?:each|every|the|an?|this|that|no) ", re.I)
_CUT = re.compile(
    r",\s|:\s|\s?[—–]|\s(?:so that|because|which|who|that (?:is|are|has|have|was|were|the user|can|"
    r"will|must|the|an?|each|every|all|no|it|they)|when|if|unless|where|in order|"
    r"and (?:cannot|can|must|should|will|is|are|has|have|does|do|not)|instead|=)(?!\w)"
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
        r"(?P<who>.+?) (?:can |must |should |(?P<no>cannot |can't |mustn't ))?"
        r"(?:(?:only )?be|is|are)(?P<not> not)? (?P<how>.+?)(?: but .+)?$",
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
        is_not = state["not"] or state["no"]
        return plain(f"{state['who']}{' not' if is_not else ''} {how}")
    if can and is_noun_phrase(can["who"]):
        negative = "" if can["not"] == "can" else " not"
        return f"{can['who']}{negative} {gerund(can['verb'])}{can['how']}"
    determined = _DETERMINED.match(found["rest"]) is not None
    return _subject_doing(text, determined=determined) or text


def _subject_doing(text: str, *, determined: bool) -> str:
    """ "Late scans sync at night" as "late scans syncing at night"."""
    spoken = text.split()
    doing = []
    for at in range(1, min(9, len(spoken))):
        who = " ".join(spoken[:at])
        adverb = spoken[at].endswith("ly") or spoken[at] in {"always", "also", "only", "now"}
        verb = finite_verb(who, [*spoken[at + adverb :], "."])
        if verb and is_noun_phrase(who):
            title = " ".join([*spoken[:at], gerund(verb), *spoken[at + adverb + 1 :]])
            doing.append((determined or is_plural(who), title))
    # "offline scans": a bare word in the singular is rarely a subject, the noun after it is
    return next((title for certain, title in doing if certain), doing[0][1] if doing else "")


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
    phrase = _one_verb(phrase)
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
        or (spoken[-1].endswith("ing") and spoken[-2].lower() in {"and", "or", "without", "by"})
        or (
            singular(spoken[-1].lower()) in grammar("time_nouns")
            and spoken[-2].lower() in grammar("many")
        )
        or (is_verb(spoken[-1]) and spoken[-2].lower() in {"and", "or", "to"})
    ):
        spoken = spoken[:-1]
    return " ".join(spoken)


def _one_verb(phrase: str) -> str:
    """ "Rejecting negative weights and prevent saving": only what comes first."""
    for found in re.finditer(r",? (?:and|or|then) (?P<verb>[a-z-]+)(?= [a-z])", phrase):
        before = phrase[: found.start()]
        if is_verb(found["verb"]) and (
            before.split()[0].endswith("ing") or len(before.split()) < 3
        ):
            after = phrase[found.end() :].split()[0]
            joined = words("determiners") | words("prepositions") | {"what", "how", "who", "which"}
            if after in joined or is_content(after):
                return before
    return phrase


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
    """What a quoted sentence is about, where it names that in two words or more; else its start."""
    whole = len(sentence.split()) <= QUOTED_WORDS
    for text in filter(None, (question,) if whole else (sentence, question)):
        named = _names_in(text)
        if named:
            return in_title_case(named)
    spoken = sentence.split()
    begin = " ".join(spoken[:QUOTED_WORDS]).rstrip(" ,.;:")
    return f"“{upper_first(begin)}{'…' if len(spoken) > QUOTED_WORDS else ''}”"


def _names_in(text: str) -> str:
    """The thing named most closely; after the word that asks for something, if there is one."""
    wanted = _WANTED.search(text)
    for part in (text[wanted.end() :], text) if wanted else (text,):
        names = [_without_verb(name.removeprefix("the ")) for name in things_named(part)]
        short = len(part.split()) <= SHORT_SENTENCE
        fitting = [
            name
            for name in names
            if (len(name.split()) > 1 or (short and len(name) > 3 and not is_verb(name)))
            and not any(is_verb(word) and not name.endswith(word) for word in name.split())
        ]
        if fitting:
            return max(fitting, key=lambda name: min(len(name.split()), 3))
    return ""


def _without_verb(name: str) -> str:
    """ "Total amount takes": a verb at the end belongs to the clause, not to the thing."""
    spoken = name.split()
    verb = base_form(spoken[-1])
    takes = verb is not None and spoken[-1] == third_person(verb) != verb
    return " ".join(spoken[:-1]) if takes and len(spoken) > 2 else name
