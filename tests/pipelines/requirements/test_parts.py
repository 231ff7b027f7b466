"""A long conversation by a language model: its parts, and what later parts do to earlier ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from pipelines.parsing import schema_problem
from pipelines.registry import build
from pipelines.requirements.config import PartsConfig
from pipelines.requirements.model.parts import Standing, parts_of
from pipelines.types import Case, Message, Output
from tests.fakes import Scripted


def talk(*texts: str) -> tuple[Message, ...]:
    """Analyst and client by turns; the analyst begins."""
    roles = ("analyst", "user")
    return tuple(Message(at, roles[at % 2], "", text) for at, text in enumerate(texts))


def cut(sizes: Sequence[int], *, most: int = 1000, overlap: int = 2) -> list[tuple[int, int]]:
    """First and last message of each part."""
    messages = talk(*("x" * size for size in sizes))
    config = PartsConfig(part_characters=most, overlap_messages=overlap)
    return [(part[0].index, part[-1].index) for part in parts_of(messages, config)]


@pytest.mark.parametrize(
    ("sizes", "parts"),
    [
        ([], []),
        ([5000], [(0, 0)]),
        ([100] * 10, [(0, 9)]),
        ([100] * 11, [(0, 9), (8, 10)]),
        ([100] * 20, [(0, 9), (8, 17), (16, 19)]),
        ([5000, 5000, 10], [(0, 0), (1, 1), (2, 2)]),
        ([300] * 6, [(0, 2), (2, 4), (4, 5)]),
    ],
)
def test_parts_overlap_and_every_message_is_read(
    sizes: list[int], parts: list[tuple[int, int]]
) -> None:
    assert cut(sizes) == parts
    assert cut([100] * 25, overlap=0) == [(0, 9), (10, 19), (20, 24)]


def added(action: str, *sources: int, how: str = "stated", accepted_in: int | None = None) -> Any:
    return {
        "title": "A wish",
        "type": "functional",
        "actor": "Customer",
        "action": action,
        "condition": None,
        "acceptance_criteria": ["It opens"],
        "priority": "must",
        "rationale": "They said so",
        "confidence": 0.9,
        "source_messages": list(sources),
        "how": how,
        "accepted_in": accepted_in,
    }


def changed(ref: str, change: str, message: int, **values: Any) -> Any:
    nothing = {"title": None, "action": None, "condition": None, "acceptance_criteria": []}
    return {"ref": ref, "change": change, "messages": [message], **nothing, **values}


def scripted(*replies: dict[str, Any]) -> Scripted:
    """A language model that replies to one part after the other."""
    left = list(replies)

    def say(messages: Any, schema: dict[str, Any]) -> Any:
        data = {name: [] for name in schema["properties"]} | left.pop(0)
        assert schema_problem(data, schema) == ""
        return data

    return Scripted(say)


def shown(model: Scripted) -> list[tuple[Any, Any]]:
    """Of each part what stood before it, and its messages."""
    asked = [messages[-1].content for messages in model.asked]
    standing = [text.split("Standing, as a JSON list: ")[1].split("\n")[0] for text in asked]
    said = [text.split("<conversation>")[1].split("</conversation>")[0] for text in asked]
    return list(zip(map(json.loads, standing), map(json.loads, said), strict=True))


def read(model: Scripted, *texts: str) -> Output:
    config = {"part_characters": 1000, "overlap_messages": 1}
    case = Case(case_id="c", domain="d", messages=talk(*texts), task="extraction")
    return build("requirements-model", config, model=model).run(case)


def test_a_talk_that_fits_the_context_is_one_call() -> None:
    texts = ("x" * 300,) * 200  # 20,000 tokens
    model = scripted({})
    case = Case(case_id="c", domain="d", messages=talk(*texts), task="extraction")

    output = build("requirements-model", {}, model=model).run(case)

    assert output["steps"][0]["parts"] == 1
    small = scripted({}, {})
    small.context_tokens = 16_000 + 4_000 + 11_000
    assert build("requirements-model", {}, model=small).run(case)["steps"][0]["parts"] == 2


LONG = ("x" * 300,) * 9  # four parts: 0-2, 2-4, 4-6 and 6-8


def test_a_later_part_repeats_corrects_and_ends_what_stood_before_it() -> None:
    model = scripted(
        {"requirements": [added("Log in", 1), added("Log out", 1), added("Pay", 1)]},
        {"changes": [changed("S1", "repeated", 2), changed("S2", "withdrawn", 2)]},
        {"changes": [changed("S3", "corrected", 5, action="Pay in cash")]},
        {"requirements": [added("Print", 7)], "changes": [changed("S1", "repeated", 7)]},
    )

    output = read(model, *LONG)

    assert [(of["id"], of["action"], of["source_messages"]) for of in output["requirements"]] == [
        ("REQ-001", "Log in", [1, 2, 7]),
        ("REQ-002", "Pay in cash", [1, 5]),
        ("REQ-003", "Print", [7]),
    ]
    (step,) = output["steps"]
    assert step["changes"] == {"repeated": 2, "withdrawn": 1, "corrected": 1}
    assert step["parts"] == 4


def test_each_part_is_shown_what_stands_and_its_own_messages() -> None:
    model = scripted({"requirements": [added("Log in", 1)]}, {}, {}, {})

    read(model, *LONG)

    assert [[row[0] for row in said] for _, said in shown(model)] == [
        *([0, 1, 2], [2, 3, 4], [4, 5, 6], [6, 7, 8]),
    ]
    nothing, (stood,), *_ = (standing for standing, _ in shown(model))
    assert nothing == []
    assert (stood["ref"], stood["action"], stood["source_messages"]) == ("S1", "Log in", [1])


def test_what_is_said_twice_in_an_overlap_is_one_requirement() -> None:
    model = scripted(
        {"requirements": [added("Log in", 1)]}, {"requirements": [added("log  in", 2)]}, {}, {}
    )

    (requirement,) = read(model, *LONG)["requirements"]

    assert requirement["source_messages"] == [1, 2]


@pytest.mark.parametrize(
    ("accepted_in", "sources"), [(1, [0, 1]), (None, None), (0, None)], ids=["yes", "no", "own"]
)
def test_what_an_analyst_proposes_counts_with_the_clients_yes(
    accepted_in: int | None, sources: list[int] | None
) -> None:
    wish = added("Log in", 0, how="proposed", accepted_in=accepted_in)

    output = read(scripted({"requirements": [wish]}), "Log in?", "Yes")

    assert [of["source_messages"] for of in output["requirements"]] == (
        [sources] if sources else []
    )
    assert output["steps"][0]["changes"] == ({} if sources else {"unaccepted": 1})


def test_a_correction_into_what_stands_already_is_one_requirement() -> None:
    model = scripted(
        {"requirements": [added("Pay", 1), added("Pay in cash", 2)]},
        {"changes": [changed("S1", "corrected", 4, action="Pay in cash")]},
        {},
        {},
    )

    output = read(model, *LONG)

    (label,) = output["requirements"]
    assert (label["action"], label["source_messages"]) == ("Pay in cash", [1, 2, 4])


@pytest.mark.parametrize(
    ("asking", "answering"), [("client", "analyst"), ("speaker", "speaker"), ("", "")]
)
def test_a_yes_counts_where_roles_are_swapped_or_say_nothing(asking: str, answering: str) -> None:
    messages = tuple(
        Message(n, role, name, text)
        for pair in range(8)
        for n, role, name, text in (
            (2 * pair, asking, "Ann", "Shall people log in?"),
            (2 * pair + 1, answering, "Ben", "Yes, please."),
        )
    )
    standing = Standing(messages)

    standing.take([added("Log in", 0, how="proposed", accepted_in=1)], [])

    assert list(standing.by_ref) == ["S1"]
