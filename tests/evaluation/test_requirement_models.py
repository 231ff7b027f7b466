"""Requirements by a language model, as real runs against a real server that misbehaves."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest

from evaluation.models import CaseRun, Run
from evaluation.services.language_models import budgets, endpoints
from evaluation.services.launch.launch import LaunchRefused
from evaluation.services.run import execution, results
from evaluation.services.work import steering
from labeling.models import GoldRelease, Project
from labeling.words import in_english
from tests.evaluation.conftest import requirement
from tests.evaluation.requirement_releases import inferred, issue, make_release
from tests.llm_server import SERVED, LanguageServer, end_soon_what_hangs
from tests.refusals import refused

pytestmark = pytest.mark.django_db

ONE_CALL = 0.0003  # (100 × 2 + 10 × 10) / 1 000 000
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


def fenced(body: dict[str, Any]) -> str:
    return f"Here you are:\n```json\n{reply(body)}\n```"


def invented(body: dict[str, Any]) -> str:
    """It fits but for a message, a requirement or a field that there is not."""
    wrong = reply(body).replace("[0]", "[7]").replace('"R1"', '"R7"')
    return wrong.replace('"edge_cases"', '"edges"')


Way = tuple[list[Any], str, str, int]
"""What the server does, then the case's error class, what is said of it, and requests beyond the
first."""

ENDINGS: dict[str, Way] = {
    "fenced": ([fenced], "", "", 0),
    "truncated once": (["truncated"], "", "", 1),
    "truncated": (["truncated"] * 2, "parse", "LLM_MAX_TOKENS", 1),
    "wrong schema": (["wrong_schema"] * 2, "parse", "does not fit the schema", 1),
    "invented": ([invented] * 2, "parse", "does not fit the schema", 1),
    "invented once": ([invented], "", "", 1),
    "refusal": (["refusal"], "permanent", "declined", 0),
    "429": (["rate_limited"] * 3, "rate", "takes no more requests", 2),
    "429 once": (["rate_limited"], "", "", 1),
    "500": (["failing"] * 3, "transient", "failed (500)", 2),
    "hang": (["hanging"], "transient", "no answer within", 0),
    "reset": (["reset"] * 3, "transient", "cannot be reached", 2),
    "reset once": (["reset"], "", "", 1),
}
every_ending = pytest.mark.parametrize("way", ENDINGS)


@pytest.fixture
def answering(server: LanguageServer, monkeypatch: pytest.MonkeyPatch) -> LanguageServer:
    server.default = reply
    end_soon_what_hangs(monkeypatch, server)
    return server


@pytest.fixture
def talks(make_release: Any) -> GoldRelease:
    release: GoldRelease = make_release(CASES, name="talks")
    return release


@pytest.fixture
def whole(project: Project) -> GoldRelease:
    gold = {
        "requirements": [requirement(1)],
        "inferred_requirements": [inferred("Lock")],
        "issues": [issue()],
    }
    return make_release(project, "end_to_end", *[gold] * CASES)


def work(run: Run) -> Run:
    execution.work(run.pk, uuid4())
    return Run.objects.with_progress().get(pk=run.pk)


def cases_of(run: Run) -> list[CaseRun]:
    return list(CaseRun.objects.filter(run=run).order_by("pk"))


@every_ending
def test_whatever_the_server_does_the_case_has_a_typed_end_and_the_run_is_finished(
    launch, talks, answering, way
):
    planned, error_class, said, more = ENDINGS[way]
    answering.plan(*planned)

    run = work(launch(release=talks, pipeline="requirements-model"))

    first, *others = cases_of(run)
    assert run.status == "finished"
    assert (first.error_class, first.attempts) == (error_class, 1)
    assert said in (in_english(first.error) if first.error else "")
    assert [other.state for other in others] == ["done"] * (CASES - 1)
    assert len(answering.requests) == CASES + more
    for case in others + ([first] if not error_class else []):
        assert case.output is not None
        assert case.output["model"] == SERVED
        assert case.output["requirements"][0]["source_messages"] == [0]
        assert case.usage["cost"] == case.output["steps"][0]["cost"]
    assert all(row.mean is not None or row.reason for row in results.aggregates_of(run))


@pytest.mark.parametrize(
    ("node", "way"),
    [
        ("extraction", "500"),
        ("extraction", "fenced"),
        ("inference", "invented"),
        ("inference", "invented once"),
        ("validation", "hang"),
        ("validation", "truncated"),
        ("document", "refusal"),
        ("document", "reset once"),
    ],
)
def test_so_it_is_at_every_node_of_the_agent(launch, whole, answering, way, node):
    nodes = ("extraction", "inference", "validation", "document")
    before = nodes.index(node)
    planned, error_class, said, more = ENDINGS[way]
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
    assert good is not None
    assert [step["node"] for step in good["steps"]] == list(nodes)
    assert {step["prompt"] for step in good["steps"]} == {
        "extraction.v4" if node == "extraction" else f"{node}.v1" for node in nodes
    }
    if not error_class:
        assert first.output is not None
        assert first.output["steps"][before]["retries"] == more
    assert all(row.mean is not None or row.reason for row in results.aggregates_of(run))


@pytest.mark.parametrize("pipeline", ["requirements-model", "requirements-agent"])
@pytest.mark.parametrize(
    ("way", "reason"),
    [("wrong key", "Correct LLM_API_KEY"), ("storm", "failed (500)"), ("long wait", "no more")],
)
def test_what_every_case_would_meet_pauses_the_run_and_it_goes_on_from_there(
    launch, talks, answering, settings, people, pipeline, way, reason
):
    config = {"implementation": "model"} if pipeline == "requirements-agent" else {}
    run = launch(release=talks, pipeline=pipeline, config=config)
    key = settings.LLM_API_KEY
    if way == "wrong key":
        settings.LLM_API_KEY = "sk-wrong-9876543210zyx"
    elif way == "storm":
        answering.plan(*["failing"] * 9)
    else:
        answering.retry_after = "61"
        answering.plan("rate_limited")

    run = work(run)

    assert run.status == "paused"
    assert reason in in_english(run.pause_reason)
    assert {case.state for case in cases_of(run)} == {"queued"}
    settings.LLM_API_KEY = key
    if way == "long wait":  # a minute later
        endpoints.client_of(endpoints.named()).limit._closed_at -= 60  # type: ignore
    steering.resume(run, by=people["rita"])
    assert work(run).status == "finished"
    assert {case.state for case in cases_of(run)} == {"done"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"budget_tokens": 330}, {"budget_tokens": 10_000}),
        ({"budget_cost": 3 * ONE_CALL}, {"budget_cost": 1.0}),
    ],
)
@pytest.mark.postgres
def test_the_budget_stops_the_agent_between_two_nodes_and_nothing_is_paid_twice(
    launch, project, answering, people, first, second
):
    release = make_release(project, "end_to_end", {"requirements": [requirement(1)]})
    config = {"implementation": "model"}
    run = work(launch(release=release, pipeline="requirements-agent", config=config, **first))
    assert run.status == "paused"
    assert "is used up" in in_english(run.pause_reason)
    assert len(answering.requests) == 3  # the document was not written

    steering.resume(run, by=people["rita"], **second)
    run = work(run)

    assert run.status == "finished"
    assert len(answering.requests) == 4
    assert budgets.spent(run.pk).tokens == 440
    assert budgets.spent(run.pk).cost == pytest.approx(4 * ONE_CALL)


@pytest.mark.parametrize(
    ("pipeline", "config"),
    [
        ("requirements-model", {}),
        ("requirements-agent", {"implementation": "model"}),
        ("requirements-agent", {"validation": "model"}),
    ],
)
def test_without_settings_it_is_refused_before_anything_runs(launch, settings, pipeline, config):
    settings.LLM_MODEL = settings.LLM_API_KEY = settings.LLM_BASE_URL = ""

    with refused(LaunchRefused, match="set LLM_MODEL in the environment"):
        launch(pipeline=pipeline, config=config)

    assert not Run.objects.exists()


def test_the_prompts_stand_in_the_run_by_their_hashes(launch, answering):
    asking = launch(pipeline="requirements-model")

    assert set(asking.spec.prompts) == {
        *("extraction.v4", "inference.v1", "validation.v1", "document.v1"),
    }
    assert all(len(sha256) == 64 for sha256 in asking.spec.prompts.values())
    assert launch(pipeline="requirements-agent").spec.prompts == {}
