"""From what was said to well-formed actions, a quotation, or nothing with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pipelines.requirements.extraction import quoting, titles
from pipelines.requirements.extraction.building import built_clause, in_own_words
from pipelines.requirements.extraction.built import Built, Said
from pipelines.requirements.extraction.clauses import STRONG, find_cue
from pipelines.requirements.extraction.complaints import only_complains
from pipelines.requirements.extraction.peeling import clauses_of, opened_text
from pipelines.requirements.extraction.pronouns import spoken_of_once
from pipelines.requirements.extraction.speech import clean
from pipelines.requirements.extraction.wellformed import flaw
from pipelines.requirements.text import upper_first

_WHAT_HAPPENS = re.compile(
    r"\bwhat (?:if|(?:happens|should happen|would happen|do you do|do we do|"
    r"then)(?: then)? (?:if|when)) (?P<case>[a-z][^?,]{4,80})\?$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Phrase:
    """An action with its title, or a quotation."""

    action: str
    title: str
    subject: str = ""
    condition: str = ""
    quoted: bool = False
    negative: bool = False
    flaw: str = ""
    """What was wrong with the words that were built, where they are quoted."""


def phrased(said: Said, *, asked_back: bool = False) -> list[Phrase] | quoting.NothingSaid:
    """Every action that the sentence holds; else it is quoted, or says nothing."""
    if quoting.nothing_said(said.text) == "only_yes_or_no":
        return "only_yes_or_no"
    happens = _WHAT_HAPPENS.search(clean(said.question))
    if happens and not re.match(r"(?:if|when|after|then if)\b", said.text, re.I):
        said = replace(said, text=f"if {happens['case']}, {opened_text(said.text)}")
    phrases, left = _of_clauses(said)
    if phrases:
        return [*phrases, *_quoted_rest(left)]
    context = {"question": said.question, "before": said.before}
    nothing = quoting.nothing_said(said.text, **context, asked_back=asked_back)
    if nothing:
        return nothing
    return [quoted(said, left[-1][1] if left else "not_understood")]


def quoted(said: Said, wrong: str) -> Phrase:
    """The sentence word for word, where its words could not be built, or hardly be used."""
    words = quoting.quotation(said.text, question=said.question, before=said.before)
    return _quoted(said.text, words, said.question, wrong)


def _of_clauses(said: Said) -> tuple[list[Phrase], list[tuple[str, str]]]:
    """The clauses that could be built, and the others with what is wrong with them."""
    phrases: list[Phrase] = []
    left: list[tuple[str, str]] = []
    before = clean(said.before)
    for part in clauses_of(opened_text(said.text)):
        built = built_clause(replace(said, text=opened_text(part), before=before))
        wrong = flaw(built.action) if built else "not_understood"
        if (
            wrong
            and (own := in_own_words(part, accepted=said.accepted))
            and flaw(own.action) is None
        ):
            built, wrong = own, None
        if built and wrong is None and only_complains(built, part, said):
            wrong = "not_understood"
        if built and wrong is None:
            phrases.append(_phrase(built))
        else:
            left.append((part, wrong or "not_understood"))
        before = part
    return phrases, left


def _quoted_rest(left: list[tuple[str, str]]) -> Iterator[Phrase]:
    """Of the clauses next to those that were built, the ones that ask for something too."""
    for part, wrong in left:
        cue = find_cue(part)
        wanted = wrong != "not_understood" or (cue is not None and cue.cue.strength >= STRONG)
        if wanted and quoting.nothing_said(part) is None:
            yield _quoted(part, quoting.quotation(part), "", wrong)


def _phrase(built: Built) -> Phrase:
    by_user = built.subject.lower() == "the user"
    action = spoken_of_once(built.action, by_user=by_user)
    named = by_user or "the user" in action.lower()
    return Phrase(
        action=action,
        title=titles.title_of(built.action),
        subject=built.subject,
        condition=upper_first(spoken_of_once(built.condition, by_user=named)),
        negative=built.negative,
    )


def _quoted(text: str, quoted: str, question: str, wrong: str) -> Phrase:
    asked = clean(question) if "” – “" in quoted else ""
    title = titles.title_of_quoted(opened_text(text), asked)
    return Phrase(action=quoted, title=title, quoted=True, flaw=wrong)
