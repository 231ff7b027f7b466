"""Runs with a language model, against a real server: typed, cached, metered, within a budget."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable
from contextlib import nullcontext, suppress
from time import sleep
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pydantic import BaseModel, ConfigDict

from config.logs import KeylessFormatter
from evaluation.models import CachedReply, CaseRun, Run
from evaluation.services import budgets, execution, leases, metering, models, results, runs
from labeling.models import Event
from pipelines import registry
from pipelines.chat.endpoint import Endpoint
from pipelines.llm import ChatMessage, ChatModel, ModelError
from pipelines.types import Case, Output
from tests.llm_server import SERVED, LanguageServer, end_soon_what_hangs

pytestmark = pytest.mark.django_db

SCHEMA = {
    "type": "object",
    "properties": {"label": {"type": "string"}},
    "required": ["label"],
}
ONE_CALL = 0.0003  # (100 × 2 + 10 × 10) / 1 000 000


class NoConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Asking:
    """Asks the model two things about each case, the second one with a schema."""

    name, version = "asking", "1"
    config: dict[str, Any] = {}

    def __init__(self, model: ChatModel) -> None:
        self.model = model

    def run(self, case: Case) -> Output:
        for number, schema in enumerate((None, SCHEMA)):
            question = f"{case.case_id}, question {number}"
            self.model.complete([ChatMessage("user", question)], schema=schema)
        return {"requirements": [], "model": self.model.id}


def make_asking(config: Any, tools: registry.Tools) -> Asking:
    assert tools.model is not None
    return Asking(tools.model)


ENTRY = registry.Entry(
    name="asking",
    title="Asking",
    summary="Asks a language model.",
    layers=("extraction",),
    config=NoConfig,
    make=make_asking,
    needs_model=True,
)


@pytest.fixture(autouse=True)
def asking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.PIPELINES, "asking", ENTRY)


def work(run: Run) -> Run:
    execution.work(run.pk, uuid4())
    return Run.objects.with_progress().get(pk=run.pk)


def states(run: Run) -> list[str]:
    return list(CaseRun.objects.filter(run=run).order_by("pk").values_list("state", flat=True))


# --- set up or not ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        ({}, "LLM_MODEL"),
        ({"LLM_API_KEY": "k"}, "LLM_MODEL"),
        ({"LLM_MODEL": "m"}, "LLM_API_KEY"),
    ],
)
def test_a_pipeline_that_needs_a_model_is_refused_before_anything_runs(
    launch: Any, settings: Any, given: dict[str, str], missing: str
) -> None:
    for name in ("LLM_MODEL", "LLM_API_KEY", "LLM_BASE_URL"):
        setattr(settings, name, given.get(name, ""))

    with pytest.raises(models.ModelMissing, match=f"set {missing} in the environment"):
        launch(pipeline="asking")

    assert models.model_from_settings() is None
    assert not Run.objects.exists()


def test_a_server_of_ones_own_needs_no_key(settings: Any) -> None:
    settings.LLM_MODEL, settings.LLM_API_KEY = "m", None
    settings.LLM_BASE_URL = "http://me:pw@box.local:8000/v1"

    model = models.model_from_settings()

    assert model is not None
    assert model.id == "box.local/m"
    assert "pw" not in json.dumps(models.describe())


def test_without_a_pipeline_that_uses_it_the_model_plays_no_part(
    launch: Any, server: LanguageServer
) -> None:
    run = work(launch(pipeline="nothing"))

    assert run.status == "finished"
    assert run.spec["model"] is None
    assert all(case.usage == {} for case in CaseRun.objects.filter(run=run))
    assert server.requests == []


# --- a run --------------------------------------------------------------------------------------


def test_a_run_counts_calls_tokens_cost_and_the_models_own_name(
    launch: Any, server: LanguageServer
) -> None:
    run = work(launch(pipeline="asking"))

    assert run.status == "finished"
    assert run.spec["model"]["id"] == "test/small-1"
    case = CaseRun.objects.filter(run=run).first()
    assert case is not None
    assert case.usage["cost"] == pytest.approx(2 * ONE_CALL)
    assert case.usage["models"] == [SERVED]
    assert (case.usage["calls"], case.usage["cached"]) == (2, 0)
    assert (case.usage["prompt_tokens"], case.usage["completion_tokens"]) == (200, 20)
    assert case.usage["seconds"] > 0
    total = budgets.spent(run.pk)
    assert (total.calls, total.tokens) == (6, 660)
    assert total.cost == pytest.approx(6 * ONE_CALL)


def test_a_second_run_is_answered_by_the_cache_and_says_what_that_saved(
    launch: Any, server: LanguageServer, signed_in: Any
) -> None:
    work(launch(pipeline="asking"))
    asked = len(server.requests)

    run = work(launch(pipeline="asking"))

    assert len(server.requests) == asked == 6
    total = budgets.spent(run.pk)
    assert (total.calls, total.cached, total.tokens, total.cost) == (6, 6, 0, 0.0)
    assert total.saved == pytest.approx(6 * ONE_CALL)
    assert total.saved_tokens == 660
    assert CachedReply.objects.count() == 6
    assert set(CachedReply.objects.values_list("hits", flat=True)) == {1}
    page = signed_in("noor").get(run.get_absolute_url()).content.decode()
    assert "<dt>Saved by the cache</dt><dd>0.0018 USD, 660 tokens</dd>" in page
    assert f"<dt>Replies came from</dt><dd>{SERVED}</dd>" in page


def test_repetitions_are_no_copies_of_each_other(launch: Any, server: LanguageServer) -> None:
    run = work(launch(pipeline="asking", repetitions=2))

    assert len(server.requests) == 12
    assert budgets.spent(run.pk).cached == 0


def test_another_temperature_is_another_request(
    launch: Any, server: LanguageServer, settings: Any
) -> None:
    work(launch(pipeline="asking"))
    settings.LLM_TEMPERATURE = 0.7

    work(launch(pipeline="asking"))

    assert len(server.requests) == 12


def test_every_bad_answer_ends_its_own_case_and_the_run_is_finished(
    make_release: Any, launch: Any, server: LanguageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    end_soon_what_hangs(monkeypatch, server)
    server.plan(
        *("good", "fenced"),  # 0
        *("refusal",),  # 1
        *("good", "wrong_schema", "prose"),  # 2
        *("failing", "failing", "failing"),  # 3
        *("good", "truncated", "good"),  # 4
        *("reset", "reset", "good", "good"),  # 5
        *("hanging", "hanging", "hanging"),  # 6
        *("rate_limited", "rate_limited", "rate_limited"),  # 7: two in a row
        *("too_long",),  # 8
    )

    run = work(launch(release=make_release(10, name="ten"), pipeline="asking"))

    cases = CaseRun.objects.filter(run=run).order_by("pk")
    assert run.status == "finished"
    assert [case.error_class for case in cases] == [
        *("", "permanent", "parse", "transient", "", "", "transient", "rate", "permanent", ""),
    ]
    assert {case.attempts for case in cases} == {1}  # tried again in one place only
    parse = cases[2]
    assert parse.usage["prompt_tokens"] == 300  # all three were paid
    assert "also after it was asked again" in parse.error
    assert len(server.requests) == 2 + 1 + 3 + 3 + 3 + 4 + 3 + 3 + 1 + 2


# --- pausing ------------------------------------------------------------------------------------


def test_a_storm_pauses_the_run_and_costs_no_results(
    make_release: Any, launch: Any, server: LanguageServer, people: Any
) -> None:
    run = launch(release=make_release(5, name="five"), pipeline="asking")
    server.plan("good", "good", *["failing"] * 9)

    run = work(run)

    assert run.status == "paused"
    assert "failed (500): The engine stumbled" in run.pause_reason
    assert states(run) == ["done", "queued", "queued", "queued", "queued"]
    assert len(server.requests) == 11
    assert Event.objects.filter(verb="run.paused", actor=None).count() == 1

    runs.resume(run, by=people["rita"])
    run = work(run)

    assert run.status == "finished"
    assert run.pause_reason == ""
    assert states(run) == ["done"] * 5
    assert len(server.requests) == 11 + 8  # what was answered before is not asked again


def test_a_run_of_few_cases_pauses_when_all_of_them_fail(
    make_release: Any, launch: Any, server: LanguageServer
) -> None:
    server.default = "failing"

    run = work(launch(release=make_release(1, name="one"), pipeline="asking"))

    assert (run.status, states(run)) == ("paused", ["queued"])


def test_a_server_that_wants_to_be_left_alone_is_left_alone(
    launch: Any, server: LanguageServer
) -> None:
    server.retry_after = "3600"
    server.plan("rate_limited")

    run = work(launch(pipeline="asking"))

    assert run.status == "paused"
    assert "takes no more requests" in run.pause_reason
    assert len(server.requests) == 1
    assert states(run) == ["queued"] * 3


@pytest.mark.parametrize(
    ("way", "reason"),
    [("no_quota", "may spend no more"), ("unknown_model", "Correct LLM_MODEL")],
)
def test_what_every_case_would_meet_pauses_at_once(
    launch: Any, server: LanguageServer, way: str, reason: str
) -> None:
    server.plan(way)

    run = work(launch(pipeline="asking"))

    assert run.status == "paused"
    assert reason in run.pause_reason
    assert (states(run), len(server.requests)) == (["queued"] * 3, 1)
    assert CaseRun.objects.filter(run=run, attempts__gt=0).count() == 0


def test_a_wrong_key_pauses_and_stands_nowhere(
    launch: Any, server: LanguageServer, settings: Any, caplog: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = settings.LLM_API_KEY = "sk-wrong-9876543210zyx"
    run = launch(pipeline="asking")

    run = work(run)

    assert run.status == "paused"
    assert "Correct LLM_API_KEY" in run.pause_reason
    stored = [run.pause_reason, run.spec, run.config, *CaseRun.objects.values("error", "usage")]
    assert wrong not in json.dumps(stored)
    assert wrong not in json.dumps(list(Event.objects.values_list("data", flat=True)))
    formatter = KeylessFormatter("%(message)s")
    lines = [formatter.format(record) for record in caplog.records]
    assert any("does not accept the key" in line for line in lines)
    assert wrong not in "\n".join(lines)


def test_a_pipeline_that_swallows_the_stop_is_stopped_all_the_same(
    launch: Any, server: LanguageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swallowing(self: Asking, case: Case) -> Output:
        with suppress(ModelError):
            self.model.complete([ChatMessage("user", case.case_id)])
        return {"requirements": [], "model": None}

    monkeypatch.setattr(Asking, "run", swallowing)
    server.default = "no_quota"

    run = work(launch(pipeline="asking"))

    assert (run.status, states(run)) == ("paused", ["queued"] * 3)
    assert len(server.requests) == 1


def test_a_worker_set_up_for_another_model_pauses_the_run(
    launch: Any, server: LanguageServer, settings: Any
) -> None:
    run = launch(pipeline="asking")
    settings.LLM_MODEL = "large-1"

    run = work(run)

    assert run.status == "paused"
    assert "uses the model “test/small-1”, and “test/large-1” is set up" in run.pause_reason
    assert server.requests == []


@pytest.mark.parametrize("swallows", [False, True])
def test_a_case_that_takes_too_long_asks_nothing_more_and_fails_alone(
    launch: Any,
    server: LanguageServer,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    swallows: bool,
) -> None:
    ask = Asking.run

    def run_on(self: Asking, case: Case) -> Output:
        with suppress(ModelError) if swallows else nullcontext():
            return ask(self, case)
        return {"requirements": [], "model": None}

    def slowly(body: dict[str, Any]) -> str:
        sleep(2.2)
        return server.answer

    monkeypatch.setattr(Asking, "run", run_on)
    settings.CASE_TIMEOUT_SECONDS = 2
    server.plan(slowly)

    run = work(launch(pipeline="asking"))

    assert (run.status, states(run)) == ("finished", ["failed", "done", "done"])
    late = CaseRun.objects.filter(run=run).order_by("pk")[0]
    assert "longer than 2 seconds (ASSAY_CASE_TIMEOUT_SECONDS)" in late.error
    assert (late.error_class, late.attempts, late.usage["calls"]) == ("transient", 1, 1)
    assert len(server.requests) == 1 + 2 * 2


# --- budget -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"budget_tokens": 330}, {"budget_tokens": 10_000}),
        ({"budget_cost": 3 * ONE_CALL}, {"budget_cost": 1.0}),
    ],
)
def test_a_used_up_budget_pauses_and_a_larger_one_goes_on_without_paying_twice(
    launch: Any,
    server: LanguageServer,
    people: Any,
    first: dict[str, Any],
    second: dict[str, Any],
) -> None:
    run = work(launch(pipeline="asking", **first))

    assert run.status == "paused"
    assert "is used up" in run.pause_reason
    assert len(server.requests) == 3  # the first case, and the first question of the second
    assert states(run) == ["done", "queued", "queued"]
    assert budgets.spent(run.pk).tokens == 330
    with pytest.raises(runs.BudgetRefused, match="give a larger one"):
        runs.resume(run, by=people["rita"])
    assert Run.objects.get(pk=run.pk).paused

    runs.resume(run, by=people["rita"], **second)
    run = work(run)

    assert run.status == "finished"
    assert len(server.requests) == 6
    total = budgets.spent(run.pk)
    assert total.tokens == 660
    assert total.cached == 1


def test_what_a_killed_worker_spent_is_spent(
    launch: Any, server: LanguageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        """Nothing runs after it, so nothing is given back."""

    def dying(self: Asking, case: Case) -> Output:
        self.model.complete([ChatMessage("user", f"{case.case_id}, until the end")])
        raise Killed

    run = launch(pipeline="asking", budget_tokens=330)
    with monkeypatch.context() as patch:
        patch.setattr(Asking, "run", dying)
        patch.setattr(leases, "give_back", lambda *_: None)
        with pytest.raises(Killed):
            execution.work(run.pk, uuid4())
    assert budgets.spent(run.pk).tokens == 110
    CaseRun.objects.filter(run=run).update(lease_expires_at=timezone.now())

    run = work(run)

    assert run.status == "paused"
    assert states(run) == ["done", "queued", "queued"]
    assert budgets.spent(run.pk).tokens == 330
    assert len(server.requests) == 1 + 2


def test_the_same_model_at_another_address_has_replies_of_its_own(
    launch: Any, server: LanguageServer, settings: Any
) -> None:
    work(launch(pipeline="asking"))
    settings.LLM_BASE_URL = server.url.replace("127.0.0.1", "localhost")

    run = work(launch(pipeline="asking"))

    assert budgets.spent(run.pk).cached == 0
    with_password = Endpoint("m", "http://me:pw@box.local:8000/v1/", "test")
    assert with_password.address == "http://box.local:8000/v1"  # a new password changes nothing


def test_replies_from_the_cache_need_no_budget(launch: Any, server: LanguageServer) -> None:
    work(launch(pipeline="asking"))

    run = work(launch(pipeline="asking", budget_tokens=1))

    assert run.status == "finished"


def test_a_budget_in_money_without_prices_is_refused(
    launch: Any, server: LanguageServer, settings: Any
) -> None:
    settings.LLM_OUTPUT_PRICE = None

    with pytest.raises(runs.BudgetRefused, match="LLM_OUTPUT_PRICE"):
        launch(pipeline="asking", budget_cost=1.0)
    run = work(launch(pipeline="asking"))

    assert budgets.spent(run.pk).cost is None


@pytest.mark.parametrize("budget", [{"budget_cost": 0.0}, {"budget_tokens": 0}])
def test_a_budget_of_nothing_is_refused(
    launch: Any, server: LanguageServer, budget: dict[str, Any]
) -> None:
    with pytest.raises(runs.BudgetRefused, match="more than nothing"):
        launch(pipeline="asking", **budget)


def test_a_budget_for_a_pipeline_without_a_model_is_refused(launch: Any) -> None:
    with pytest.raises(runs.BudgetRefused, match="uses no language model"):
        launch(pipeline="nothing", budget_tokens=5)


def estimated(release: Any) -> budgets.Estimate:
    return budgets.estimate(release, pipeline="asking", config={}, split="", repetitions=2)


@pytest.mark.parametrize(
    ("pipeline", "config", "layer", "calls"),
    [
        ("requirements-model", {}, "extraction", (1, 1, None)),
        ("requirements-agent", {"implementation": "model"}, "extraction", (1, 1, None)),
        ("requirements-agent", {"implementation": "model"}, "validation", (1, 3, None)),
        ("requirements-agent", {"implementation": "model"}, "end_to_end", (4, 4, None)),
        ("requirements-agent", {"document": "model"}, "end_to_end", (1, 1, None)),
        ("memory", {"mode": "oneshot", "use_model": True}, "qa", (3, 3, 40)),
        ("memory", {"use_model": True}, "qa", (3, 5, 80)),  # looks at 40, 80 and 120
        ("memory", {"use_model": True, "max_rounds": 1}, "qa", (3, 3, 40)),
    ],
)
def test_a_pipeline_says_how_often_it_asks(
    pipeline: str, config: dict[str, Any], layer: str, calls: Any
) -> None:
    entry, full = runs.checked_pipeline(pipeline, config, layer)
    assert entry.calls(full, layer) == calls


def test_the_estimate_counts_every_call_and_says_so(
    make_release: Any, server: LanguageServer
) -> None:
    release = make_release(2, name="estimated")
    release.layer = "end_to_end"

    one = runs.estimate(release, pipeline="requirements-agent", config={"document": "model"})
    four = runs.estimate(release, pipeline="requirements-agent", config={"implementation": "model"})

    assert one
    assert four
    assert four.prompt_tokens == 4 * one.prompt_tokens
    assert four.completion_tokens == 2 * 4 * 700
    assert "the most that a case takes if every reply can be used, 4 calls" in four.basis


def test_the_estimate_learns_from_a_finished_run(
    release: Any, launch: Any, server: LanguageServer
) -> None:
    before = estimated(release)
    assert "one reading" in before.basis
    # 29 characters a conversation: 10 tokens and 500; 700 of reply; three cases, twice
    assert (before.prompt_tokens, before.completion_tokens) == (6 * 510, 6 * 700)
    run = work(launch(pipeline="asking"))

    after = estimated(release)

    assert after.basis == f"what run {run.pk} used for each case"
    assert (after.cases, after.prompt_tokens, after.completion_tokens) == (6, 1200, 120)
    assert after.cost == pytest.approx(12 * ONE_CALL)


# --- what people see ----------------------------------------------------------------------------


def test_the_page_shows_usage_and_goes_on_with_a_larger_budget(
    launch: Any,
    server: LanguageServer,
    signed_in: Callable[[str], Client],
    django_capture_on_commit_callbacks: Any,
) -> None:
    run = work(launch(pipeline="asking", budget_tokens=330))
    client = signed_in("rita")

    page = client.get(run.get_absolute_url()).content.decode()

    assert "The budget of 330 tokens is used up" in page
    assert 'name="budget_tokens"' in page
    assert "test/small-1" in page
    control = f"{run.get_absolute_url()}control/"
    refused = client.post(control, {"action": "resume", "budget_tokens": "x"}, follow=True)
    assert "Enter a whole number" in refused.content.decode()
    client.post(control, {"action": "resume", "budget_tokens": "900"})
    run = work(run)
    assert run.status == "finished"
    page = client.get(run.get_absolute_url()).content.decode()
    assert "600 + 60" in page
    assert "0.0018 USD" in page


def test_the_form_estimates_before_it_launches(
    release: Any, server: LanguageServer, signed_in: Callable[[str], Client]
) -> None:
    client = signed_in("noor")
    given = {"release": release.pk, "pipeline": "asking", "repetitions": 1, "seed": 0}

    page = client.post("/runs/new/", given | {"estimate": "1"})

    assert page.status_code == 200
    assert "3 cases" in page.content.decode()
    assert "USD" in page.content.decode()
    assert not Run.objects.exists()
    client.post("/runs/new/", given | {"budget_cost": "0.5"})
    assert Run.objects.get().budget_cost == 0.5


def test_results_hold_the_usage_of_the_run_and_of_each_case(
    launch: Any, server: LanguageServer
) -> None:
    run = work(launch(pipeline="asking", budget_tokens=5000))

    document = results.results_document(run)

    assert document["model"]["id"] == "test/small-1"
    assert document["budget"] == {"cost": None, "tokens": 5000}
    assert document["usage"]["calls"] == 6
    assert document["usage"]["cost"] == pytest.approx(6 * ONE_CALL)
    assert document["cases"][0]["usage"]["completion_tokens"] == 20


def test_the_command_estimates_stops_at_the_budget_and_goes_on(
    release: Any, server: LanguageServer
) -> None:
    def evaluate(*arguments: str) -> str:
        out = io.StringIO()
        call_command("evaluate", *arguments, stdout=out)
        return out.getvalue()

    launch = ("--gold", "demo", "--pipeline", "asking")
    said = evaluate(*launch, "--estimate")
    assert "3 cases" in said
    assert not Run.objects.exists()

    with pytest.raises(CommandError, match=r"is used up.*--resume \d+ --budget") as caught:
        evaluate(*launch, "--budget-tokens", "330")
    assert caught.value.returncode == 2
    run = Run.objects.get()

    said = evaluate("--resume", str(run.pk), "--budget-tokens", "5000")

    assert "calls 7, 1 from the cache" in said
    assert "0.0018 USD" in said
    assert len(server.requests) == 6


def test_the_usage_of_attempts_adds_up() -> None:
    meter = metering.Meter().as_json()
    before = meter | {"calls": 2, "cost": None, "prompt_tokens": 5, "models": ["a"]}
    now = meter | {"calls": 1, "cost": 1.0, "prompt_tokens": 7, "models": ["b"]}

    both = metering.together(before, now)

    assert (both["calls"], both["prompt_tokens"], both["cost"]) == (3, 12, None)
    assert both["models"] == ["a", "b"]
    assert metering.together({}, now) == now
