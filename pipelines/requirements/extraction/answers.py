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
    is_plural,
    is_verb,
)
from pipelines.requirements.extraction.pronouns import neutral
from pipelines.requirements.extraction.speech import clean, opened
from pipelines.requirements.extraction.statements import asked_of
from pipelines.requirements.extraction.subjects import of_subject
from pipelines.requirements.extraction.verbphrases import verb_phrase
from pipelines.requirements.lexicon import words
from pipelines.requirements.text import lower_first, plain, tokens, upper_first

LONGEST, LONGEST_LIST = 12, 30  # words of an answer that is put into its question
_MUST = r"(?:should|shall|must|can|may|could|will|do|does|is|are|would)"
_WHO = re.compile(
    rf"\bwho(?: else)? (?:{_MUST}|needs to|has to|gets to|is allowed to|"
    rf"is able to)(?: be)?(?: allowed to| able to| permitted to)? (?P<rest>[a-z][^?]+)\?",
    re.I,
)
_WHO_DOES = re.compile(
    r"\bwho (?:usually |then |else )?(?P<verb>[a-z]+s) (?P<rest>[a-z][^?]+)\?", re.I
)
_ONLY_THEY = re.compile(
    r",? (?:and )?(?:only (?:they|them|he|him|she|her|those)|nobody else|no ?one else)$", re.I
)
_BODY = re.compile(
    r"(?:only |just )?(?:the |our )?(?:[\w-]+ )?(?:department|office|committee|board|"
    r"council|team|unit|management|"
    r"accounting|hr|reception|desk|secretariat|lab)$",
    re.I,
)
"""Several people at once."""
_TOPIC = re.compile(
    r"(?:^|[.!?] )(?:(?:and|so|okay|ok|then|right)[, ]+)*(?:what(?:'s| is| are| should be|"
    r" would be)(?: then)? )?"
    r"(?P<what>(?:the |a |max(?:imum)? |min(?:imum)? )(?:[\w-]+ ){0,3}?[\w-]+"
    r"(?: (?:of|for|per) (?:the |a |an |each )?[\w-]+)?)(?: then)?\?",
    re.I,
)
_HOW_MANY = re.compile(
    r"(?:^|[.!?] )(?:(?:and|so|okay|ok|then|right)[, ]+)*how many (?P<what>[\w-]+(?: [\w-]+)?"
    r"(?: (?:per|for each|at once|at a time)(?: [\w-]+)?)?)\?",
    re.I,
)
_WHICH_KINDS = re.compile(
    r"\b(?:what|which) (?:(?:other|kind of|kinds of|sort of) )?(?P<what>languages?|"
    r"browsers?|devices?|platforms?|"
    r"currenc(?:y|ies)|(?:file )?formats?|(?:operating )?systems?|phones?)"
    r"(?: (?:do|does|should|must|would|will|are|is)\b[^?]*)?\?",
    re.I,
)
_LIMIT = re.compile(
    r"(?:(?:at most|at least|up to|max(?:imum)?|no more than|not more than|exactly|only|"
    r"about|around|say) )?"
    r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty|sixty|hundred|\d[\w.,]*)"
    r"(?: [\w%€$£/-]+){0,3}$",
    re.I,
)
_EMBEDDED = re.compile(r"(?:how|what|which|who|when|where|whether) \w+ \w+", re.I)
_DOUBT = re.compile(
    r",? (?:i think|i guess|i suppose|i'd say|probably|maybe|perhaps|for sure|that's it|"
    r"that's all)$",
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
_WHAT_ON = re.compile(
    r"\bwhat(?: (?:else|exactly|all|information|data))?(?:'s| is| are| should be| must be|"
    r" goes| comes)(?: also| all)? "
    r"(?P<where>(?:on|in|into) (?:the|a|an|each|every|this|that) [\w -]{3,30})\?",
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
    text = _DOUBT.sub("", opened(clean(said.text)).rstrip(" .!,;:"))
    if not question.rstrip().endswith("?") or not 0 < len(tokens(text)) <= (
        LONGEST_LIST if text.count(",") > 1 else LONGEST
    ):
        return None
    for shape in (_by_whom, _only_they, _how, _by_what, _what, _on_what, _wanted, _topic):
        built = shape(question, text)
        if built:
            return replace(built, action=upper_first(built.action.strip(" ,.;:")))
    return None


def _by_whom(question: str, text: str) -> Built | None:
    """ "Who may approve it?" "Only the manager.\""""
    asked = _last(_WHO, question) or _last(_WHO_DOES, question)
    alone = _ONLY_THEY.search(text)
    text = _ONLY_THEY.sub("", text)
    found = re.match(r"(?:(?P<only>only|just) )?(?P<who>.+)$", text, re.I)
    if asked is None or found is None:
        return None
    verb = asked.groupdict().get("verb")
    doing = f"{base_form(verb)} {asked['rest']}" if verb else asked["rest"]
    what = verb_phrase(neutral(doing, of_person=False))
    who = re.sub(
        r"\b(?:me|myself|i|us|we)\b",
        "the user",
        re.sub(r"\b(?:our|my)\b", "the", found["who"], flags=re.I),
        flags=re.I,
    )
    who = re.sub(r" as (?:a|an|the) [\w-]+$", "", who)
    body = _BODY.match(who) is not None
    if not what or not (body or _are_people(who)):
        return None
    only = "only " if found["only"] or alone or re.search(r"\bonly\b", question, re.I) else ""
    if body or re.search(r"\band\b|\bor\b|,", who):
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
    action = asked_of(f"should {_as_asked(asked)}")
    how = asked["how"].lower()
    given = lower_first(neutral(text, of_person=False))
    starts = _FIRST_WORDS.match(re.sub(r"^(?:only|just) ", "", given)) is not None
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


def _as_asked(asked: re.Match[str]) -> str:
    """ "How is the letter sent" asks how it should be sent."""
    spoken = asked["rest"].split()
    passive = re.search(r"\b(?:is|are) ", asked[0], re.I) and is_participle(spoken[-1])
    return " ".join([*spoken[:-1], "be", spoken[-1]]) if passive else asked["rest"]


def _by_what(question: str, text: str) -> Built | None:
    """ "How should members sign in?" and "Card number and password"."""
    asked = _last(_HOW_TO, question)
    means = lower_first(neutral(text, of_person=False))
    if asked is None or not (_BY_MEANS.match(means) or noun_of(text)):
        return None
    if _FIRST_WORDS.match(means) and not _BY_MEANS.match(means):
        return None  # says when
    action = asked_of(f"should {_as_asked(asked)}")
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
        tail = re.sub(r"(?:in )?there$", "", " ".join(spoken[at + 1 :])).strip()
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


def _on_what(question: str, text: str) -> Built | None:
    """ "What is on the slip?" "The date, the name and the weight.\""""
    asked = _last(_WHAT_ON, question)
    named = noun_of(text) if asked else ""
    return Built(f"include {named} {asked['where'].lower()}") if asked and named else None


def _topic(question: str, text: str) -> Built | None:
    """ "And the language?" "Norwegian and English."; "How many photos per entry?" "Up to five.\""""
    given = re.sub(r"^(?:it's|that's|say|let's say) ", "", text, flags=re.I)
    kinds = _last(_WHICH_KINDS, question)
    if kinds and _LIMIT.match(given) is None and noun_of(given):
        return Built(f"support {given}")
    many = _last(_HOW_MANY, question)
    if many and _LIMIT.match(given):
        thing, _, each = many["what"].partition(" per ")
        return Built(f"allow {lower_first(given)} {thing}{' per ' + each if each else ''}")
    asked = _last(_TOPIC, question)
    if (
        asked is None
        or not (_LIMIT.match(given) or noun_of(given))
        or not is_noun_phrase(asked["what"])
    ):
        return None
    what = (
        asked["what"] if re.match(r"(?:the|a)\b", asked["what"], re.I) else f"the {asked['what']}"
    )
    what = re.sub(r"^the (max|min)\b", r"the \1imum", lower_first(what))
    return Built(f"ensure that {what} {'are' if is_plural(what) else 'is'} {given}")


def _wanted(question: str, text: str) -> Built | None:
    """ "What reports do you want to see?" "Sales per week.\""""
    asked = _last(_WHAT_WANTED, question)
    told = asked is not None and asked["verb"] in {"see", "know"} and _EMBEDDED.match(text)
    if told and asked is not None:
        return Built(plain(f"{asked['verb']} {lower_first(text)}"), subject="the user")
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
