"""The graph does what the layer asks for and no more, and says what each node found."""

from dataclasses import replace

import pytest

from pipelines.registry import build
from pipelines.requirements.document.sections import SECTIONS
from pipelines.types import Case, Message

SAID = (
    ("analyst", "What do you need?"),
    ("user", "Customers must be able to log in with their e-mail address and a password."),
    ("user", "The system must support payments by credit card."),
    ("analyst", "How fast?"),
    ("user", "A search must show results within two seconds."),
)
CASE = Case(
    case_id="c1",
    domain="online shop",
    messages=tuple(Message(at, who, who, text) for at, (who, text) in enumerate(SAID)),
)
GIVEN = (
    {"uid": "r1", "id": "REQ-001", "title": "Login", "actor": "it", "action": "Log in by e-mail"},
)


@pytest.fixture(scope="module")
def agent():
    return build("requirements-agent", {})


def nodes(output):
    return [step["node"] for step in output["steps"]]


def test_the_whole_way_ends_with_a_document_and_counts_what_each_node_found(agent):
    output = agent.run(replace(CASE, task="end_to_end"))

    assert nodes(output) == ["extraction", "inference", "validation", "document"]
    assert output["requirements"]
    assert output["model"] is None
    assert len(output["document"]["sections"]) == len(SECTIONS)
    numbers = {requirement["id"] for requirement in output["requirements"]}
    assert {issue["requirement"] for issue in output["issues"]} <= numbers
    assert {
        name
        for requirement in output["inferred_requirements"]
        for name in requirement["triggered_by"]
    } <= numbers
    steps = {step["node"]: step for step in output["steps"]}
    assert steps["extraction"]["found"] == len(output["requirements"])
    assert steps["inference"]["found"] == len(output["inferred_requirements"])
    assert sum(steps["validation"]["kinds"].values()) == len(output["issues"])
    assert steps["document"]["sections"] == len(SECTIONS)


@pytest.mark.parametrize(
    ("task", "given", "way", "key"),
    [
        ("inference", GIVEN, ["inference"], "inferred_requirements"),
        ("validation", GIVEN, ["validation"], "issues"),
        ("inference", None, ["extraction", "inference"], "inferred_requirements"),
        ("validation", None, ["extraction", "validation"], "issues"),
        ("extraction", GIVEN, ["extraction"], ""),
    ],
)
def test_a_node_starts_from_what_is_given_and_what_is_not_is_extracted_first(
    agent, task, given, way, key
):
    output = agent.run(replace(CASE, task=task, requirements=given))

    assert nodes(output) == way
    assert (output["requirements"] == [dict(GIVEN[0])]) is ("extraction" not in way)
    known = {label.get("uid") or label["id"] for label in output["requirements"]}
    found = output.get(key, [])
    assert {one.get("requirement") or one["triggered_by"][0] for one in found} <= known
    assert found or not key


@pytest.mark.parametrize("task", ["extraction", "inference"])
def test_it_goes_on_to_the_document_where_that_is_wanted(task):
    agent = build("requirements-agent", {"whole_way": True})

    output = agent.run(replace(CASE, task=task))

    assert output == agent.run(replace(CASE, task="end_to_end"))


def test_extraction_is_that_of_requirements_local(agent):
    local = build("requirements-local", {})

    output = agent.run(replace(CASE, task="extraction"))

    assert output["requirements"] == local.run(CASE)["requirements"]
