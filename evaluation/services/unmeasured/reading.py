"""Conversations out of files or a pasted text, for a trial: by the reader that imports use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

from evaluation.services.unmeasured.launching import MOST_CONVERSATIONS, MOST_MESSAGES
from evaluation.services.unmeasured.predicting import TrialRefused
from labeling.conversations.formats import conversations
from labeling.conversations.formats.talks import HowToRead
from labeling.conversations.rules.importing import Problem, Record
from labeling.domain.facts import Fact

MOST_BYTES = 20 * 1024 * 1024
SHOWN_PROBLEMS = 5


def records_of(
    files: Iterable[tuple[str, BinaryIO]], *, format: str, how: HowToRead
) -> list[Record]:
    """All of them, or why they cannot be read. No more is read than a trial takes."""
    records: list[Record] = []
    problems: list[Fact] = []
    for name, stream in files:
        for entry in conversations.read(stream, format=format, name=name, how=how):
            if isinstance(entry, Problem):
                problems.append(_problem(name, entry))
            else:
                records.append(entry[1])
            if len(problems) == SHOWN_PROBLEMS:
                raise TrialRefused("trial.unreadable", problems=problems)
            if len(records) > MOST_CONVERSATIONS:
                raise TrialRefused(
                    "trial.too_large", conversations=MOST_CONVERSATIONS, messages=MOST_MESSAGES
                )
    if problems:
        raise TrialRefused("trial.unreadable", problems=problems)
    return records


def _problem(name: str, problem: Problem) -> Fact:
    place = f"{name}:{problem.line}" if problem.line else name
    return Fact("import.note", place=place, why=problem.reason)
