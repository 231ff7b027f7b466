"""The promise of the queue, kept by a real worker that is killed in the middle of its work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from threading import Semaphore
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.core.management import call_command
from django.utils import timezone

from config.celery import app as celery_app
from evaluation import judge
from evaluation.models import Answer, CaseRun, Judgement, Run, Score
from evaluation.services.judging import judgings
from evaluation.services.run import execution
from labeling.domain.facts import Fact
from labeling.models import Event
from labeling.operation import health
from pipelines import registry
from tests import llm_server
from tests.evaluation import answers as asked
from tests.evaluation import launching
from tests.evaluation.slow_worker import ENTRY, HANGING
from tests.llm_server import Body, LanguageServer
from tests.processes import database_url

pytestmark = [
    pytest.mark.worker,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(900),
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "calls.txt"


@pytest.fixture
def start_worker(tmp_path: Path, log: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Workers on the test's own database and queue; the whole process group is one worker."""
    messages = Path(celery_app.conf.broker_transport_options["data_folder_in"])
    (tmp_path / "broker").symlink_to(messages)
    own = {
        "ASSAY_CASE_LEASE_SECONDS": "5",
        "ASSAY_DATA_DIR": str(tmp_path),
        "CELERY_BROKER_URL": "",
        "DATABASE_URL": database_url(),
        "SLOW_LOG": str(log),
    }
    command = [sys.executable, "-m", "celery", "-A", "tests.evaluation.slow_worker", "worker"]
    started: list[subprocess.Popen[bytes]] = []

    def start(*options: str, last_call: int = 0, **extra: str) -> subprocess.Popen[bytes]:
        """``last_call``: of the slow pipeline, that never comes to an end."""
        with (tmp_path / "worker.log").open("ab") as output:
            worker = subprocess.Popen(
                [*command, "--concurrency", "1", "--loglevel", "INFO", *options],
                cwd=settings.BASE_DIR,
                env=os.environ | own | {"SLOW_LAST": str(last_call)} | extra,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        started.append(worker)
        return worker

    yield start
    for worker in started:
        kill(worker)


def kill(worker: subprocess.Popen[bytes]) -> None:
    """As the kernel does when memory runs out: no warning, no goodbye."""
    if worker.poll() is None:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


def wait_for(reached: Callable[[], bool], *, seconds: float, log: Path) -> None:
    end = time.monotonic() + seconds
    while not reached():
        said = log.read_text() if log.exists() else ""
        assert time.monotonic() < end, f"It took too long.\n{said[-4000:]}"
        time.sleep(0.02)


@pytest.fixture
def turns() -> Semaphore:
    """How many more requests the language model answers; the next one waits."""
    return Semaphore(0)


@pytest.fixture
def speaking(
    settings: Any, monkeypatch: pytest.MonkeyPatch, turns: Semaphore
) -> Iterator[LanguageServer]:
    """A language model, for this process and for the workers to come."""

    def in_turn(body: Body) -> str:
        turns.acquire()
        return asked.speak(body)

    with llm_server.named_by(settings) as server:
        server.default = in_turn
        for name in ("LLM_MODEL", "LLM_BASE_URL", "LLM_API_KEY", "LLM_PROVIDER"):
            monkeypatch.setenv(name, getattr(settings, name))
        yield server


def n_done(run: Run) -> int:
    return CaseRun.objects.filter(run=run, state="done").count()


@pytest.mark.slow
def test_four_workers_that_share_nothing_but_the_database_do_each_case_once(
    make_release, launch, start_worker, log, tmp_path, monkeypatch
):
    """With two data folders, and so two queues."""
    monkeypatch.setitem(registry.PIPELINES, "slow", ENTRY)
    run = launch(release=make_release(60, name="sixty"), pipeline="slow", queue=True)
    said = tmp_path / "worker.log"

    def started(number: int, last_call: int = 0) -> subprocess.Popen[bytes]:
        folder = str(tmp_path / f"machine{number % 2}")
        own = {"ASSAY_DATA_DIR": folder, "ASSAY_CASE_LEASE_SECONDS": "300"}
        return start_worker(last_call=last_call, **own)

    log.touch()
    lost = [started(number, last_call=4) for number in (0, 1)]
    wait_for(lambda: len(log.read_text().split()) == 8, seconds=180, log=said)  # both hang
    for number in (2, 3):
        started(number)
    for worker in lost:
        kill(worker)
    # before the leases of those that were killed end
    wait_for(lambda: is_scored(run), seconds=250, log=said)

    assert n_done(run) == 60
    calls = Counter(log.read_text().split())
    assert len(calls) == 60
    assert sum(calls.values()) == 60 + len(lost)  # those that were cut off, and nothing else


@pytest.mark.postgres
def test_a_worker_killed_twice_in_mid_run_loses_nothing_and_scores_nothing_twice(
    make_release, launch, start_worker, log, tmp_path, monkeypatch
):
    monkeypatch.setitem(registry.PIPELINES, "slow", ENTRY)
    said = tmp_path / "worker.log"
    run = launch(release=make_release(30, name="thirty"), pipeline="slow", queue=True)

    for last_call, enough, ahead in ((6, 5, 7200), (11, 15, 0)):
        worker = start_worker(last_call=last_call, SLOW_AHEAD=str(ahead))
        wait_for(lambda: n_done(run) >= enough, seconds=180, log=said)  # noqa: B023
        kill(worker)
        assert enough <= n_done(run) < 30
    start_worker()
    wait_for(lambda: is_scored(run), seconds=180, log=said)

    cases = CaseRun.objects.filter(run=run)
    assert cases.count() == n_done(run) == 30
    assert len(set(cases.values_list("item_id", flat=True))) == 30
    scored = Score.objects.filter(case__run=run, metric="requirement_f1")
    assert Counter(scored.values_list("case_id", flat=True)) == Counter(
        cases.values_list("pk", flat=True)
    )
    # Each kill costs at most the one case that was in work; nothing that was done is done again.
    calls = log.read_text().split()
    assert len(set(calls)) == 30
    assert len(calls) <= 32
    assert sum(cases.values_list("attempts", flat=True)) <= 32


def test_a_pipeline_that_hangs_costs_its_case_and_not_the_worker(
    make_release, launch, start_worker, tmp_path, monkeypatch
):
    monkeypatch.setitem(registry.PIPELINES, "hanging", HANGING)
    monkeypatch.setenv("ASSAY_CASE_TIMEOUT_SECONDS", "3")
    run = launch(release=make_release(3, name="three"), pipeline="hanging", queue=True)

    start_worker("--pool", "threads")  # as the product starts it, with a single thread to lose
    wait_for(lambda: is_scored(run), seconds=180, log=tmp_path / "worker.log")

    rows = CaseRun.objects.filter(run=run).order_by("pk").values_list("state", "attempts", "error")
    late = Fact("case.too_long", limit=3.0)
    assert list(rows) == [("failed", 1, late), ("done", 1, None), ("done", 1, None)]


@pytest.mark.parametrize(
    ("number", "state"), [(signal.SIGKILL, "running"), (signal.SIGTERM, "queued")]
)
def test_a_worker_that_ends_leaves_no_process_and_gives_back_what_it_can(
    make_release, launch, start_worker, log, tmp_path, monkeypatch, number, state
):
    monkeypatch.setitem(registry.PIPELINES, "hanging", HANGING)
    run = launch(release=make_release(3, name="three"), pipeline="hanging", queue=True)
    said = tmp_path / "worker.log"
    worker = start_worker("--pool", "threads")
    wait_for(log.exists, seconds=180, log=said)  # the pipeline has begun, and hangs
    assert len(processes_of(worker)) > 2

    os.kill(worker.pid, number)  # itself alone, and not its group

    worker.wait(60)
    wait_for(lambda: not processes_of(worker), seconds=60, log=said)
    case = CaseRun.objects.filter(run=run).earliest("pk")
    assert (case.state, case.attempts) == (state, 1 if state == "running" else 0)


def processes_of(worker: subprocess.Popen[bytes]) -> list[str]:
    """What runs in the session of the worker, itself among them."""
    of_all = subprocess.run(
        ["ps", "-e", "-o", "sess=,pid=,stat="], capture_output=True, text=True, check=True
    )
    rows = [line.split() for line in of_all.stdout.splitlines()]
    return [pid for session, pid, state in rows if session == str(worker.pid) and state[0] != "Z"]


@pytest.mark.slow
def test_a_worker_killed_while_it_answers_and_judges_writes_and_judges_nothing_twice(
    speaking, turns, project, start_worker, tmp_path
):
    said = tmp_path / "worker.log"
    release = asked.questions(project, chats=3)
    run = launching.launch(release, pipeline="lexical", evaluate_answers=True, concurrency=4)
    answered = Answer.objects.filter(case__run=run, state="done")
    judged = Judgement.objects.filter(judging__run=run, state="done")

    # the second worker's replies go to the four requests of the first one, too, for which nobody
    # waits any more
    for rows, requests, enough, every in ((answered, 3, 3, 9), (judged, 4 + 6 + 10, 10, 36)):
        worker = start_worker()
        turns.release(requests)
        wait_for(lambda: rows.count() >= enough, seconds=180, log=said)  # noqa: B023
        kill(worker)
        assert enough <= rows.count() < every
    start_worker()
    turns.release(1000)
    wait_for(lambda: is_scored(run), seconds=180, log=said)

    # 9 answers, and 4 judgements each but 3 without a reference answer; a kill costs four calls
    kinds = Counter(asked.kinds_asked(speaking))
    assert (answered.count(), judged.count()) == (9, 36)
    assert sum(kinds.values()) <= 9 + 33 + 2 * 4
    assert len({asked.data_of(body) + asked.system_of(body) for body in speaking.requests}) == 42
    assert sum(judged.values_list("attempts", flat=True)) <= 36 + 4

    speaking.requests.clear()
    strict = judge.shipped("relevance").text.replace("You judge", "You judge hard")
    judgings.request(run, by=None, prompts={"relevance": strict})
    wait_for(lambda: is_scored(run), seconds=180, log=said)

    assert asked.kinds_asked(speaking) == ["relevance"] * 9
    assert answered.count() == 9


def is_scored(run: Run) -> bool:
    return Run.objects.filter(pk=run.pk, scored_at__isnull=False).exists()


@pytest.mark.slow
def test_a_worker_without_the_model_takes_no_judging_away_from_the_command_that_does_it(
    speaking, turns, project, start_worker, tmp_path
):
    run = launching.launch(
        asked.questions(project), pipeline="lexical", evaluate_answers=True, queue=False
    )
    turns.release(1000)
    execution.work(run.pk, uuid4())
    long_ago = timezone.now() - timedelta(days=1)
    Run.objects.filter(pk=run.pk).update(created_at=long_ago, woken_at=long_ago)
    strict = tmp_path / "strict.md"
    strict.write_text(judge.shipped("relevance").text.replace("You judge", "You judge hard"))
    start_worker(LLM_MODEL="", LLM_BASE_URL="", LLM_API_KEY="")
    wait_for(health.has_worker, seconds=180, log=tmp_path / "worker.log")

    def slowly(body: Body) -> str:
        time.sleep(3)  # the worker looks for work every 0.7 s
        return asked.speak(body)

    speaking.default = slowly
    call_command("judge", run.pk, prompt=[f"relevance={strict}"])

    run.refresh_from_db()
    assert (run.paused, run.pause_reason) == (False, None)
    assert Judgement.objects.filter(judging__run=run, kind="relevance", state="done").count() == 6
    verbs = Event.objects.filter(object_id=str(run.pk)).values_list("verb", flat=True)
    assert "run.paused" not in verbs
