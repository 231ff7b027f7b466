"""Requirements by a language model, as real runs against a real server that misbehaves."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.models import CaseRun, Run
from evaluation.services.run import results
from labeling.models import GoldRelease, Project
from labeling.words import in_english
from tests.evaluation.conftest import requirement, work
from tests.evaluation.requirement_releases import inferred, issue, make_release
from tests.llm_server import LanguageServer

CASES = 4
TEXTS = {key: requirement(1)[key] for key in ("title", "type", "actor", "action", "condition")}
TEXTS |= {"acceptance_criteria": ["It opens", "It closes"], "priority": "must"}
TEXTS |= {"rationale": "Message 0 asks for it", "confidence": 0.8}
REPLIES: dict[str, Any] = {
    "requirements": [TEXTS | {"source_messages": [0], "how": "stated", "accepted_in": None}],
    "inferred_requirements": [
        TEXTS | {"inference_type": "security", "triggered_by": ["R1"], "necessity": "necessary"}
    ],
    "issues": [
        {
            "requirement": "R1",
            "issue_type": "too_broad",
            "severity": "warning",
            "field": "action",
            "words": "Sign in",
            "message": "It says too much",
            "suggested_fix": "Say less",
        }
    ],
}
PROSE = ("title", "overview", "stakeholders", "use_cases", "data_model", "edge_cases")


def reply(body: dict[str, Any]) -> str:
    """What the node wants that asks, known by the schema that it sends."""
    schema = body["response_format"]["json_schema"]["schema"]
    key = next(iter(schema["properties"]))
    if key not in REPLIES:
        return json.dumps(dict.fromkeys(PROSE, "Prose."))
    nothing = {name: [] for name in schema["properties"]}
    return json.dumps(nothing | {key: REPLIES[key]})


def invented(body: dict[str, Any]) -> str:
    """It fits but for a message, a requirement or a field that there is not."""
    wrong = reply(body).replace("[0]", "[7]").replace('"R1"', '"R7"')
    return wrong.replace('"edge_cases"', '"edges"')


@pytest.fixture
def answering(server: LanguageServer) -> LanguageServer:
    server.default = reply
    return server


@pytest.fixture
def whole(project: Project) -> GoldRelease:
    gold = {
        "requirements": [requirement(1)],
        "inferred_requirements": [inferred("Lock")],
        "issues": [issue()],
    }
    return make_release(project, "end_to_end", *[gold] * CASES)


def cases_of(run: Run) -> list[CaseRun]:
    return list(CaseRun.objects.filter(run=run).order_by("pk"))


@pytest.mark.parametrize(
    ("node", "planned", "error_class", "said", "more"),
    [
        ("extraction", ["failing"] * 3, "transient", "failed (500)", 2),
        ("inference", [invented], "", "", 1),
        ("validation", ["truncated"] * 2, "parse", "LLM_MAX_TOKENS", 1),
        ("document", ["refusal"], "permanent", "declined", 0),
    ],
)
def test_a_server_that_misbehaves_costs_the_case_at_most_at_every_node_of_the_agent(
    launch, whole, answering, node, planned, error_class, said, more
):
    """``more``: requests beyond the first."""
    nodes = ("extraction", "inference", "validation", "document")
    before = nodes.index(node)
    answering.plan(*[reply] * before, *planned)

    run = work(
        launch(release=whole, pipeline="requirements-agent", config={"implementation": "model"})
    )

    first, *others = cases_of(run)
    assert run.status == "finished"
    assert first.error_class == error_class
    assert said in (in_english(first.error) if first.error else "")
    assert [other.state for other in others] == ["done"] * (CASES - 1)
    asked = 4 if not error_class else before + 1
    # of the same conversation and labels: the others are answered by the cache
    assert len(answering.requests) <= asked + more + 4 * (CASES - 1)
    good = others[0].output
    assert [step["node"] for step in good["steps"]] == list(nodes)
    assert {step["prompt"] for step in good["steps"]} == {
        "extraction.v4" if node == "extraction" else f"{node}.v1" for node in nodes
    }
    assert all(row.mean is not None or row.reason for row in results.aggregates_of(run))


def test_the_prompts_stand_in_the_run_by_their_hashes(launch, answering):
    asking = launch(pipeline="requirements-model")

    assert set(asking.spec.prompts) == {
        *("extraction.v4", "inference.v1", "validation.v1", "document.v1")
    }
    assert all(len(sha256) == 64 for sha256 in asking.spec.prompts.values())
    assert launch(pipeline="requirements-agent").spec.prompts == {}
