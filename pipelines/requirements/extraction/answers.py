"""An answer that is no sentence by itself, put together with the question it answers."""

from __future__ import annotations

import re
from dataclasses import replace

from pipelines.requirements.extraction.built import Built, Said
from pipelines.requirements.extraction.nounphrases import noun_of
from pipelines.requirements.extraction.phrases import (
    base_form,
    is_noun_phrase,
    is_participle,
    is_person,
    is_verb,
)
from pipelines.requirements.extraction.pronouns import neutral
from pipelines.requirements.extraction.speech import clean, opened
from pipelines.requirements.extraction.statements import asked_of
from pipelines.requirements.extraction.subjects import of_subject
from pipelines.requirements.extraction.verbphrases import verb_phrase
from pipelines.requirements.lexicon import words
from pipelines.requirements.text import lower_first, plain, tokens, upper_first

LONGEST = 12  # words of an answer that is put into its question
_MUST = r"(?:should|shall|must|can|may|could|will|do|does|is|are|would)"
_WHO = re.compile(
    rf"\bwho(?: else)? (?:{_MUST}|needs to|has to|gets to|is allowed to|"
    rf"is able to)(?: be)?(?: allowed to| able to| permitted to)? (?P<rest>[a-z][^?]+)\?",
    re.I,
)
_HOW_LONG = re.compile(
    rf"\b(?P<how>how (?:long|often|fast|quickly|soon|frequently|far in advance|early|late)|when|"
    rf"at what time|where)(?: exactly)? {_MUST} (?P<rest>[^?]+)\?",
    re.I,
)
_WHAT = re.compile(
    rf"\bwhat(?: (?:else|exactly|information|details|data|fields|kind of (?:information|details|"
    rf"data)))? {_MUST} (?P<rest>[^?]+)\?",
    re.I,
)
_WHAT_WANTED = re.compile(
    r"\bwhat(?: (?:else|other \w+|kinds? of \w+|sorts? of \w+|\w+))? (?:do|would|did) (?:you|we|"
    r"they) (?:also )?(?:want|need|like|expect|wish)(?: to (?P<verb>[a-z]+)(?P<tail>[^?]*))?\?",
    re.I,
)
_CHOICES = re.compile(
    r"(?:(?<=\w): |(?:, |\s?[–—]\s?)(?=(?:everyone|everybody|only|just|or)\b))[^:?]+\?$", re.I
)
"""What there is to choose from, at the end of a question."""
_DO_YOU_NEED = re.compile(
    r"\b(?:do|would) (?:you|they|people|users) (?:need|want|like|prefer|expect|wish) to ", re.I
)
_HOW_TO = re.compile(rf"\bhow {_MUST} (?P<rest>[^?]+)\?", re.I)
_BY_MEANS = re.compile(r"^(?:by|with|via|through|using|on|in)\b", re.I)
_FIRST_WORDS = re.compile(
    r"^(?:in|on|at|by|from|for|within|every|each|once|twice|daily|weekly|monthly|hourly|yearly|"
    r"after|before|until|no |at least|up to|under|less than|immediately|instantly|right away|"
    r"as soon as|when|whenever|two|three|via)\b",
    re.I,
)
_AMOUNT = re.compile(
    r"^(?:about |around |approximately |max(?:imum)? |at (?:most|least) |up to |no more than |"
    r"not more than )?(?:an?|one|half|\d|two|three|four|five|six|seven|eight|nine|ten|twelve|"
    r"twenty|thirty|sixty|ninety)\b",
    re.I,
)


def answered(said: Said) -> Built | None:
    question = _DO_YOU_NEED.sub("should you ", _CHOICES.sub("?", clean(said.question)))
    text = opened(clean(said.text)).rstrip(" .!,;:")
    if not question.rstrip().endswith("?") or not 0 < len(tokens(text)) <= LONGEST:
        return None
    for shape in (_by_whom, _only_they, _how, _by_what, _what, _wanted):
        built = shape(question, text)
        if built:
            return replace(built, action=upper_first(built.action.strip(" ,.;:")))
    return None


def _by_whom(question: str, text: str) -> Built | None:
    """ "Who may approve it?" "Only the manager.\""""
    asked = _last(_WHO, question)
    found = re.match(r"(?:(?P<only>only|just) )?(?P<who>.+)$", text, re.I)
    if asked is None or found is None:
        return None
    what = verb_phrase(neutral(asked["rest"], of_person=False))
    who = re.sub(
        r"\b(?:me|myself|i|us|we)\b",
        "the user",
        re.sub(r"\b(?:our|my)\b", "the", found["who"], flags=re.I),
        flags=re.I,
    )
    who = re.sub(r" as (?:a|an|the) [\w-]+$", "", who)
    if not what or not _are_people(who):
        return None
    only = "only " if found["only"] or re.search(r"\bonly\b", question, re.I) else ""
    if re.search(r"\band\b|\bor\b|,", who):
        return Built(f"allow {only}{lower_first(who)} to {what}")
    return Built(f"{what}, which nobody else may do" if only else what, subject=who)


