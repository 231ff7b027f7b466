from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any
from uuid import uuid4

import pytest

from evaluation.layers.base import FAILED
from evaluation.models import Aggregate, CaseRun, Run, Score
from evaluation.services import memory_builds
from evaluation.services.run import execution
from evaluation.services.stores import FileStore
from evaluation.services.work import leases, steering, working
from labeling.agreement import vectors
from labeling.domain.facts import Fact
from labeling.models import Conversation
from labeling.words import in_english
from pipelines import registry
from pipelines.memory.layers.config import LayersConfig
from pipelines.types import Case, Output
from tests.evaluation.chat_gold import answer
from tests.evaluation.conftest import Scripted, fails, perfect, work
from tests.refusals import refused

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


def test_a_failure_that_nobody_foresaw_is_logged_as_a_fault(launch, script, caplog):
    def one_breaks_and_one_is_malformed(case: Case) -> Output:
        if case.case_id == "case-001":
            raise KeyError("title")
        return {} if case.case_id == "case-002" else perfect(case)

    script(one_breaks_and_one_is_malformed)
    with caplog.at_level("INFO"):
        run = work(launch())

    failed = [record for record in caplog.records if " failed" in record.message]
    levels = sorted(record.levelname for record in failed)
    assert levels == ["ERROR", "INFO", "INFO", "INFO"]  # an output is asked for three times
    assert [record.exc_info[0] for record in failed if record.levelname == "ERROR"] == [KeyError]
    assert CaseRun.objects.filter(run=run, state="failed").count() == 2


def test_a_case_that_fails_scores_the_worst_value_and_is_counted(launch: Any, script: Any) -> None:
    pipeline = script(fails(KeyError("title"), at="case-001"))

    run = work(launch())

    f1 = Aggregate.objects.get(run=run, metric="requirement_f1")
    assert f1.mean == pytest.approx(2 / 3)  # (1 + 0 + 1) / 3
    assert (f1.n, f1.n_failed, f1.n_undefined) == (3, 1, 0)
    ece = Aggregate.objects.get(run=run, metric="ece")
    assert ece.n_failed == 1
    assert ece.mean == pytest.approx((0.2 + 0.2 + 1) / 3)  # |1 - 0.8| twice, then the worst
    failed = CaseRun.objects.get(run=run, state="failed")
    assert (failed.error_class, failed.error) == (
        "permanent",
        Fact("error.unforeseen", kind="KeyError", said="'title'"),
    )
    own = Score.objects.filter(case=failed)
    assert set(own.values_list("value", flat=True)) == {0.0}
    assert set(own.values_list("reason", flat=True)) == {FAILED}
    assert pipeline.seen.count("case-001") == 1  # the same input would fail in the same way


def test_an_undefined_score_has_a_reason_and_is_counted(launch: Any) -> None:
    run = work(launch(pipeline="nothing"))

    score = Score.objects.filter(case__run=run, metric="type_accuracy").first()
    assert score.value is None
    assert score.reason == Fact("metric.no_similar_text")
    aggregate = Aggregate.objects.get(run=run, metric="type_accuracy")
    assert (aggregate.mean, aggregate.n, aggregate.n_undefined) == (None, 0, 3)
    assert aggregate.reason == score.reason
    assert Aggregate.objects.get(run=run, metric="ece").reason


def test_a_transient_error_is_tried_three_times(launch, script, monkeypatch):
    monkeypatch.setitem(working.RETRY_SECONDS, CaseRun.ErrorClass.TRANSIENT, 0)

    pipeline = script(fails(ConnectionError("refused")))

    run = work(launch())

    assert pipeline.seen.count("case-000") == 3
    case = CaseRun.objects.filter(run=run).first()
    assert (case.state, case.attempts, case.error_class) == ("failed", 3, "transient")
    assert run.status == "finished"


def test_a_transient_error_waits_before_the_next_try(launch: Any, script: Any) -> None:
    pipeline = script(fails(TimeoutError()))

    run = work(launch())

    assert len(pipeline.seen) == 3  # each case once; then they wait
    assert run.status == "running" or run.status == "queued"
    assert CaseRun.objects.filter(run=run, state="queued", attempts=1).count() == 3


def test_what_a_library_says_of_a_failure_is_stored_without_keys_and_cut(launch, script, settings):
    settings.LLM_API_KEY = "wxyz-very-secret"

    said = f"401 for {settings.LLM_API_KEY} at http://me:pw@host/ {'x' * 10_000}"
    script(fails(ValueError(said)))

    error = CaseRun.objects.filter(run=work(launch())).values_list("error", flat=True)[0]

    assert error.values["kind"] == "ValueError"
    assert error.values["said"].startswith("401 for [key] at http://[key]@host/ xxx")
    assert len(error.values["said"]) == working.LONGEST_ERROR


def test_a_pipeline_that_cannot_be_built_fails_the_run_with_a_sentence(launch, monkeypatch):
    def broken(*args: Any, **options: Any) -> None:
        raise ImportError("No module named langgraph\x00\ud800")

    monkeypatch.setattr("pipelines.registry.build", broken)

    run = work(launch())

    assert run.status == "failed"
    assert in_english(run.failure) == (
        "The pipeline cannot be built: ImportError: No module named langgraph\ufffd?"
    )
    assert CaseRun.objects.filter(run=run, attempts=0).count() == 3


