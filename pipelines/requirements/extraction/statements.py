"""Rules, orders, bans and questions with a subject of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.requirements.extraction.built import ADVERB, MODAL_AT, SPEAKERS, Built, Said
from pipelines.requirements.extraction.nounphrases import (
    is_pronoun,
    named_phrase,
)
from pipelines.requirements.extraction.phrases import (
    base_form,
    grammar,
    is_noun_phrase,
    is_participle,
    is_person,
    is_plural,
    is_system,
    is_verb,
)
from pipelines.requirements.extraction.speech import opened
from pipelines.requirements.extraction.subjects import of_subject, only_for
from pipelines.requirements.extraction.verbphrases import (
    all_base,
    finite_verb,
    gerund_phrase,
    verb_phrase,
)
from pipelines.requirements.lexicon import words
from pipelines.requirements.text import lower_first

_NEGATIVE_MODAL = re.compile(r"n't|cannot|\bnot\b|\bnever\b", re.I)
_ASK_MODAL = re.compile(
    r"^(?P<modal>can|could|may|shall|should|must|will|would|does|do|is|are) (?P<rest>.+)$", re.I
)
_LET = re.compile(
    r"^(?:please )?(?:let|allow|enable|permit) (?P<who>us|me|them|"
    r".{3,40}?) (?:to )?(?P<rest>(?:[a-z]+)\b.+)$",
    re.I,
)
_DONT = re.compile(r"^(?:please )?(?:do not|don't|never|no longer) (?P<rest>.+)$", re.I)


_ALTERNATIVE = re.compile(r",? or (?:(?:also|only|just|instead|keep|both)\b|[\w-]+\??$)", re.I)


_NOBODY = re.compile(
    r"^(?:nobody|no one|no-one|none of (?P<of>.{3,30}?))(?: else)?(?: (?:but|except(?: for)?|"
    r"other than|apart from|besides) (?P<but>.{2,50}?))?"
    r" (?:can|may|should|must|shall|will|is allowed to|gets? to|could|has to)(?: be able to|"
    r" be allowed to| ever)? (?P<rest>.+)$",
    re.I,
)


def nobody(text: str, said: Said) -> Built | None:
    found = _NOBODY.match(text)
    if found is None:
        return None
    doing = verb_phrase(found["rest"])
    if not doing or found["of"]:
        return None
    if found["but"]:
        who = named_phrase(found["but"])
        return only_for(who, doing) if who else None
    if " else " in text.lower()[:14] or re.match(r"no ?-?one else|nobody else", text, re.I):
        return None
    return Built(f"prevent everybody from {gerund_phrase(doing)}", negative=True)


def asked(text: str, said: Said) -> Built | None:
    """ "Should the customer see the price": the subject ends before the verb."""
    found = _ASK_MODAL.match(text)
    if found is None or (_ALTERNATIVE.search(text) and not re.search(r"\bwhether\b", text)):
        return None
    spoken = found["rest"].split()
    options: list[tuple[int, str, str]] = []
    for at in range(1, min(9, len(spoken))):
        who, rest = " ".join(spoken[:at]), " ".join(spoken[at:])
        if not (is_pronoun(who) or is_noun_phrase(who)):
            continue
        doing = re.sub(
            rf"^{ADVERB}(?:not |only |always |never |[a-z]+ly )*", "", rest, flags=re.I
        ).split()
        if doing and (is_verb(doing[0]) or doing[0].lower() == "be") and doing[0].islower():
            acts = is_pronoun(who) or is_system(who) or is_person(who)
            options.append((3 if acts and _fits(doing) else _fits(doing), who, rest))
    if not options:
        return None
    _, who, rest = max(options, key=lambda option: option[0])
    modal = found["modal"].lower()
    if modal in {"do", "does"}:
        return _present_of(who, rest, said)
    if modal in {"is", "are"}:
        return None
    return of_subject(who, rest, said, modal=modal)


def _fits(verb: list[str]) -> int:
    """How well what follows goes with a verb."""
    if verb[0].lower() == "be":
        return 3
    after = verb[1].lower() if len(verb) > 1 else ""
    numbers = grammar("many") - {"data", "people", "children", "staff", "men", "women"}
    if after in words("determiners") | words("prepositions") | numbers or after.isdigit():
        return 2
    return 1 if after and not is_verb(after) else 0


_WISHES = re.compile(r"(?:need|want|prefer|like|love|appreciate|wish)\b", re.I)


def of_modal(text: str, said: Said) -> Built | None:
    """ "The driver must scan the parcel"."""
    for found in _modals(text):
        if _WISHES.match(found["rest"]) and found["modal"].lower() in {"would", "could", "might"}:
            return None
        who = opened(found["who"]).strip(" ,")
        who = (
            re.sub(rf"\s+{ADVERB.rstrip('*')}$".replace(r"\s+)", r"\s*)"), "", f"{who} ").strip()
            or who
        )
        if not (is_pronoun(who) or is_noun_phrase(who)):
            continue
        negative = bool(_NEGATIVE_MODAL.search(found["modal"]) or found["not"])
        rest = found["rest"]
        if re.match(r"(?:not|never)\s", rest, re.I):
            negative, rest = True, rest.split(" ", 1)[1]
        only = "only " if re.match(r"only ", found["modal"], re.I) else ""
        return of_subject(
            who, only + rest, said, modal=_plain_modal(found["modal"]), negative=negative
        )
    return None


def _modals(text: str) -> Iterator[re.Match[str]]:
    found = MODAL_AT.match(text)
    if found:
        yield found


def _plain_modal(modal: str) -> str:
    low = modal.lower()
    return (
        "can"
        if re.search(r"\b(?:can|could|may|might|able|allowed|permitted|gets? to)|cannot", low)
        else "must"
    )


def present(text: str, said: Said) -> Built | None:
    """ "The driver scans the parcel", "orders are stored for ten years"."""
    spoken = text.split()
    for at in range(1, min(8, len(spoken))):
        who, rest = " ".join(spoken[:at]), " ".join(spoken[at:])
        if spoken[at].endswith(",") or who.endswith(","):
            return None
        if not (is_pronoun(who) or is_noun_phrase(who)) or who.lower().split()[-1] in words(
            "prepositions"
        ):
            continue
        passive = re.match(
            r"(?:is|are|gets?)(?P<adv> (?:also|then|always|only|automatically|never|"
            r"not))* (?P<verb>[a-z]+)\b",
            rest,
            re.I,
        )
        if passive and passive["verb"].lower() in grammar("mishaps"):
            return None
        if passive and is_participle(passive["verb"]):
            return of_subject(
                who,
                "be" + rest[len(rest.split()[0]) :],
                said,
                modal="must",
                negative=bool(re.search(r"\b(?:not|never)\b", passive[0])),
            )
        passing = spoken[at].endswith("ly") or spoken[at].lower() in {"now", "also", "then"}
        adverb = spoken[at : at + 1] if passing else []
        verb = finite_verb(who, spoken[at + len(adverb) :])
        if verb:
            rest = " ".join([*adverb, verb, *spoken[at + len(adverb) + 1 :]])
            return _present_of(who, rest, said)
    return None


def _present_of(who: str, rest: str, said: Said) -> Built | None:
    if re.match(
        r"(?:have|own|employ|be|know|think|hope|feel|like|love|hate|mean|forget|lose|live|come|"
        r"go)\b",
        rest,
    ) and re.fullmatch(SPEAKERS, who, re.I):
        return None  # tells how things are
    return of_subject(who, all_base(rest), said, modal="present")


def ordered(text: str, said: Said) -> Built | None:
    """ "Send me the list", "please let us export it", "don't send more than one"."""
    refused = _DONT.match(text)
    if refused:
        phrase = verb_phrase(refused["rest"])
        return Built(f"never {phrase}", negative=True) if phrase else None
    let = _LET.match(text)
    if let and not re.match(
        r"(?:me|us) (?:know|explain|think|see if|check|tell|say|add|give|clarify|start|show you)\b",
        text[4:],
        re.I,
    ):
        who = let["who"]
        if (re.fullmatch(r"us|me|them", who, re.I) or named_phrase(who)) and is_verb(
            let["rest"].split()[0]
        ):
            return of_subject(
                {"us": "we", "me": "i", "them": "they"}.get(who.lower(), who), let["rest"], said
            )
    spoken = text.split()
    if len(spoken) < 2 or not is_verb(spoken[0]) or _reads_as_noun(spoken):
        return None
    return Built(verb_phrase(text))


def _reads_as_noun(spoken: list[str]) -> bool:
    """ "Text messages are …", "order number": a word that may be a verb, but names something."""
    after = spoken[1].lower().strip(",.")
    goes_on = after in words("determiners") | words("prepositions") | {
        "me",
        "us",
        "it",
        "them",
        "only",
        "all",
        "more",
        "up",
        "out",
    }
    if any(word.lower() in words("auxiliaries") for word in spoken[1:5]) and not re.search(
        r"\b(?:that|which|who|if|when|what|how)\b", " ".join(spoken[1:5])
    ):
        return True
    return (
        not goes_on
        and spoken[0].lower() not in grammar("orders")
        and not after.isdigit()
        and not after.endswith("s")
    )


def ensured_statement(text: str, said: Said) -> Built | None:
    """ "Make sure that the caretaker gets a message": the statement as it is."""
    if re.match(r"to\s+[a-z]", text):
        return Built(verb_phrase(text[3:]))
    found = MODAL_AT.match(text)
    if found:
        return of_modal(text, said)
    spoken = text.split()
    for at in range(1, min(8, len(spoken))):
        who, verb = " ".join(spoken[:at]), spoken[at].lower()
        if (
            is_noun_phrase(who)
            and (verb in {"is", "are", "has", "have", "does", "do"} or base_form(verb))
            and not verb.endswith("ing")
        ):
            if verb in words("prepositions") or (base_form(verb) == verb and not is_plural(who)):
                continue
            return Built(f"ensure that {lower_first(text)}")
    return None
