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
    nobody,
    of_modal,
    ordered,
    present,
)
from pipelines.requirements.extraction.subjects import only_who
from pipelines.requirements.extraction.verbphrases import (
    conjugated,
    gerund_phrase,
    verb_phrase,
    without_adverbs,
)
from pipelines.requirements.extraction.wishes import (
    do_you_want,
    named_alone,
    possible_to,
    there_is,
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
    rf"^(?:so |and |also |basically )*(?:what|(?:the )?(?:only |one |main |first |other |"
    rf"next )*thing(?: that)?)"
    rf" (?:{SPEAKERS}(?:'d|'m|'re| would| am| are)?(?: also| really| actually| just)*"
    r" (?:want|need|like|love|miss|missing|lack|lacking|prefer|looking for)(?: most| here| now)?"
    r"|(?:would|'d)(?: also| really)* (?:help|be (?:good|great|nice|useful|helpful|perfect|handy))"
    r"(?: (?:me|us|them|for (?:me|us)))?(?: most| a lot)?)"
    r"(?: to (?:have|see|get))?(?: is| are| would be)\s+(?!(?:when|if|i|we|you|they)\b)",
    re.I,
)
_HAD = re.compile(
    r"^(?P<who>(?:the|each|every|our) [^,]{2,40}?) (?:had|would have) (?P<what>.+)$", re.I
)
_ANYBODY = re.compile(r"\b(?:somebody|someone|anybody|anyone)\b", re.I)
_SPARED = re.compile(
    r"(?P<who>i|we|you|they|[\w -]{3,40}?) (?P<not>do not|don't|would not|wouldn't|"
    r"should not|shouldn't|must not|mustn't)"
    r" (?:have|need) to (?P<doing>[a-z].+)$",
    re.I,
)
_MUST_NOT = re.compile(r"(?:should|must)", re.I)
_TOILS = re.compile(
    r"(?:i|we|they|you) (?:still |then |now |currently |just )*(?:always (?:have|"
    r"had) to (?P<always>[a-z].+)|"
    r"(?:always )?(?:have|has|had|need) to (?P<doing>[a-z].+"
    r"\b(?:by hand|manually|again|twice|(?:two|three|four|five) times|all over)\b.*))$",
    re.I,
)
""" "Every time I have to type it in by hand": what somebody would be rid of."""
_KEEP_FROM = re.compile(
    rf"^{SPEAKERS} (?:really |just )?(?:do not|don't|would not|"
    rf"wouldn't) want (?P<who>(?:anyone|anybody|people|"
    r"everyone|everybody|others|the [\w-]+|our [\w-]+|"
    r"other [\w-]+)(?: else)?) to (?P<doing>[a-z].+)$"
    r"|^it (?:must not|mustn't|should not|shouldn't|may not|cannot|can't) be possible"
    r"(?: for (?P<for>[\w -]{3,30}?))? to (?P<undone>[a-z].+)$",
    re.I,
)
_IGNORANT = re.compile(
    rf"^(?:{SPEAKERS}|nobody|no one)(?: just| really| often| actually| always|"
    rf" simply)* (?:(?:never|don't|do not|can't|cannot|"
    r"couldn't)(?: really| actually| even| ever| always)* )?(?P<verb>know|see|tell|find out|"
    r"knows|sees)"
    r" (?P<what>(?:who|which|what|where|when|how|if|whether)\b.+)$",
    re.I,
)
""" "I never know which van is where": what somebody would like to know."""
_CONTRACTED = (
    (
        re.compile(
            r"^(?P<who>we|you|they)'re (?=(?:not )?(?:allowed|permitted|supposed|able) to )", re.I
        ),
        r"\g<who> are ",
    ),
    (re.compile(r"^(?P<who>i|we|you|they)(?:'ve| have) got to ", re.I), r"\g<who> have to "),
    (re.compile(r"^(?P<who>he|she|it)(?:'s| has) got to ", re.I), r"\g<who> has to "),
    (
        re.compile(
            rf"^(?P<who>{SPEAKERS}|it)'d (?=[a-z]+ )(?!(?:also |really |just |still |"
            rf"rather )*(?:like|love|want|prefer|"
            r"rather|better|have|need|be|appreciate|say|think)\b)",
            re.I,
        ),
        r"\g<who> would ",
    ),
)
_NO_NEED = re.compile(r"^there(?:'s| is) no need (?P<how>for|to) (?P<what>[a-z].+)$", re.I)
_THAT = re.compile(r"^that (?=(?:i|we|you|he|she|it|they|the|an?|every|each|nobody|everybody) )")
_WITHOUT_YOU = re.compile(
    r",? without (?:calling|asking|phoning|bothering|contacting|emailing) you$", re.I
)
"""Work that somebody wants to be spared: "it would be good if I don't have to type it twice"."""
_SPLICED = re.compile(
    r",\s+(?:(?:the|our|my|your|an?|these|those) [\w-]+|it|they|we|i|you|there|he|she)(?: also)?"
    r"(?:'s|'re|'m| is| are| was| were| has| have| do| does| don't| doesn't| can| will)\b",
    re.I,
)
_OBLIGES = re.compile(r"must|should|shall|has to|have to|needs? to", re.I)
MOST_OWN_WORDS = 25
_IN_PASSING = re.compile(
    r"(?<!\bnot )(?<!n't )\b(?:exactly|really|actually|definitely|certainly|obviously|"
    r"honestly|basically|totally|"
    r"absolutely|literally|probably) (?=\w)",
    re.I,
)
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|we|us|our)\b", re.I)
_SECOND_PERSON = re.compile(r"\byou(?:r|rs)?\b", re.I)


