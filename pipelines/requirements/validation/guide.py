"""What a guide asks of the wording of a requirement, as notes to who is writing it.

They come from the detectors of validation. Where validation reports a flaw of a finished
requirement, these also look at what only a writer wants to know: a title that is a sentence, two
actors, the same criterion twice. A note that is wrong costs more than one that is missing, so each
rule looks for what is clear and passes over what may be right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipelines.requirements.labels import Requirement, field_text, name_of
from pipelines.requirements.text import base
from pipelines.requirements.validation import wording

KINDS = (
    "noun_phrase",
    "one_actor",
    "modal",
    "vague",
    "two_actions",
    "untestable",
    "repeated",
    "unsure",
)
UNSURE_BELOW = 0.7
UNMEASURED = {"action": "vague", "acceptance_criteria": "untestable"}
LONGEST_GENERIC = 12
"""Letters of a title of one word that names a topic; longer ones may be compounds."""

_WORD = re.compile(r"[\w'’-]+")
_ACTORS = re.compile(r"\s*(?:,|;|/|\+|&|\band\b|\bor\b)\s*", re.I)
_IDLE = re.compile(r"[\W_]+")


class Note(NamedTuple):
    """One thing that the guide asks otherwise; ``words`` are those it is about."""

    label: str
    field: str
    kind: str
    words: str


def notes(requirements: Sequence[Requirement]) -> list[Note]:
    """For the labels of one answer, in their order; of a kind at most one at a field."""
    repeats = _repeats(requirements)
    seen: dict[tuple[str, str, str], Note] = {}
    for place, requirement in enumerate(requirements):
        label = name_of(requirement)
        for field, kind, words in (*_of(requirement), *repeats[place]):
            seen.setdefault((label, field, kind), Note(label, field, kind, words))
    return list(seen.values())


_Remark = tuple[str, str, str]  # field, kind, words


def _of(requirement: Requirement) -> Iterator[_Remark]:
    title = field_text(requirement, "title").strip()
    if title and not is_noun_phrase(title):
        yield "title", "noun_phrase", title
    actor = field_text(requirement, "actor").strip()
    if actor and (has_several_actors(actor) or any(wording.missing_actor(requirement))):
        yield "actor", "one_actor", actor
    action = field_text(requirement, "action")
    modal = wording.pattern("modals").search(wording.main_clause(action))
    if modal:
        yield "action", "modal", modal[0]
    yield from _vague(requirement)
    verbs = wording.actions_in(wording.main_clause(action))
    if len(verbs) > 1:
        yield "action", "two_actions", ", ".join(verbs)
    confidence = requirement.get("confidence")
    is_unsure = confidence is not None and confidence < UNSURE_BELOW
    if is_unsure and not field_text(requirement, "rationale").strip():
        yield "confidence", "unsure", f"{confidence:g}"


def _vague(requirement: Requirement) -> Iterator[_Remark]:
    """What validation says of the words themselves; that something is missing a form says."""
    for rule in (wording.ambiguous_verbs, wording.too_broad, wording.untestable):
        for flaw in rule(requirement):
            if flaw.place:
                words = field_text(requirement, flaw.field)[slice(*flaw.place)]
                yield flaw.field, UNMEASURED[flaw.field], words
    for field, kind in UNMEASURED.items():
        for line in field_text(requirement, field).split("\n"):
            word = wording.pattern("unmeasured").search(line)
            if word and not wording.has_figure(line) and not wording.pattern("rated").search(line):
                yield field, kind, word[0]


def is_noun_phrase(title: str) -> bool:
    """Whether nothing in a title shows that it is a sentence, an order or a mere topic.

    Examples
    --------
    >>> is_noun_phrase("User Authentication"), is_noun_phrase("Export options")
    (True, True)
    >>> is_noun_phrase("Users"), is_noun_phrase("Send a reminder")
    (False, False)
    >>> is_noun_phrase("The system should be fast"), is_noun_phrase("Export the list")
    (False, False)
    """
    words = [word.lower() for word in _WORD.findall(wording.main_clause(title))]
    if not words:
        return True
    if title.endswith((".", "!", "?")) and not title.endswith("etc."):
        return False
    if len(words) == 1:
        return not _is_topic(words[0])
    first, second = words[:2]
    follows = wording.pattern("determiners").fullmatch(second)
    if wording.pattern("orders").fullmatch(first) or (base(first) == first and follows):
        return False
    return not wording.pattern("finite").search(wording.main_clause(title))


def _is_topic(word: str) -> bool:
    """A plural or a quality alone names what it is about, and not what is wanted."""
    if not word.isascii() or len(word) > LONGEST_GENERIC:
        return False
    return bool(re.fullmatch(r"\w{3,}[^s\W]s", word) or wording.pattern("topics").fullmatch(word))


def has_several_actors(actor: str) -> bool:
    """Several people or things, and not one whose name has several parts.

    Examples
    --------
    >>> has_several_actors("User and Admin"), has_several_actors("Food and Beverage Manager")
    (True, False)
    """
    parts = [part.split() for part in _ACTORS.split(actor) if part]
    shares_head = len(parts) == 2 and len(parts[0]) == 1 and len(parts[1]) > 1
    return len(parts) > 1 and not shares_head


def _repeats(requirements: Sequence[Requirement]) -> list[list[_Remark]]:
    """For each label its title and criteria that another has, or that it has twice."""
    remarks: list[list[_Remark]] = [[] for _ in requirements]
    seen: set[tuple[str, str]] = set()
    for place, requirement in enumerate(requirements):
        for field in ("title", "acceptance_criteria"):
            for line in field_text(requirement, field).split("\n"):
                key = field, _IDLE.sub(" ", line).strip().casefold()
                if key[1] and key in seen:
                    remarks[place].append((field, "repeated", line.strip()))
                seen.add(key)
    return remarks
