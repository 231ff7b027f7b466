"""Several models on one server: each is declared once, and a run keeps which it asked."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.test.client import MULTIPART_CONTENT
from django.utils import timezone

from config import language_models
from config.logs import KeylessFormatter
from evaluation.models import CachedReply, CaseRun, Run
from evaluation.services.language_models import budgets, endpoints, metering, replies
from evaluation.services.launch.launch import LaunchRefused
from evaluation.services.unmeasured import predicting
from evaluation.services.work import steering
from labeling.conversations.rules.importing import Turn
from labeling.domain.errors import RuleError
from labeling.models import Event
from labeling.words import in_english
from pipelines.llm import ChatMessage, ModelError
from pipelines.types import Case, Output
from tests import llm_server
from tests.evaluation.asking import Asking, states
from tests.evaluation.commands import evaluate
from tests.evaluation.conftest import work
from tests.factories import make_talk
from tests.llm_server import SERVED, LanguageServer, end_soon_what_hangs
from tests.refusals import refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("asking")]

OTHER_KEY = "of-another-form-0123456789"


@pytest.fixture
def other(settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """A second server, declared as ``small``."""
    with llm_server.running() as server:
        server.key, server.served = OTHER_KEY, "other-1"
        file = tmp_path / "models.toml"
        file.write_text(
            f'[small]\nmodel = "other"\nbase_url = "{server.url}"\nkey = "OTHER_KEY"\n'
            'reasoning_effort = "low"\ninput_price = 1.0\noutput_price = 2.0\n'
        )
        monkeypatch.setenv("ASSAY_MODELS", str(file))
        monkeypatch.setenv("OTHER_KEY", OTHER_KEY)
        settings.MODELS = language_models.declared()
        yield server


def test_a_launch_chooses_a_model_and_the_run_keeps_which(launch, server, other):
    run = work(launch(pipeline="asking", model="small"))

    assert (run.status, server.requests) == ("finished", [])
    assert other.requests[0]["reasoning_effort"] == "low"
    assert run.spec.model_name == "small"
    assert run.spec.model["reasoning_effort"] == "low"
    assert OTHER_KEY not in json.dumps(run.spec.as_json())


def test_a_command_names_its_model(release, server, other):
    evaluate("--gold", str(release), "--pipeline", "asking", "--model", "small")
    assert Run.objects.get().spec.model_name == "small"


def test_a_pipeline_on_files_asks_the_named_model(server, other, tmp_path):
    file, out = tmp_path / "talks.jsonl", tmp_path / "out"
    said = [{"role": "user", "content": "Hello."}, {"role": "analyst", "content": "Hi."}]
    file.write_text(json.dumps({"id": "a", "domain": "shop", "messages": said}))

    call_command(
        "run_pipeline",
        str(file),
        pipeline="asking",
        output_dir=out,
        model="small",
        stdout=StringIO(),
    )

    assert (server.requests, len(other.requests)) == ([], 2)
    assert json.loads((out / "run.json").read_text())["model"]["name"] == "small"


@pytest.mark.parametrize("address", ["/runs/new/conversations/", "/api/runs/"])
def test_conversations_without_gold_are_asked_of_the_named_model(
    server, other, signed_in, project, address
):
    make_talk(project, "free", [Turn("user", "Hello."), Turn("analyst", "Hi.")])
    asked = {"pipeline": "asking", "project": project.slug, "model": "small"}
    ids = {"conversation": ["free"], "conversations": ["free"]}  # on the page; by API
    kind = "application/json" if "api" in address else MULTIPART_CONTENT

    rita = signed_in("rita")
    assert '<option value="small"' in rita.get("/runs/new/conversations/").content.decode()

    rita.post(address, asked | ids, kind)
    run = work(Run.objects.get())

    assert (run.status, run.spec.model_name) == ("finished", "small")
    assert (server.requests, len(other.requests)) == ([], 2)


@pytest.mark.parametrize(
    ("pipeline", "model", "said"),
    [
        ("asking", "large", "named “large”"),
        ("requirements-local", "small", "asks no language model"),
    ],
)
def test_conversations_without_gold_take_no_model_that_would_not_be_asked(
    other, pipeline, model, said
):
    with refused(RuleError, match=said):
        predicting.checked_task(pipeline, {}, model=model)


def test_a_name_that_nothing_declares_is_refused_with_those_there_are(launch, other, server):
    with refused(LaunchRefused, match="named “large”. Declared are: default, small"):
        launch(pipeline="asking", model="large")


def test_without_default_a_declared_model_can_be_asked(other, settings):
    settings.LLM_MODEL = ""

    assert endpoints.choices() == ["small"]
    assert endpoints.named() is None


def test_no_key_of_a_declared_model_leaves_in_a_text(other: LanguageServer) -> None:
    assert OTHER_KEY not in endpoints.keyless(f"the server said {OTHER_KEY}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[small", "cannot be read as TOML"),
        ('model = "m"', "has to be a table"),
        ("[small]\nmodel = 'm'\nmodell = 'm'", "'modell' of \\[small\\]"),
        ("[small]\nmodel = 'm'\napi_key = 'sk-1'", "sets 'api_key'"),
        ("[small]\nmodel = 'm'\nbase_url = 'file:///etc'", "'base_url' of \\[small\\]"),
    ],
)
def test_a_declaration_that_cannot_be_used_stops_the_start(monkeypatch, tmp_path, text, said):
    file = tmp_path / "models.toml"
    file.write_text(text)
    monkeypatch.setenv("ASSAY_MODELS", str(file))

    with pytest.raises(ImproperlyConfigured, match=said):
        language_models.declared()


# --- set up or not ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "missing"),
    [({}, "LLM_MODEL"), ({"LLM_API_KEY": "k"}, "LLM_MODEL"), ({"LLM_MODEL": "m"}, "LLM_API_KEY")],
)
def test_a_pipeline_that_needs_a_model_is_refused_before_anything_runs(
    launch, settings, given, missing
):
    for name in ("LLM_MODEL", "LLM_API_KEY", "LLM_BASE_URL"):
        setattr(settings, name, given.get(name, ""))

    with refused(LaunchRefused, match=f"set {missing} in the environment"):
        launch(pipeline="asking")

    assert endpoints.named() is None
    assert not Run.objects.exists()


def test_a_server_of_ones_own_needs_no_key(settings: Any) -> None:
    settings.LLM_MODEL, settings.LLM_API_KEY = "m", None
    settings.LLM_BASE_URL = "http://me:pw@box.local:8000/v1"

    model = endpoints.named()

    assert model.id == "box.local/m"
    assert "pw" not in json.dumps(endpoints.describe())


# --- a run --------------------------------------------------------------------------------------


def test_a_second_run_is_answered_by_the_cache_and_costs_nothing(launch, server, signed_in):
    work(launch(pipeline="asking"))
    asked = len(server.requests)

    run = work(launch(pipeline="asking"))

    assert len(server.requests) == asked == 6
    total = budgets.spent(run.pk)
    assert (total.calls, total.cached, total.tokens, total.cost) == (6, 6, 0, 0.0)
    assert CachedReply.objects.count() == 6
    assert set(CachedReply.objects.values_list("hits", flat=True)) == {1}
    page = signed_in("noor").get(f"{run.get_absolute_url()}?tab=provenance").content.decode()
    assert f"<dt>Replies came from</dt><dd>{SERVED}</dd>" in page


def test_repetitions_are_no_copies_of_each_other(launch: Any, server: LanguageServer) -> None:
    run = work(launch(pipeline="asking", repetitions=2))

    assert len(server.requests) == 12
    assert budgets.spent(run.pk).cached == 0


def test_every_bad_answer_ends_its_own_case_and_the_run_is_finished(
    make_release, launch, server, monkeypatch
):
    end_soon_what_hangs(monkeypatch, server)
    server.plan(
        *("good", "fenced"),  # 0
        *("refusal",),  # 1
        *("good", "wrong_schema", "prose"),  # 2
        *("failing", "failing", "failing"),  # 3
        *("good", "truncated", "good"),  # 4
        *("reset", "reset", "good", "good"),  # 5
        *("hanging",),  # 6
        *("rate_limited", "rate_limited", "rate_limited"),  # 7: two in a row
        *("too_long",),  # 8
    )

    run = work(launch(release=make_release(10, name="ten"), pipeline="asking"))

    cases = CaseRun.objects.filter(run=run).order_by("pk")
    assert run.status == "finished"
    assert [case.error_class for case in cases] == [
        *("", "permanent", "parse", "transient", "", "", "transient", "rate", "permanent", "")
    ]
    assert {case.attempts for case in cases} == {1}  # tried again in one place only
    parse = cases[2]
    assert parse.usage["prompt_tokens"] == 300  # all three were paid
    assert "also after it was asked again" in in_english(parse.error)
    assert len(server.requests) == 2 + 1 + 3 + 3 + 3 + 4 + 1 + 3 + 1 + 2


def test_a_reply_without_end_fails_its_case_and_says_what_to_set(launch, server, signed_in):
    server.megabytes = 6
    server.plan("endless")

    run = work(launch(pipeline="asking"))

    first, *others = CaseRun.objects.filter(run=run).order_by("pk")
    assert (run.status, first.error_class, first.attempts) == ("finished", "permanent", 1)
    assert first.output is None
    assert first.usage["completion_tokens"] == 16_000  # what it was allowed to be was paid
    assert first.usage["estimated"]
    assert CachedReply.objects.count() == 2 * len(others)
    page = signed_in("noor").get(first.get_absolute_url()).content.decode()
    assert "larger than 4 MB" in page
    assert "Raise LLM_MAX_REPLY_MB" in page


def test_counts_that_cannot_be_true_move_no_budget(launch, server, signed_in):
    server.usage = {"prompt_tokens": -(10**6), "completion_tokens": 10**30}

    run = work(launch(pipeline="asking", budget_tokens=20))

    assert run.status == "paused"  # by our estimate the budget is used up
    total = budgets.spent(run.pk)
    assert 20 <= total.tokens < 100
    assert total.estimated
    page = signed_in("noor").get(f"{run.get_absolute_url()}?tab=provenance").content.decode()
    assert "(partly estimated)" in page


def test_an_output_that_is_too_large_is_not_stored(launch: Any, script: Any, settings: Any) -> None:
    settings.MAX_OUTPUT_MB = 1
    script(lambda case: {"requirements": [], "model": None, "note": "x" * 3 * 2**20})

    run = work(launch())

    case = CaseRun.objects.filter(run=run).first()
    assert (case.output, case.error_class, case.attempts) == (None, "permanent", 1)
    assert in_english(case.error).startswith("The output has 3 MB, more than the 1 MB")


def test_the_cache_forgets_what_was_not_used_for_longest(settings: Any) -> None:
    settings.MAX_CACHE_MB = 1
    made = timezone.now() - timedelta(days=9)
    for number in range(5):
        row = CachedReply.objects.create(key=str(number), reply={}, size=300_000)
        CachedReply.objects.filter(pk=row.pk).update(created_at=made + timedelta(days=number))
    CachedReply.objects.filter(key="0").update(last_used_at=timezone.now())

    assert replies.sweep() == 2  # 1.5 MB of at most 1 MB, and a tenth of room

    assert sorted(CachedReply.objects.values_list("key", flat=True)) == ["0", "3", "4"]
    assert replies.sweep() == 0


# --- pausing ------------------------------------------------------------------------------------


@pytest.mark.postgres
def test_a_storm_pauses_the_run_and_costs_no_results(make_release, launch, server, people):
    run = launch(release=make_release(5, name="five"), pipeline="asking")
    server.plan("good", "good", *["failing"] * 9)

    run = work(run)

    assert run.status == "paused"
    assert "failed (500): The engine stumbled" in in_english(run.pause_reason)
    assert states(run) == ["done", "queued", "queued", "queued", "queued"]
    assert len(server.requests) == 11
    assert Event.objects.filter(verb="run.paused", actor=None).count() == 1

    steering.resume(run, by=people["rita"])
    run = work(run)

    assert run.status == "finished"
    assert run.pause_reason is None
    assert states(run) == ["done"] * 5
    assert len(server.requests) == 11 + 8  # what was answered before is not asked again


def test_a_run_of_few_cases_pauses_when_all_of_them_fail(make_release, launch, server):
    server.default = "failing"

    run = work(launch(release=make_release(1, name="one"), pipeline="asking"))

    assert (run.status, states(run)) == ("paused", ["queued"])


def test_a_server_that_wants_to_be_left_alone_is_left_alone(launch, server):
    server.retry_after = "3600"
    server.plan("rate_limited")

    run = work(launch(pipeline="asking"))

    assert run.status == "paused"
    assert "takes no more requests" in in_english(run.pause_reason)
    assert len(server.requests) == 1
    assert states(run) == ["queued"] * 3


@pytest.mark.parametrize(
    ("way", "reason"),
    [
        ("no_quota", "may spend no more"),
        ("unknown_model", "Correct LLM_MODEL"),
        ("moved", "redirects to http://127.0.0.1:1/v1 (307), and nothing is sent there"),
    ],
)
def test_what_every_case_would_meet_pauses_at_once(launch, server, way, reason):
    server.elsewhere = "http://127.0.0.1:1/v1?key=of-somebody"
    server.plan(way)

    run = work(launch(pipeline="asking"))

    assert run.status == "paused"
    assert reason in in_english(run.pause_reason)
    assert (states(run), len(server.requests)) == (["queued"] * 3, 1)
    assert CaseRun.objects.filter(run=run, attempts__gt=0).count() == 0


def test_a_wrong_key_pauses_and_stands_nowhere(launch, server, settings, caplog):
    caplog.set_level(logging.DEBUG)
    wrong = settings.LLM_API_KEY = "sk-wrong-9876543210zyx"
    run = launch(pipeline="asking")

    run = work(run)

    assert run.status == "paused"
    assert "Correct LLM_API_KEY" in in_english(run.pause_reason)
    stored = [
        run.pause_reason.as_json(),
        run.spec.as_json(),
        run.config,
        str(CaseRun.objects.values("error", "usage")),
    ]
    assert wrong not in json.dumps(stored)
    assert wrong not in json.dumps(list(Event.objects.values_list("data", flat=True)))
    formatter = KeylessFormatter("%(message)s")
    lines = [formatter.format(record) for record in caplog.records]
    assert any("model.wrong_key" in line for line in lines)
    assert wrong not in "\n".join(lines)


def test_a_pipeline_that_swallows_the_stop_is_stopped_all_the_same(launch, server, monkeypatch):
    def swallowing(self: Asking, case: Case) -> Output:
        with suppress(ModelError):
            self.model.complete([ChatMessage("user", case.case_id)])
        return {"requirements": [], "model": None}

    monkeypatch.setattr(Asking, "run", swallowing)
    server.default = "no_quota"

    run = work(launch(pipeline="asking"))

    assert (run.status, states(run)) == ("paused", ["queued"] * 3)
    assert len(server.requests) == 1


def test_a_worker_set_up_for_another_model_pauses_the_run(launch, server, settings):
    run = launch(pipeline="asking")
    settings.LLM_MODEL = "large-1"

    run = work(run)

    assert run.status == "paused"
    assert "uses the model “test/small-1”, and “test/large-1” is set up" in in_english(
        run.pause_reason
    )
    assert server.requests == []


@pytest.mark.parametrize("swallows", [False, True])
def test_a_case_that_takes_too_long_asks_nothing_more_and_fails_alone(
    launch, server, settings, monkeypatch, swallows
):
    ask = Asking.run

    def run_on(self: Asking, case: Case) -> Output:
        with suppress(ModelError) if swallows else nullcontext():
            return ask(self, case)
        return {"requirements": [], "model": None}

    def slowly(body: dict[str, Any]) -> str:
        clock[0] += 2.2
        return server.answer

    clock = [0.0]
    monkeypatch.setattr(metering, "monotonic", lambda: clock[0])
    monkeypatch.setattr(Asking, "run", run_on)
    settings.CASE_TIMEOUT_SECONDS = 2
    server.plan(slowly)

    run = work(launch(pipeline="asking"))

    assert (run.status, states(run)) == ("finished", ["failed", "done", "done"])
    late = CaseRun.objects.filter(run=run).order_by("pk")[0]
    assert "longer than 2 seconds (ASSAY_CASE_TIMEOUT_SECONDS)" in in_english(late.error)
    assert (late.error_class, late.attempts, late.usage["calls"]) == ("transient", 1, 1)
    assert len(server.requests) == 1 + 2 * 2