def test_a_run_is_not_continued_by_another_version(launch, script, signed_in):
    pipeline = script(perfect)
    run = launch()
    Run.objects.filter(pk=run.pk).update(pipeline_version="0.9")

    run = work(run)

    assert "version 0.9" in in_english(run.failure)
    assert pipeline.seen == []
    notice = signed_in("noor").get(run.get_absolute_url()).content.decode()
    notice = notice.partition("could not be carried out")[2].partition("</form>")[0]
    assert "Run again" in notice  # trying again would fail again


def test_a_paused_run_stops_before_the_next_case_and_goes_on_when_resumed(launch, script, people):
    run = launch()

    def pause_then_answer(case: Case) -> Output:
        if case.case_id == "case-000":
            steering.pause(run, by=people["rita"])
        return perfect(case)

    pipeline = script(pause_then_answer)
    assert work(run).status == "paused"
    assert pipeline.seen == ["case-000"]

    steering.resume(run, by=people["rita"])

    assert work(run).status == "finished"
    assert pipeline.seen == ["case-000", "case-001", "case-002"]


def test_a_cancelled_run_does_nothing_more(launch: Any, script: Any, people: Any) -> None:
    pipeline = script(perfect)
    run = launch()

    steering.cancel(run, by=people["rita"])

    assert work(run).status == "cancelled"
    assert pipeline.seen == []
    with refused(steering.RunRefused, match="unfinished run"):
        steering.resume(run, by=people["rita"])


def test_a_run_that_is_cancelled_while_it_is_scored_stays_cancelled(
    launch, script, people, monkeypatch
):
    script(perfect)
    run = launch()
    ruler = vectors.ruler

    def cancelled_meanwhile() -> Any:
        if not Run.objects.get(pk=run.pk).cancelled:  # people's figures need the ruler, too
            steering.cancel(run, by=people["rita"])
        return ruler()

    monkeypatch.setattr(vectors, "ruler", cancelled_meanwhile)

    assert work(run).status == "cancelled"
    assert not Score.objects.exists()


def test_scores_are_computed_anew_without_running_the_pipeline(launch, script, people):
    pipeline = script(perfect)
    run = work(launch())
    first = list(Score.objects.order_by("pk").values_list("pk", "metric", "value"))
    calls = len(pipeline.seen)

    steering.rescore(run, by=people["rita"])
    run = work(run)

    assert run.status == "finished"
    assert len(pipeline.seen) == calls
    assert list(Score.objects.order_by("pk").values_list("pk", "metric", "value")) == first


def test_a_run_that_is_not_done_is_not_scored(launch: Any, people: Any) -> None:
    with refused(steering.RunRefused, match="all done"):
        steering.rescore(launch(), by=people["rita"])


class Preparing(Scripted):
    """A pipeline that gets ready first, as the test says."""

    def __init__(self, prepare: Callable[[Case], None]) -> None:
        super().__init__(lambda case: answer([4]))
        self.get_ready = prepare

    def prepare(self, case: Case) -> None:
        self.seen.append(f"before {case.case_id}")
        self.get_ready(case)


@pytest.fixture
def preparing(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Case], None]], Preparing]:
    def use(prepare: Callable[[Case], None]) -> Preparing:
        pipeline = Preparing(prepare)
        monkeypatch.setattr(registry, "build", lambda *_, **__: pipeline)
        return pipeline

    return use


def test_a_conversation_is_prepared_once_outside_the_limit_of_a_question(
    chat, preparing, finished, monkeypatch, settings
):
    settings.CASE_LEASE_SECONDS, settings.CASE_TIMEOUT_SECONDS = 0.03, 0.01
    held, renewed = [], Event()
    monkeypatch.setattr(leases.WorkLease, "renew", lambda _: not renewed.set())

    def take_long(case: Case) -> None:
        held.append(renewed.wait(60))  # nobody renews after the limit of a question
        settings.CASE_LEASE_SECONDS, settings.CASE_TIMEOUT_SECONDS = 120, 900.0

    pipeline = preparing(take_long)

    run = finished(release=chat())

    assert set(run.cases.values_list("state", "error")) == {("done", None)}
    assert held == [True]
    ids = [f"Chat_1:QA-00{number}" for number in (1, 2, 3)]
    assert pipeline.seen == [f"before {ids[0]}", *ids]


def test_what_cannot_be_prepared_is_told_by_its_cases_alone(chat, preparing, finished):
    def fail(case: Case) -> None:
        raise ValueError("no")

    preparing(fail)
    run = finished(release=chat())  # whose questions are answered all the same

    assert set(run.cases.values_list("state", "error")) == {("done", None)}


def test_who_is_stopped_while_preparing_gives_the_case_back(chat, preparing, launch):
    def stop(case: Case) -> None:
        raise KeyboardInterrupt

    preparing(stop)
    run = launch(release=chat())

    with pytest.raises(KeyboardInterrupt):
        execution.work(run.pk, uuid4())

    held = run.cases.values_list("state", "owner", "attempts")
    assert set(held) == {("queued", None, 0)}


def test_a_run_is_alone_at_what_it_prepares(chat: Any, preparing: Any, finished: Any) -> None:
    release = chat()
    conversation = Conversation.objects.get(external_id="Chat_1")
    key = f"layers-{conversation.pk}-{memory_builds.key_of(LayersConfig())}"
    free: list[bool] = []

    def look(case: Case) -> None:
        with FileStore().alone(key, at_most=0) as taken:
            free.append(taken)

    preparing(look)

    finished(release=release)

    assert free == [False]