def built_clause(said: Said) -> Built | None:
    text, ensured = _matter(said.text)
    if not text:
        return None
    text, place = without_fronted(text)
    said = replace(said, before=place) if things_named(place) else said
    text, first = condition_first(text)
    if first:
        text, _ = without_matrix(opened(text))
        said = replace(said, before=first) if things_named(first) else said
    text = without_reason(text)
    text, last = condition_last(text)
    text = POLITE_END.sub("", text.rstrip(" .!?,;:…")).rstrip(" .!?,;:")
    text = _WITHOUT_YOU.sub("", text)
    freed = _freed(text, first, last, supposed=text != said.text)
    if freed:
        return _finished(freed, said)
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


def _matter(said: str) -> tuple[str, bool]:
    """What is said without what leads up to it, and whether it is to be ensured."""
    whole = said
    for short, in_full in _CONTRACTED:
        whole = short.sub(in_full, whole)
    text, ensured = without_matrix(_WHAT_I_WANT.sub("i want ", whole))
    if re.search(r"\b(?:if|when)[\s,]*$", whole[: len(whole) - len(text)], re.I):
        text = _as_wished(text)
    return _THAT.sub("", text), ensured


def _freed(text: str, first: str, last: str, *, supposed: bool) -> Built | None:
    """What somebody is to be spared, kept from, or told at last."""
    when = ", ".join(filter(None, (first, last)))
    kept = _KEEP_FROM.match(text)
    if kept:
        who = kept["who"] or kept["for"] or "everybody"
        doing = verb_phrase(kept["doing"] or kept["undone"])
        named = re.sub(r"^(?:anyone|anybody|everyone)\b", "everybody", lower_first(who))
        return (
            Built(f"prevent {named} from {gerund_phrase(doing)}", condition=when) if doing else None
        )
    ignorant = _IGNORANT.match(text)
    if ignorant and re.search(
        r"\b(?:never|not|nobody|no one|cannot)\b|n't", text[: ignorant.start("verb")], re.I
    ):
        seen = ignorant["verb"].lower().startswith("see")
        return Built(
            f"{'see' if seen else 'know'} {ignorant['what']}", subject="the user", condition=when
        )
    needless = _NO_NEED.match(text)
    if needless:
        does_not = "have to" if needless["how"].lower() == "to" else "need"
        return Built(f"ensure that the user does not {does_not} {needless['what']}", condition=when)
    spared = _SPARED.match(text)
    toil = _TOILS.match(text) if not when or re.match(r"every|each", when, re.I) else None
    found = spared if spared and (supposed or _MUST_NOT.match(spared["not"])) else toil
    told = (found["doing"] or found.groupdict().get("always") or "") if found else ""
    doing = verb_phrase(told)
    if not found or not doing:
        return None
    who = lower_first(spared["who"]) if spared else "they"
    named = "the user" if re.fullmatch(SPEAKERS, who, re.I) else who
    does = "do" if is_plural(named) else "does"
    return Built(f"ensure that {named} {does} not have to {doing}", condition=when)


