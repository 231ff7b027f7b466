"""What a language model costs: budgets, estimates, and the usage that people see."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError
from django.utils import timezone

from evaluation.models import CaseRun, Run
from evaluation.services.language_models import budgets
from evaluation.services.language_models.usage import Spent, together
from evaluation.services.launch.launch import LaunchRefused, checked_pipeline
from evaluation.services.run import execution, results
from evaluation.services.work import leases, steering
from labeling.domain.facts import Fact
from labeling.words import in_english
from pipelines.chat.endpoint import Endpoint
from pipelines.llm import ChatMessage
from pipelines.registry import Calls
from pipelines.types import Case, Output
from tests.evaluation import launching
from tests.evaluation.asking import ONE_CALL, Asking, states
from tests.evaluation.commands import evaluate
from tests.evaluation.conftest import work
from tests.llm_server import LanguageServer
from tests.refusals import refused

pytestmark = [pytest.mark.postgres, pytest.mark.django_db, pytest.mark.usefixtures("asking")]


# --- budget -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"budget_tokens": 330}, {"budget_tokens": 10_000}),
        ({"budget_cost": 3 * ONE_CALL}, {"budget_cost": 1.0}),
    ],
)
def test_a_used_up_budget_pauses_and_a_larger_one_goes_on_without_paying_twice(
    launch, server, people, first, second
):
    run = work(launch(pipeline="asking", **first))

    assert run.status == "paused"
    assert "is used up" in in_english(run.pause_reason)
    assert len(server.requests) == 3  # the first case, and the first question of the second
    assert states(run) == ["done", "queued", "queued"]
    assert budgets.spent(run.pk).tokens == 330
    with refused(steering.BudgetRefused, match="give a larger one"):
        steering.resume(run, by=people["rita"])
    assert Run.objects.get(pk=run.pk).paused

    steering.resume(run, by=people["rita"], **second)
    run = work(run)

    assert run.status == "finished"
    assert len(server.requests) == 6
    total = budgets.spent(run.pk)
    assert total.tokens == 660
    assert total.cached == 1
    document = results.results_document(run)
    given = {name.removeprefix("budget_"): most for name, most in second.items()}
    assert document["budget"] == {"cost": None, "tokens": None} | given
    assert (document["usage"]["calls"], document["model"]["id"]) == (total.calls, "test/small-1")
    assert document["cases"][0]["usage"]["completion_tokens"] == 20


def test_what_a_killed_worker_spent_is_spent(launch, server, monkeypatch):
    class Killed(BaseException):
        """Nothing runs after it, so nothing is given back."""

    def dying(self: Asking, case: Case) -> Output:
        self.model.complete([ChatMessage("user", f"{case.case_id}, until the end")])
        raise Killed

    run = launch(pipeline="asking", budget_tokens=330)
    with monkeypatch.context() as patch:
        patch.setattr(Asking, "run", dying)
        patch.setattr(leases.WorkLease, "give_back", lambda *_: None)
        with pytest.raises(Killed):
            execution.work(run.pk, uuid4())
    assert budgets.spent(run.pk).tokens == 110
    CaseRun.objects.filter(run=run).update(lease_expires_at=timezone.now() - timedelta(seconds=1))

    run = work(run)

    assert run.status == "paused"
    assert states(run) == ["done", "queued", "queued"]
    assert budgets.spent(run.pk).tokens == 330
    assert len(server.requests) == 1 + 2


def test_the_same_model_at_another_address_has_replies_of_its_own(launch, server, settings):
    work(launch(pipeline="asking"))
    settings.LLM_BASE_URL = server.url.replace("127.0.0.1", "localhost")

    run = work(launch(pipeline="asking"))

    assert budgets.spent(run.pk).cached == 0
    with_password = Endpoint(model="m", base_url="http://me:pw@box.local:8000/v1/")
    assert with_password.address == "http://box.local:8000/v1"  # a new password changes nothing


def test_replies_from_the_cache_need_no_budget(launch: Any, server: LanguageServer) -> None:
    work(launch(pipeline="asking"))

    run = work(launch(pipeline="asking", budget_tokens=1))

    assert run.status == "finished"


def test_a_budget_in_money_without_prices_is_refused(launch, server, settings):
    settings.LLM_OUTPUT_PRICE = None

    with refused(LaunchRefused, match="LLM_OUTPUT_PRICE"):
        launch(pipeline="asking", budget_cost=1.0)
    run = work(launch(pipeline="asking"))

    assert budgets.spent(run.pk).cost is None


@pytest.mark.parametrize("budget", [{"budget_cost": 0.0}, {"budget_tokens": 0}])
def test_a_budget_of_nothing_is_refused(launch, server, budget):
    with refused(LaunchRefused, match="more than nothing"):
        launch(pipeline="asking", **budget)


def estimated(release: Any) -> budgets.Estimate:
    sizes = budgets.case_sizes(release, "") * 2
    return budgets.estimate(release, sizes, pipeline="asking", config={})


@pytest.mark.parametrize(
    ("pipeline", "config", "layer", "calls"),
    [
        ("requirements-model", {}, "extraction", Calls(1, 1)),
        ("requirements-agent", {"implementation": "model"}, "extraction", Calls(1, 1)),
        ("requirements-agent", {"implementation": "model"}, "validation", Calls(1, 3)),
        ("requirements-agent", {"implementation": "model"}, "end_to_end", Calls(4, 4)),
        ("requirements-agent", {"document": "model"}, "end_to_end", Calls(1, 1)),
        ("memory", {"mode": "oneshot", "use_model": True}, "qa", Calls(1, 1)),
        ("memory", {"use_model": True}, "qa", Calls(1, 3)),  # if it does not fit
        ("memory", {"use_model": True, "max_rounds": 1}, "qa", Calls(1, 1)),
    ],
)
def test_a_pipeline_says_how_often_it_asks(pipeline, config, layer, calls):
    entry, full = checked_pipeline(pipeline, config, layer)
    assert entry.calls(full, layer) == calls


def test_the_estimate_counts_every_call_and_says_so(make_release, server):
    release = make_release(2, name="estimated")
    release.layer = "end_to_end"

    one = launching.estimate(release, pipeline="requirements-agent", config={"document": "model"})
    four = launching.estimate(
        release, pipeline="requirements-agent", config={"implementation": "model"}
    )

    assert four.prompt_tokens == 4 * one.prompt_tokens
    assert four.completion_tokens == 2 * 4 * 700
    assert "the most that a case takes if every reply can be used, 4 calls" in in_english(
        four.basis
    )


def test_the_estimate_learns_from_a_finished_run(release, launch, server):
    before = estimated(release)
    assert "one reading" in in_english(before.basis)
    # 29 characters a conversation: 10 tokens and 500; 700 of reply; three cases, twice
    assert (before.prompt_tokens, before.completion_tokens) == (6 * 510, 6 * 700)
    run = work(launch(pipeline="asking"))

    after = estimated(release)

    assert after.basis == Fact("estimate.earlier_run", run=run.pk)
    assert (after.cases, after.prompt_tokens, after.completion_tokens) == (6, 1200, 120)
    assert after.cost == pytest.approx(12 * ONE_CALL)


# --- what people see ----------------------------------------------------------------------------


def test_the_command_estimates_stops_at_the_budget_and_goes_on(release, server):

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
    before = Spent(calls=2, cost=None, prompt_tokens=5, models=["a"]).as_json()
    now = Spent(calls=1, cost=1.0, prompt_tokens=7, models=["b"])

    both = together(before, now)

    assert (both["calls"], both["prompt_tokens"], both["cost"]) == (3, 12, None)
    assert both["models"] == ["a", "b"]
    assert together({}, now) == now.as_json()