def _only_they(question: str, text: str) -> Built | None:
    """Only the branch head, asked whether staff may change it."""
    asked = re.search(r"\b(?P<asked>(?:may|can|should|could|shall|must) [^?]+)\?$", question, re.I)
    found = re.match(r"(?:only|just) (?P<who>.+)$", text, re.I)
    built = asked_of(asked["asked"]) if asked and found else None
    if built is None or found is None or not built.subject or not _are_people(found["who"]):
        return None
    return Built(f"{built.action}, which nobody else may do", subject=found["who"])


def _are_people(who: str) -> bool:
    parts = re.split(r",? and |,? or |, ", who)
    return all(
        part.strip() == "the user" or (is_noun_phrase(part) and is_person(part)) for part in parts
    )


def _how(question: str, text: str) -> Built | None:
    """ "How long should invoices be kept?" "Five years.\""""
    asked = _last(_HOW_LONG, question)
    if asked is None:
        return None
    action = asked_of(f"should {asked['rest']}")
    how = asked["how"].lower()
    given = lower_first(neutral(text, of_person=False))
    starts = _FIRST_WORDS.match(given) is not None
    if (
        "long" in how
        and not re.match(r"(?:for|until|at least|up to|no)\b", given)
        and _AMOUNT.match(given)
    ):
        given = f"for {given}"
    elif (
        re.search(r"fast|quick|soon", how)
        and not re.match(r"(?:within|in|under|less|immediately|instantly|right)\b", given)
        and _AMOUNT.match(given)
    ):
        given = f"within {given}"
    elif not starts:
        return None
    return Built(f"{action.action} {given}", subject=action.subject) if action else None


def _by_what(question: str, text: str) -> Built | None:
    """ "How should members sign in?" and "Card number and password"."""
    asked = _last(_HOW_TO, question)
    means = lower_first(neutral(text, of_person=False))
    if asked is None or not (_BY_MEANS.match(means) or noun_of(text)):
        return None
    action = asked_of(f"should {asked['rest']}")
    if action is None or action.action.lower().startswith("ensure"):
        return None
    return Built(
        f"{action.action} {means if _BY_MEANS.match(means) else f'with {means}'}",
        subject=action.subject,
    )


def _what(question: str, text: str) -> Built | None:
    """ "What should the label show?" "The price.\""""
    asked = _last(_WHAT, question)
    if asked is None or not noun_of(text):
        return None
    named = noun_of(text)
    spoken = asked["rest"].split()
    for at in range(1, min(7, len(spoken))):
        who, verb = " ".join(spoken[:at]), base_form(spoken[at])
        if verb is None or not (
            is_noun_phrase(who) or who.lower() in {"i", "we", "you", "it", "they"}
        ):
            continue
        tail = " ".join(spoken[at + 1 :])
        if spoken[at].lower() == "be" and at + 1 < len(spoken):
            return None
        if tail and tail.split()[0].lower() not in words("prepositions"):
            continue
        return of_subject(who, plain(f"{verb} {named} {tail}"), Said(""))
    passive = re.match(
        r"be (?P<verb>[a-z]+)(?P<tail>(?: (?:on|in|for|with|at|about|to|by|when|after|"
        r"before)\b.*)?)$",
        asked["rest"],
        re.I,
    )
    if passive and is_participle(passive["verb"]):
        tail = passive["tail"].strip()
        when = re.search(r"\b(?:when|after|before)\b.*$", tail)
        if when:
            tail = tail[: when.start()].strip()
        return Built(
            plain(f"{base_form(passive['verb'])} {named} {tail}"),
            condition=when[0] if when and when[0].startswith("when") else "",
        )
    return None


def _wanted(question: str, text: str) -> Built | None:
    """ "What reports do you want to see?" "Sales per week.\""""
    asked = _last(_WHAT_WANTED, question)
    if asked is None or not noun_of(text):
        return None
    verb = asked["verb"]
    if not verb:
        return Built(f"provide {noun_of(text)}")
    tail = (asked["tail"] or "").strip()
    if not is_verb(verb) or (tail and tail.split()[0].lower() not in words("prepositions")):
        return None
    return Built(plain(f"{verb} {noun_of(text)} {tail}"), subject="the user")


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(iter(reversed([*pattern.finditer(text)])), None)