def _as_wished(text: str) -> str:
    """ "It would be good if the list was sorted": as it should be."""
    spoken = text.split()
    for at in range(1, min(6, len(spoken))):
        who, verb = " ".join(spoken[:at]), spoken[at].lower()
        done = "be" if verb in {"was", "were"} else base_form(verb)
        past = done not in {None, verb} and not verb.endswith(("s", "ing"))
        if (past or done == "be") and (
            re.fullmatch(SPEAKERS + "|it", who, re.I) or is_noun_phrase(who)
        ):
            return " ".join([who, "should", str(done), *spoken[at + 1 :]])
    return text


def in_own_words(text: str, *, accepted: bool) -> Built | None:
    """A rule as it was said, where it cannot be turned into an order: "ensure that …"."""
    rule = POLITE_END.sub("", without_matrix(text)[0].rstrip(" .!?,;:…")).rstrip(" .!?,;:")
    if len(rule.split()) > MOST_OWN_WORDS:
        return None
    found = MODAL_AT.match(rule)
    if found is None:
        return _stated(rule) if accepted else None
    if not _RULES.fullmatch(found["modal"]):
        return None
    if _NEGATED_MATRIX.search(rule) or _SPLICED.search(rule):
        return None
    named = re.fullmatch(SPEAKERS, found["who"], re.I) or is_noun_phrase(found["who"])
    if not named or _NO_SUBJECT.search(found["who"]):
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


_NO_SUBJECT = re.compile(r"'(?:d|ll)\b|^(?:provided|as long as|only if)\b", re.I)
_IS = re.compile(r"^(?P<who>.{3,60}?) (?:is|are) (?P<rest>.+)$", re.I)


def _stated(rule: str) -> Built | None:
    """ "Payment is by card": what something is to be, without a modal verb."""
    found = _IS.match(rule)
    if found is None or not is_noun_phrase(found["who"]) or is_person(found["who"]):
        return None
    if _FIRST_PERSON.search(rule) or _SECOND_PERSON.search(rule) or _SPLICED.search(rule):
        return None
    return Built(f"Ensure that {neutral(lower_first(rule), of_person=False)}")


def _told(doing: str, who: str) -> str:
    """What is to be as if it were so already: "be open" as "is open"."""
    doing, many = without_adverbs(doing), is_plural(who)
    if re.match(r"be\b", doing):
        return f"{'are' if many else 'is'}{doing[2:]}"
    return doing if many else conjugated(doing)


def _finished(built: Built, said: Said) -> Built | None:
    """In neutral words, with what "it" stands for where that is certain."""
    by_system = not built.subject or is_system(built.subject)
    action = _IN_PASSING.sub("", POLITE_END.sub("", plain(built.action)))
    action = neutral(action, of_person=not by_system)
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
    nobody, only_who, there_is, possible_to, do_you_want, would_help, wish_somebody, wish_to,
    of_modal, wish_thing, asked, ordered, present, named_alone,
)  # fmt: skip
