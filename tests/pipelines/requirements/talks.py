"""Conversations in short, and what a pipeline finds in them."""

from typing import Any

from labeling.schema import check_payload
from pipelines.types import Case, Message, Pipeline

Turn = tuple[str, str]
REQUIREMENTS = "requirements"


def case(*turns: Turn) -> Case:
    messages = (Message(at, role, "", text) for at, (role, text) in enumerate(turns))
    return Case(case_id="talk", domain="shop", messages=tuple(messages))


def user(text: str) -> Turn:
    return ("user", text)


def analyst(text: str) -> Turn:
    return ("analyst", text)


def extract(pipeline: Pipeline, *turns: Turn) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pipeline.run(case(*turns))[REQUIREMENTS]
    return found


def likely(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that are rather wanted than not; a pipeline returns what is less likely, too."""
    return [one for one in found if one["wanted"] >= 0.5]


def actions(found: list[dict[str, Any]]) -> list[str]:
    return [one["action"] for one in found]


SAID_OF_LABELS = {"quoted", "wanted"}
"""What a pipeline says of a label, which is no field that people fill in."""


def lacking(found: list[dict[str, Any]], *, message_count: int) -> set[str]:
    """What people would have to add before these labels could be submitted, by code."""
    labels = [
        {"uid": one["id"], **{name: one[name] for name in one if name not in SAID_OF_LABELS}}
        for one in found
    ]
    problems = check_payload(
        {REQUIREMENTS: labels},
        layers=["extraction"],
        message_count=message_count,
        complete=True,
        empty=not found,
    )
    return {problem.fact.code for problem in problems}
