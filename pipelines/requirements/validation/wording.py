"""Flaws that one requirement shows by itself: verb, actor, breadth, whether it can be tested."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from pipelines.requirements.extraction.text import base
from pipelines.requirements.validation.issues import Issue, issue
from pipelines.requirements.validation.words import load, pattern
from pipelines.requirements.wording import Requirement, field_text

MIN_CRITERIA = 2
MANY_VERBS = 3
_FIGURE = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten)\b", re.I)
_JOINED = re.compile(r"\s*(?:,|;|\band\b|\bor\b|\bas well as\b)\s*", re.I)
_NO_LETTER = re.compile(r"[^\w]+")


def ambiguous_verbs(requirement: Requirement) -> Iterator[Issue]:
    """The verb that begins the action; further in, it only adds to a clear one."""
    action = field_text(requirement, "action")
    for verb, question in _verbs().items():
        found = verb.match(action)
        if found:
            yield issue(
                requirement,
                "ambiguous_verb",
                "action",
                message=f"“{found[1]}” may mean several things",
                fix=f"Say {question}",
                place=found.span(1),
            )


def missing_actor(requirement: Requirement) -> Iterator[Issue]:
    actor = field_text(requirement, "actor").strip()
    if _no_actor().fullmatch(actor):
        named = f"“{actor}” names nobody" if actor else "Nobody is named who acts"
        yield issue(
            requirement,
            "missing_actor",
            "actor",
            message=named,
            fix="Name one person's role, or the system",
        )


def too_broad(requirement: Requirement) -> Iterator[Issue]:
    """No limit is set, or several requirements stand in one."""
    action = field_text(requirement, "action")
    found = pattern("too_broad").search(action)
    if found:
        yield issue(
            requirement,
            "too_broad",
            "action",
            message=f"“{found[0]}” sets no limit",
            fix="List what is meant",
            place=found.span(),
        )
    elif len(_verbs_in(action)) >= MANY_VERBS:
        yield issue(
            requirement,
            "too_broad",
            "action",
            message=f"It asks for several things at once: {', '.join(_verbs_in(action))}",
            fix="Make a requirement of each",
        )


def untestable(requirement: Requirement) -> Iterator[Issue]:
    """A word without a measure in the action or a criterion; or too few criteria."""
    for field in ("action", "acceptance_criteria"):
        yield from _unmeasured(requirement, field)
    given = [
        one for one in field_text(requirement, "acceptance_criteria").split("\n") if one.strip()
    ]
    if len(given) < MIN_CRITERIA:
        yield issue(
            requirement,
            "untestable",
            "acceptance_criteria",
            message=f"{len(given)} of at least {MIN_CRITERIA} acceptance criteria are given",
            fix="Add criteria that can be measured",
        )


def _unmeasured(requirement: Requirement, field: str) -> Iterator[Issue]:
    """The first such word of the field: one issue tells what to do about all of them."""
    at = 0
    for line in field_text(requirement, field).split("\n"):
        found = pattern("untestable").search(line)
        if found and not _FIGURE.search(line):
            yield issue(
                requirement,
                "untestable",
                field,
                message=f"No test can tell whether “{found[0]}” is met",
                fix="Give a number, a limit or an example",
                place=(at + found.start(), at + found.end()),
            )
            return
        at += len(line) + 1


def _verbs_in(action: str) -> list[str]:
    """The verbs that begin the parts of an enumeration ("send, print and archive …")."""
    firsts = [part.split()[0].lower() for part in _JOINED.split(action) if part.split()]
    bare = [_NO_LETTER.sub("", word) for word in firsts]
    return [word for word in bare if base(word) == word]


@cache
def _verbs() -> dict[re.Pattern[str], str]:
    found: dict[str, str] = load()["ambiguous_verbs"]
    return {
        re.compile(rf"\s*(?:be able to\s+)?({verb})(?!\w)", re.I): question
        for verb, question in found.items()
    }


@cache
def _no_actor() -> re.Pattern[str]:
    return re.compile("|".join(load()["no_actor"]), re.I)
