"""Flaws within a single requirement: verb, actor, breadth, whether it can be tested.

What counts as one is listed in ``words.yaml``, which is read once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from pipelines.requirements.labels import Flaw, Requirement, field_text
from pipelines.requirements.text import base

WORDS = Path(__file__).parent / "words.yaml"
MANY_VERBS = 3
_FIGURE = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten)\b", re.I)
_JOINED = re.compile(r"(?:(?<!\s)\s+)?(?:,|;|\band\b|\bor\b|\bas well as\b)\s*", re.I)
_NO_LETTER = re.compile(r"[^\w]+")
_HEAD = re.compile(
    r"\s*+(?:(?:[\w'-]+ ){1,5}?(?:should|must|shall|needs? to|has to|have to)\s++)?"
    r"(?:be able to\s++)?",
    re.I,
)
"""What stands before the verb of an action that is a whole sentence."""


def ambiguous_verbs(requirement: Requirement) -> Iterator[Flaw]:
    """The verb that begins the action; further in, it only adds to a clear one."""
    action = field_text(requirement, "action")
    for verb, question in _verbs().items():
        if match := verb.match(action, _start(action)):
            said = f"“{match[1]}” may mean several things"
            yield Flaw("ambiguous_verb", "action", match.span(1), said, f"Say {question}")


def _start(action: str) -> int:
    """Where its verb is, if it tells what to do."""
    head = _HEAD.match(action)
    return head.end() if head else 0


def missing_actor(requirement: Requirement) -> Iterator[Flaw]:
    actor = field_text(requirement, "actor").strip()
    if _no_actor().fullmatch(actor) or pattern("filler").search(actor):
        said = f"“{actor}” names nobody" if actor else "Nobody is named who acts"
        yield Flaw("missing_actor", "actor", None, said, "Name one person's role, or the system")


def too_broad(requirement: Requirement) -> Iterator[Flaw]:
    """No limit is set, or several requirements are put into one.

    What only describes sets no limit either, but need not: "the warehouse that has everything".
    """
    action = field_text(requirement, "action")
    if unlimited := pattern("too_broad").search(main_clause(action)):
        said, place = f"“{unlimited[0]}” sets no limit", unlimited.span()
        yield Flaw("too_broad", "action", place, said, "List what is meant")
    elif verbs := _several(action[_start(action) :]):
        said = f"It asks for several things at once: {', '.join(verbs)}"
        yield Flaw("too_broad", "action", None, said, "Make a requirement of each")


def untestable(requirement: Requirement) -> Iterator[Flaw]:
    """A word without a measure in the action or a criterion, the first of each: one remark tells
    what to do about all of them. That criteria are missing is asked once, in the document."""
    for field in ("action", "acceptance_criteria"):
        at = 0
        for line in field_text(requirement, field).split("\n"):
            vague = pattern("untestable").search(line)
            if vague and not has_figure(line):
                place = (at + vague.start(), at + vague.end())
                said = f"No test can tell whether “{vague[0]}” is met"
                yield Flaw("untestable", field, place, said, "Give a number, a limit or an example")
                break
            at += len(line) + 1


def has_figure(line: str) -> bool:
    return bool(_FIGURE.search(line))


def main_clause(text: str) -> str:
    """The text before a clause that only describes: "Show those who could not come"."""
    clause = pattern("clauses").search(text)
    return text[: clause.start()] if clause else text


def _parts(text: str) -> list[list[str]]:
    """The words of each part of an enumeration."""
    return [part.lower().split() for part in _JOINED.split(text) if part.split()]


def _several(action: str) -> list[str]:
    """The verbs of an enumeration ("send, print and archive …"), or of two with their objects.

    Examples
    --------
    >>> _several("Print the invoice and call the driver")
    ['print', 'call']
    >>> _several("Take a photo and send it"), _several("Search and filter flats")
    ([], [])
    """
    firsts = [_NO_LETTER.sub("", part[0]) for part in _parts(action)]
    verbs = [word for word in firsts if base(word) == word]
    if len(verbs) >= MANY_VERBS:
        return verbs
    clause = main_clause(action)
    have_objects = all(
        len(part) > 1 and not pattern("pointing").match(" ".join(part[1:]))
        for part in _parts(clause)
    )
    verbs = actions_in(clause) if have_objects else []
    return verbs if len(verbs) > 1 else []


def actions_in(action: str) -> list[str]:
    """The verbs of an action that asks for several, as far as they are verbs beyond doubt.

    A word that may also be a noun ("map", "order") counts where what follows shows that it is a
    verb, or where the first verb stands alone before it.

    Examples
    --------
    >>> actions_in("Search and filter apartments"), actions_in("See prices and book a table")
    (['search', 'filter'], ['see', 'book'])
    >>> actions_in("Show the list and map")
    ['show']
    """
    parts = _parts(action)
    verbs = []
    for words in parts:
        verb = _NO_LETTER.sub("", words[0])
        is_sure = (
            words is parts[0]
            or len(parts[0]) == 1
            or pattern("orders").fullmatch(verb)
            or pattern("determiners").fullmatch(" ".join(words[1:2]))
        )
        if is_sure and base(verb) == verb and verb not in verbs:
            verbs.append(verb)
    return verbs


@cache
def _verbs() -> dict[re.Pattern[str], str]:
    return {
        re.compile(rf"({verb})(?!\w)", re.I): question
        for verb, question in _words()["ambiguous_verbs"].items()
    }


@cache
def _no_actor() -> re.Pattern[str]:
    return re.compile("|".join(_words()["no_actor"]), re.I)


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Any of the words of a list, as whole words."""
    return re.compile(rf"(?<![\w-])(?:{'|'.join(_words()[name])})(?![\w-])", re.I)


@cache
def _words() -> Any:
    # The base loader keeps every word a string: "no" is a word here, not a boolean.
    with WORDS.open(encoding="utf-8") as lines:
        return yaml.load(lines, Loader=yaml.CBaseLoader)  # noqa: S506 - strings only
