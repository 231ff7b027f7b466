"""From a sentence that says what is wanted to an action: who does what, and when.

A sentence is taken only in a shape that is known from its first word to its last; of anything
else nothing is built, and the requirement quotes it.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pipelines.requirements.extraction.built import MODAL_AT, POLITE_END, SPEAKERS, Built, Said
from pipelines.requirements.extraction.peeling import (
    condition_first,
    condition_last,
    without_fronted,
    without_matrix,
    without_reason,
)
from pipelines.requirements.extraction.phrases import (
    base_form,
    is_noun_phrase,
    is_person,
    is_plural,
    is_system,
)
from pipelines.requirements.extraction.pronouns import neutral, resolved, things_named
from pipelines.requirements.extraction.speech import opened
from pipelines.requirements.extraction.statements import (
    asked,
    ensured_statement,
    no_thing,
    nobody,
    of_modal,
    ordered,
    present,
)
from pipelines.requirements.extraction.subjects import only_who
from pipelines.requirements.extraction.verbphrases import (
    conjugated,
    verb_phrase,
    without_adverbs,
)
from pipelines.requirements.extraction.wishes import (
    ask_for,
    do_you_want,
    how_about,
    named_alone,
    possible_to,
    there_is,
    what_if,
    wish_seen,
    wish_somebody,
    wish_thing,
    wish_to,
    would_help,
)
from pipelines.requirements.text import lower_first, plain

_NEGATED_MATRIX = re.compile(
    rf"\b{SPEAKERS} (?:do not|don't|did not|didn't|would not|wouldn't|never|no longer|cannot|"
    rf"can't) (?:\w+ )?"
    r"(?:think|believe|want|need|like|care|expect|require|mind|plan|have to|see|know|wish|use|"
    r"suppose)"
    r"|\b(?:do not|don't|does not|doesn't|did not|didn't|should not|shouldn't|must not|will not|"
    r"won't)"
    r" (?:have|need) to\b|\bneedn't\b|\bno need\b|\bnot (?:necessary|needed|required|important)\b"
    r"|\binstead of having to\b",
    re.I,
)

_RULES = re.compile(
    r"(?:always |only )?(?:must|should|shall|can|cannot|may|has to|have to|needs? to|"
    r"(?:can't|mustn't|shouldn't)|(?:is|are) (?:not )?(?:allowed|permitted|supposed) to)",
    re.I,
)
_WHAT_I_WANT = re.compile(
    rf"^(?:so |and |also )*what {SPEAKERS}(?: also| really)* "
    r"(?:want|need|would like|'d like|would love)(?: to (?:have|see|get))?(?: is| would be)"
    r"(?= (?:an?|the|some|more|one) )\s*",
    re.I,
)
_HAD = re.compile(
    r"^(?P<who>(?:the|each|every|our) [^,]{2,40}?) (?:had|would have) (?P<what>.+)$", re.I
)
_POSSIBLE_THAT = re.compile(
    r"^(?:it (?:should|must|has to|needs to|would) (?:also )?be possible|there (?:should|must) be "
    r"(?:a|the) possibility) that (?P<rest>\w.+)$",
    re.I,
)
_OPTION_TO = re.compile(
    r"^(?:you|it|we|the (?:system|app|program|software)) (?:must|should|has to|have to|needs? to|"
    r"could|can) (?:also )?(?:add|have|include|provide|offer|give)(?: me| us)? (?:an?|the) "
    r"(?:option|possibility|function|feature|way|choice) to (?=[a-z])",
    re.I,
)
_FOR_WHOM = re.compile(
    r"^for (?P<who>(?:the |all |our )?[\w-]+(?: [\w-]+)?),? it (?:should|must|has to|would) "
    r"(?:also )?be possible to ",
    re.I,
)
_ANYBODY = re.compile(r"\b(?:somebody|someone|anybody|anyone)\b", re.I)
_SPARED = re.compile(
    r"(?:i|we|you|they) (?:do not|don't|would not|wouldn't) (?:have|need) to (?P<doing>[a-z].+)$",
    re.I,
)
"""Work that somebody wants to be spared: "it would be good if I don't have to type it twice"."""
_SPLICED = re.compile(
    r",\s+(?:(?:the|our|my|your|an?|these|those) [\w-]+|it|they|we|i|you|there|he|she)(?: also)?"
    r"(?:'s|'re|'m| is| are| was| were| has| have| do| does| don't| doesn't| can| will)\b",
    re.I,
)
_OBLIGES = re.compile(r"must|should|shall|has to|have to|needs? to", re.I)
MOST_OWN_WORDS = 25
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|we|us|our)\b", re.I)
_SECOND_PERSON = re.compile(r"\byou(?:r|rs)?\b", re.I)
_FOR_THOSE = re.compile(
    r"^for (?P<what>[^,]{3,80}), (?P<modal>should|must|can|will|shall) "
    r"(?P<they>they|these|those|it) (?P<rest>(?!not\b).+)$",
    re.I,
)


def built_clause(said: Said) -> Built | None:
    text, ensured = without_matrix(_WHAT_I_WANT.sub("i want ", _it_can(said.text)))
    if not text:
        return None
    text = _of_those_named(text)
    text, place = without_fronted(text)
    said = replace(said, before=place) if things_named(place) else said
    text, first = condition_first(text)
    if first:
        text, _ = without_matrix(opened(text))
        said = replace(said, before=first) if things_named(first) else said
    text = without_reason(text)
    text, last = condition_last(text)
    text = POLITE_END.sub("", text.rstrip(" .!?,;:…")).rstrip(" .!?,;:")
    spared = _SPARED.match(text)
    if spared and text != said.text:
        doing = verb_phrase(spared["doing"])
        return _finished(Built(f"ensure that the user does not have to {doing}"), said)
    if _NEGATED_MATRIX.search(text):
        return None
    text = re.sub(
        r"^(?:you|me|i|we) and (?!(?:i|we|you)\b)(?=[a-z])", "the user and ", text, flags=re.I
    )
    if had := _HAD.match(text) if text != said.text else None:
        text = f"{had['who']} should have {had['what']}"
    if _ANYBODY.search(first):
        text = re.sub(r"^(?:he|she|they) (?=\w)", "the person ", text, flags=re.I)
    built = _shaped(text, said, ensured=ensured)
    if built is None:
        return None
    action = f"{built.action} {place}".strip() if place else built.action
    if first and re.match(r"(?:each|every) time\b", last, re.I):
        action, last = f"{action} {lower_first(last)}", ""
    when = ", ".join(filter(None, (first, last, built.condition)))
    return _finished(replace(built, action=action, condition=when), said)


def in_own_words(text: str) -> Built | None:
    """A rule as it was said, where it cannot be turned into an order: "ensure that …"."""
    rule = POLITE_END.sub("", without_matrix(text)[0].rstrip(" .!?,;:…")).rstrip(" .!?,;:")
    if len(rule.split()) > MOST_OWN_WORDS:
        return None
    found = MODAL_AT.match(rule)
    if found is None or not _RULES.fullmatch(found["modal"]):
        return None
    if _NEGATED_MATRIX.search(rule) or _SPLICED.search(rule):
        return None
    if not (re.fullmatch(SPEAKERS, found["who"], re.I) or is_noun_phrase(found["who"])):
        return None
    if _FIRST_PERSON.search(rule) and _SECOND_PERSON.search(rule):
        return None  # two people, and only one of them would be the user
    if is_person(found["who"]) and re.search(r"\b(?:it|them|this)\b", found["rest"]):
        return None
    if found["rest"].startswith("have ") and re.fullmatch("i|we", found["who"], re.I):
        return Built(f"Provide {neutral(found['rest'].removeprefix('have '), of_person=False)}")
    plain_rule = lower_first(rule)
    if _OBLIGES.fullmatch(found["modal"]) and not found["not"]:
        plain_rule = f"{lower_first(found['who'])} {_told(found['rest'], found['who'])}"
    return Built(f"Ensure that {neutral(plain_rule, of_person=False)}")


def _told(doing: str, who: str) -> str:
    """What is to be as if it were so already: "be open" as "is open"."""
    doing, many = without_adverbs(doing), is_plural(who)
    if re.match(r"be\b", doing):
        return f"{'are' if many else 'is'}{doing[2:]}"
    return doing if many else conjugated(doing)


def _it_can(text: str) -> str:
    """ "It should be possible that the teacher sees it" as "the teacher can see it"."""
    text = _FOR_WHOM.sub(r"\g<who> can ", _OPTION_TO.sub("i want to ", text))
    found = _POSSIBLE_THAT.match(text)
    spoken = found["rest"].split() if found else []
    for at in range(1, min(6, len(spoken) - 1)):
        who, doing = " ".join(spoken[:at]), base_form(spoken[at])
        if spoken[at].lower() in {"can", "could"} and is_noun_phrase(who):
            return " ".join(spoken)
        if doing and is_noun_phrase(who) and (doing != spoken[at].lower()) != is_plural(who):
            return " ".join([who, "can", doing, *spoken[at + 1 :]])
    return text


def _of_those_named(text: str) -> str:
    """ "For tools that are broken, should they be hidden": with the tools where "they" is."""
    found = _FOR_THOSE.match(text)
    if found is None:
        return text
    named = found["what"].split(" that ")[0]
    if not is_noun_phrase(named) or is_plural(named) == (found["they"].lower() == "it"):
        return text
    return f"{found['what']} {found['modal']} {found['rest']}"


def _finished(built: Built, said: Said) -> Built | None:
    """In neutral words, with what "it" stands for where that is certain."""
    by_system = not built.subject or is_system(built.subject)
    action = neutral(POLITE_END.sub("", plain(built.action)), of_person=not by_system)
    before = built.condition if "its " in action or things_named(built.condition) else said.before
    action = resolved(action, before=before, by_them=built.subject.lower() == "they")
    condition = neutral(built.condition, of_person=False) if built.condition else ""
    action = action.strip(" ,.;:")
    if action.lower().endswith(" there") and not re.search(r"\b(?:in|on|at|is|are)\b", action):
        action = action[: -len(" there")]
    return replace(built, action=action[:1].upper() + action[1:], condition=condition)


def _shaped(text: str, said: Said, *, ensured: bool) -> Built | None:
    """The first shape that fits."""
    if ensured:
        return ensured_statement(text, said)
    for shape in _SHAPES:
        built = shape(text, said)
        if built is not None:
            return built
    return None


_SHAPES = (
    nobody, only_who, there_is, ask_for, possible_to, do_you_want, how_about, what_if,
    would_help, wish_somebody, wish_to, wish_seen, of_modal, wish_thing,
    asked, no_thing, ordered, present, named_alone,
)  # fmt: skip
