"""A verb with what belongs to it, and the forms that it takes."""

from __future__ import annotations

import re

from pipelines.requirements.extraction.built import ABLE, ADVERB, POLITE_END
from pipelines.requirements.extraction.phrases import (
    base_form,
    gerund,
    is_plural,
    is_verb,
    third_person,
)
from pipelines.requirements.lexicon import words
from pipelines.requirements.text import lower_first


def finite_verb(who: str, spoken: list[str]) -> str | None:
    """The base of the verb that goes with this subject, if one comes next."""
    if len(spoken) < 2 or spoken[1].lower() in {"is", "are", "was", "were", "has", "have"}:
        return None
    word = re.sub(r"[,.]$", "", spoken[0]).lower()
    verb = base_form(word)
    if verb is None or word.endswith(("ing", "ed")) or word in words("prepositions"):
        return None
    plural = is_plural(who) or who.lower() in {"i", "we", "you", "they"}
    return verb if word == (verb if plural else third_person(verb)) else None


def all_base(phrase: str) -> str:
    """ "scan the form and attaches it" with every verb in its base form."""

    def plainly(found: re.Match[str]) -> str:
        verb = base_form(found["verb"])
        return (
            f"{found['and']}{verb}"
            if verb and third_person(verb) == found["verb"].lower()
            else found[0]
        )

    return re.sub(
        r"(?P<and>(?:\b(?:and|or|then)|,)\s(?:then |also )?)(?P<verb>[a-z]+s)(?= (?:the|a|an|it|"
        r"them|this|that|their|his|her|all|each|every|what|which|who|how|where|when|whether|if|in|on|to|for|at|from|into|with|by)\b)",
        plainly,
        phrase,
    )


def without_adverbs(rest: str) -> str:
    rest = re.sub(rf"^{ADVERB}", "", rest.strip(), flags=re.I)
    rest = re.sub(rf"^{ABLE} ", "", rest, flags=re.I)
    rest = re.sub(r"^only be\b", "be only", rest, flags=re.I)
    return re.sub(rf"^{ADVERB}", "", rest, flags=re.I)


def conjugated(phrase: str) -> str:
    spoken = phrase.split()
    at = next(
        (at for at, word in enumerate(spoken) if is_verb(word)),
        0,
    )
    spoken[at] = third_person(spoken[at])
    return " ".join(spoken)


def verb_phrase(text: str) -> str:
    """A verb with what belongs to it, or nothing."""
    text = POLITE_END.sub("", without_adverbs(text)).strip(" ,.;:!?")
    text = re.sub(
        r"^(?:go and|go ahead and|be able to|have to|try to|start to|help (?:me|us|"
        r"them) (?:to )?|come and) ",
        "",
        text,
        flags=re.I,
    )
    only = re.match(
        r"(?P<only>only|always|never|[a-z]+ly) (?P<verb>[a-z-]+)\b(?P<rest>.*)$",
        text,
        re.I,
    )
    if only and is_verb(only["verb"]):
        verb = only["verb"].lower()
        if only["only"].lower() == "only":
            return f"{verb} only{only['rest']}" if only["rest"] else ""
        if only["only"].lower() in {"automatically", "always", "never", "manually"}:
            return f"{only['only'].lower()} {verb}{only['rest']}"
        return f"{verb}{only['rest']} {only['only'].lower()}"
    spoken = text.split()
    if not spoken or not is_verb(spoken[0]):
        return ""
    return lower_first(re.sub(r"^(\S+) also\b", r"\1", text))


def gerund_phrase(phrase: str) -> str:
    spoken = phrase.split()
    at = 1 if spoken[0] in {"always", "automatically", "never", "manually"} else 0
    spoken[at] = gerund(spoken[at])
    text = " ".join(spoken)
    return re.sub(
        r"\b(and|or) ([a-z]+)\b(?= (?:the|a|an|it|them|their|all|any)\b)",
        lambda found: f"{found[1]} {gerund(found[2])}" if is_verb(found[2]) else found[0],
        text,
    )
