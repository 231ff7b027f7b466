"""How workers share runs, what a killed one costs, and what a large run needs.

    .venv/bin/python benchmarks/engine.py small killed short build large score list launch
    .venv/bin/python benchmarks/engine.py away    # with a DATABASE_URL of PostgreSQL

``small``: 63 cases, two workers with two threads, concurrency 4, a model that takes a second; the
workers have been up for ten seconds. ``killed``: the same, and one worker is killed in the middle.
``short``: a run of 9 cases launched in the middle of a long one. ``build``: the same while both
threads of the queue build the memory of a long conversation. ``large``: 5,000 cases, a worker
killed every 20 s to the very end, and the run's page asked for meanwhile. ``score``: time and
memory of scoring as many cases. ``list``: the list of 1,000 runs. ``launch``: storing 100,000
cases, how long others wait to write meanwhile, and what claiming costs at the beginning and at the
end. ``away``: the processes of the database are stopped for 9 s in the middle of a run.

The model is a local HTTP server of this process; the database is thrown away (a SQLite file, or the
empty one that DATABASE_URL names).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.product import ROOT, settle

THREADS = 2
"""For long work; a worker has one more, as `assay serve` starts it."""
SETTLED_SECONDS = 10


class Model(ThreadingHTTPServer):
    """Answers every question alike, with an empty list, after a while."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, seconds: float, port: int = 0, content: str = "[]") -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.seconds, self.content = seconds, content
        self.asked: Counter[str] = Counter()
        self.at_once = self.most_at_once = 0
        self.lock = Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A worker that is killed hangs up."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Model

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.asked[body["messages"][-1]["content"][-200:]] += 1
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
        time.sleep(server.seconds)
        with server.lock:
            server.at_once -= 1
        reply = json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "local",
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": "stop",
                        "message": {"role": "assistant", "content": server.content},
                    }
                ],
                "usage": {"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102},
            }
        ).encode()
        try:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)
        except OSError:
            return  # the worker was killed


class Workers:
    def __init__(self, folder: str) -> None:
        self._log = Path(folder) / "workers.log"
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        command = [sys.executable, "-m", "celery", "--app", "config", "worker", "--pool", "threads"]
        with self._log.open("ab") as output:
            worker = subprocess.Popen(
                [*command, "--concurrency", str(THREADS + 1), "--loglevel", "WARNING"],
                cwd=ROOT,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._running.append(worker)

    def kill_the_oldest(self) -> int:
        worker = self._running.pop(0)
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
        return worker.pid

    def wait_until_ready(self, count: int) -> None:
        from labeling.models import WorkerPulse
        from labeling.services import health

        end = time.monotonic() + 120
        while WorkerPulse.objects.count() - len(health.silent(5)) < count:
            if time.monotonic() > end:
                sys.exit(self._log.read_text()[-3000:])
            time.sleep(0.1)

    def end(self) -> None:
        while self._running:
            self.kill_the_oldest()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--cases", type=int, default=5000, help="of large and score")
    parser.add_argument("--many", type=int, default=100_000, help="of launch")
    parser.add_argument("--seconds", type=float, default=1.0, help="that the model takes")
    asked = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="assay-engine-")
    model = Model(asked.seconds)
    Thread(target=model.serve_forever, daemon=True).start()
    os.environ |= {
        "LLM_MODEL": "local",
        "LLM_BASE_URL": f"http://127.0.0.1:{model.server_port}/v1",
        "LLM_MAX_CONCURRENCY": "8",
        "ASSAY_CASE_LEASE_SECONDS": "120",
    }
    workers = Workers(folder)
    try:
        settle(folder)
        for part in asked.parts:
            PARTS[part](model, workers, asked)
            workers.end()
    finally:
        workers.end()
        shutil.rmtree(folder, ignore_errors=True)


def make_release(n: int) -> Any:
    """Gold of events: a text each, with nothing to extract."""
    from labeling.domain.canonical import canonical_json
    from labeling.domain.gold.older import release_sha256
    from labeling.domain.gold.release import item_sha256
    from labeling.models import Conversation, GoldItem, GoldRelease, Guideline, Project

    project, _ = Project.objects.get_or_create(
        slug="engine", defaults={"name": "Engine", "event_schema": {"Sale": ["Buyer"]}}
    )
    guideline, _ = Guideline.objects.get_or_create(
        project=project, version=1, defaults={"body": "Label sales."}
    )
    name = f"g{uuid4().hex[:8]}"
    contents = [_content(f"{name}-{number}") for number in range(n)]
    hashes = [item_sha256(content) for content in contents]
    release = GoldRelease.objects.create(
        project=project,
        layer="events",
        name=name,
        version=1,
        guideline=guideline,
        header="{}",
        sha256=release_sha256({}, hashes),
    )
    talks = Conversation.objects.bulk_create(
        (
            Conversation(
                project=project,
                external_id=content["item_id"],
                n_messages=1,
                content_sha256=digest,
            )
            for content, digest in zip(contents, hashes, strict=True)
        ),
        batch_size=1000,
    )
    GoldItem.objects.bulk_create(
        (
            GoldItem(
                release=release,
                conversation=talk,
                item_id=content["item_id"],
                position=position,
                split="dev",
                how="single",
                canonical=canonical_json(content),
                sha256=digest,
            )
            for position, (talk, content, digest) in enumerate(
                zip(talks, contents, hashes, strict=True)
            )
        ),
        batch_size=1000,
    )
    return release


def _content(name: str) -> dict[str, Any]:
    text = f"Nothing was sold in {name}."
    return {
        "item_id": name,
        "domain": "news",
        "split": "dev",
        "conversation": [
            {"index": 0, "role": "text", "speaker": "", "content": text, "time": None}
        ],
        "layer": "events",
        "gold": {"events": []},
        "provenance": {"how": "single", "annotators": [], "labels": {}},
    }


def launch(n: int, *, concurrency: int = 4, pipeline: str = "events-model") -> Any:
    from evaluation.services.launch import launch as launching

    release = make_release(n)
    return launching.launch(
        launching.LaunchRequest(release=release, pipeline=pipeline, concurrency=concurrency)
    )


def wait_for(reached: Callable[[], bool], *, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > end:
            sys.exit(f"Not reached after {seconds} s.")
        time.sleep(0.1)


def is_scored(run: Any) -> bool:
    return type(run).objects.filter(pk=run.pk, scored_at__isnull=False).exists()


def ended_at(run: Any) -> list[datetime]:
    return sorted(run.cases.values_list("finished_at", flat=True))


def longest_pause(run: Any) -> float:
    moments = ended_at(run)
    return max((later - earlier).total_seconds() for earlier, later in pairwise(moments))


def show(part: str, **figures: object) -> None:
    print(part + ": " + ", ".join(f"{name} {value}" for name, value in figures.items()), flush=True)


def small(model: Model, workers: Workers, asked: Any, *, kill: bool = False) -> None:
    workers.start()
    workers.start()
    workers.wait_until_ready(2)
    time.sleep(SETTLED_SECONDS)
    model.most_at_once = 0
    run = launch(63)
    figures: dict[str, object] = {}
    if kill:
        wait_for(lambda: run.cases.filter(state="done").count() >= 20, seconds=120)
        figures = _kill_one(run, workers)
    wait_for(lambda: is_scored(run), seconds=300)
    run.refresh_from_db()
    ended = ended_at(run)
    if lost := figures.pop("lost", None):
        again = run.cases.filter(pk__in=lost).values_list("finished_at", flat=True)
        late = max((at - figures["killed_at"]).total_seconds() for at in again)
        figures["lost_cases_done_after"] = f"{late:.1f} s"
    figures.pop("killed_at", None)
    show(
        "killed" if kill else "small",
        launch_to_score=f"{(run.scored_at - run.created_at).total_seconds():.1f} s",
        first_case_after=f"{(ended[0] - run.created_at).total_seconds():.1f} s",
        last_case_after=f"{(ended[-1] - run.created_at).total_seconds():.1f} s",
        longest_pause_between_cases=f"{longest_pause(run):.1f} s",
        at_once=model.most_at_once,
        done=run.cases.filter(state="done").count(),
        attempts=sum(run.cases.values_list("attempts", flat=True)),
        **figures,
    )


def _kill_one(run: Any, workers: Workers) -> dict[str, Any]:
    """When, and what it held."""
    from django.utils import timezone

    from evaluation.models import Slot

    killed_at = timezone.now()
    suffix = f":{workers.kill_the_oldest()}"
    owners = Slot.objects.filter(run=run, worker__name__endswith=suffix).values("owner")
    held = run.cases.filter(state="running", owner__in=owners)
    return {"killed_at": killed_at, "lost": list(held.values_list("pk", flat=True))}


def killed(model: Model, workers: Workers, asked: Any) -> None:
    small(model, workers, asked, kill=True)


def short(model: Model, workers: Workers, asked: Any) -> None:
    workers.start()
    workers.wait_until_ready(1)
    long = launch(500)
    wait_for(lambda: long.cases.filter(state="done").count() >= 4, seconds=120)
    quick = launch(9)
    wait_for(lambda: is_scored(quick), seconds=300)
    begun = ended_at(quick)
    show(
        "short",
        first_case_after=f"{(begun[0] - quick.created_at).total_seconds():.1f} s",
        all_cases_after=f"{(begun[-1] - quick.created_at).total_seconds():.1f} s",
        long_meanwhile=long.cases.filter(finished_at__gt=quick.created_at).count(),
    )


def build(model: Model, workers: Workers, asked: Any) -> None:
    from evaluation.models import LayerBuild
    from evaluation.services import memory_builds

    release = make_release(1)
    talks = [_long_talk(release.project, number) for number in range(THREADS)]
    workers.start()
    workers.wait_until_ready(1)
    memory_builds.request(
        talks, project=release.project, config=memory_builds.checked_config({}), by=None
    )
    busy = LayerBuild.objects.filter(owner__isnull=False, finished_at=None)
    wait_for(lambda: busy.count() == THREADS, seconds=120)
    quick = launch(9)
    wait_for(lambda: quick.cases.filter(state="done").exists(), seconds=120)
    still = busy.count()
    wait_for(lambda: is_scored(quick), seconds=300)
    ended = ended_at(quick)
    show(
        "build",
        first_case_after=f"{(ended[0] - quick.created_at).total_seconds():.1f} s",
        all_cases_after=f"{(ended[-1] - quick.created_at).total_seconds():.1f} s",
        builds_at_work_meanwhile=still,
    )


def _long_talk(project: Any, number: int) -> Any:
    from labeling.domain import transcripts
    from labeling.models import Conversation, Transcript

    draw = random.Random(number)
    words = [f"{draw.choice('bdfgklmnprst')}{draw.choice('aeiou')}{index}" for index in range(3000)]
    turns = [
        transcripts.Message(
            index, "user", f"S{index % 2}", " ".join(draw.choices(words, k=40)), None
        )
        for index in range(3000)
    ]
    talk = Conversation.objects.create(
        project=project,
        external_id=f"long-{uuid4().hex}",
        n_messages=len(turns),
        content_sha256=uuid4().hex * 2,
    )
    Transcript.objects.create(conversation=talk, messages=transcripts.written(turns))
    return talk


def away(model: Model, workers: Workers, asked: Any) -> None:
    """All processes of the server stand still, as on a machine that was suspended."""
    from django.db import connection
    from django.utils import timezone

    if connection.vendor != "postgresql":
        sys.exit("away: DATABASE_URL has to name a PostgreSQL server of this machine.")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        server = _parent(cursor.fetchone()[0])
    workers.start()
    workers.start()
    workers.wait_until_ready(2)
    time.sleep(SETTLED_SECONDS)
    run = launch(120)
    wait_for(lambda: run.cases.filter(state="done").count() >= 20, seconds=120)
    processes = [server, *_children(server)]
    _signal(processes, signal.SIGSTOP)
    time.sleep(9)
    _signal([server, *_children(server)], signal.SIGCONT)
    back_at = timezone.now()
    wait_for(lambda: is_scored(run), seconds=300)
    run.refresh_from_db()
    later = [at for at in ended_at(run) if at > back_at]
    show(
        "away",
        goes_on_after=f"{(later[0] - back_at).total_seconds():.1f} s",
        all_four_after=f"{(later[3] - back_at).total_seconds():.1f} s",
        done=run.cases.filter(state="done").count(),
        failed=run.cases.filter(state="failed").count(),
        taken_again=run.cases.filter(attempts__gt=1).count(),
    )


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _signal(pids: list[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue  # it has ended meanwhile


def score(model: Model, workers: Workers, asked: Any) -> None:
    """In this process, all cases done before."""
    from evaluation.models import CaseRun
    from evaluation.services.launch import launch as launching
    from evaluation.services.run import execution

    release = make_release(asked.cases)
    request = launching.LaunchRequest(release=release, pipeline="events-model")
    run = launching.launch(request, queue=False)
    CaseRun.objects.filter(run=run).update(state="done", output={"raw": "[]"})
    release = request = None
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.monotonic()
    execution.work(run.pk, uuid4())
    took = time.monotonic() - start
    run.refresh_from_db()
    assert run.scored_at, run.failure
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    show("score", cases=asked.cases, took=f"{took:.1f} s", peak_grew_by=f"{grown / 1024:.0f} MB")


def large(model: Model, workers: Workers, asked: Any) -> None:
    from django.contrib.auth.models import User
    from django.test import Client

    model.seconds = 0.05
    model.asked.clear()
    admin = User.objects.create(username=uuid4().hex, is_superuser=True, is_staff=True)
    page = Client(HTTP_HOST="localhost")
    page.force_login(admin)
    began = time.monotonic()
    run = launch(asked.cases)
    stored = time.monotonic() - began
    workers.start()
    workers.start()
    workers.wait_until_ready(2)
    began, next_kill, kills, kills_while_scored = time.monotonic(), time.monotonic() + 20, 0, 0
    times: dict[str, list[float]] = {"": [], "progress/": []}
    while not is_scored(run):
        for part, taken in times.items():
            start = time.perf_counter()
            response = page.get(f"/runs/{run.pk}/{part}")
            taken.append(time.perf_counter() - start)
            assert response.status_code in (200, 286), response.status_code
        if time.monotonic() >= next_kill:
            is_open = run.cases.filter(state__in=["queued", "running"]).exists()
            workers.kill_the_oldest()
            workers.start()
            kills, next_kill = kills + 1, time.monotonic() + 20
            kills_while_scored += not is_open
        if time.monotonic() - began > 3600:
            sys.exit("Not finished after an hour.")
        time.sleep(1)
    run.refresh_from_db()
    cases = run.cases
    show(
        "large",
        cases=cases.count(),
        stored_in=f"{stored:.1f} s",
        finished_in=f"{time.monotonic() - began:.0f} s",
        last_case_to_score=f"{(run.scored_at - ended_at(run)[-1]).total_seconds():.1f} s",
        kills=kills,
        kills_while_scored=kills_while_scored,
        done=cases.filter(state="done").count(),
        taken_again=cases.filter(attempts__gt=1).count(),
        asked_more_than_once=sum(count > 1 for count in model.asked.values()),
        longest_pause=f"{longest_pause(run):.1f} s",
        page=_spread(times[""]),
        progress=_spread(times["progress/"]),
    )


def _spread(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    median, high = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]
    return f"{median * 1000:.0f} ms (95 %: {high * 1000:.0f}, most: {ordered[-1] * 1000:.0f})"


def list_of_runs(model: Model, workers: Workers, asked: Any) -> None:
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from evaluation.services.run import execution

    page = Client(HTTP_HOST="localhost")
    page.force_login(User.objects.create(username=uuid4().hex, is_superuser=True))
    release = make_release(3)
    from evaluation.services.launch import launch as launching

    for _ in range(1000):
        request = launching.LaunchRequest(release=release, pipeline="nothing")
        run = launching.launch(request, queue=False)
        execution.work(run.pk, uuid4())
    page.get("/runs/")
    taken = []
    for _ in range(10):
        start = time.perf_counter()
        with CaptureQueriesContext(
            connection,
        ) as queries:
            page.get("/runs/")
        taken.append(time.perf_counter() - start)
    show("list", runs=1000, page=_spread(taken), queries=len(queries))


def launch_many(model: Model, workers: Workers, asked: Any) -> None:
    """Another process' short write is tried all the time, as a page that saves would."""
    from django.db import connections

    from evaluation.models import CaseRun
    from evaluation.services.work import leases, slots
    from labeling.services import health

    waits: list[float] = []
    done = False

    def write() -> None:
        while not done:
            start = time.perf_counter()
            health.beat("somebody who saves")
            waits.append(time.perf_counter() - start)
            time.sleep(0.02)
        connections.close_all()

    from evaluation.services.launch import launch as launching

    release = make_release(asked.many)
    other = Thread(target=write)
    other.start()
    start = time.monotonic()
    request = launching.LaunchRequest(release=release, pipeline="events-model")
    run = launching.launch(request, queue=False)
    took = time.monotonic() - start
    done = True
    other.join()

    def claims() -> str:
        taken = []
        for _ in range(50):
            owner, begun = uuid4(), time.perf_counter()
            case = leases.claim_case(run.pk, owner)
            taken.append(time.perf_counter() - begun)
            assert case is not None
            leases.finish(case, owner, state="done", output={"raw": "[]"}, error=None)
        return _spread(taken)

    def looks() -> str:
        type(run).objects.filter(pk=run.pk).update(woken_at=run.created_at, concurrency=4)
        taken = []
        health.beat("a worker")
        for _ in range(20):
            begun = time.perf_counter()
            slot = slots.take("a worker")
            taken.append(time.perf_counter() - begun)
            if slot:
                slots.let_go(slot.owner)
        return _spread(taken)

    first, look = claims(), looks()
    rows = CaseRun.objects.filter(run=run, state="queued").order_by("pk")
    last = rows.values_list("pk", flat=True)[max(0, rows.count() - 100)]
    CaseRun.objects.filter(run=run, state="queued", pk__lt=last).update(
        state="done", output={"raw": "[]"}
    )
    show(
        "launch",
        cases=asked.many,
        stored_in=f"{took:.1f} s",
        others_waited_at_most=f"{max(waits):.2f} s",
        claim_first=first,
        claim_last=claims(),
        look_first=look,
        look_last=looks(),
    )


PARTS: dict[str, Callable[[Model, Workers, Any], None]] = {
    "small": small,
    "killed": killed,
    "short": short,
    "build": build,
    "away": away,
    "large": large,
    "score": score,
    "list": list_of_runs,
    "launch": launch_many,
}


if __name__ == "__main__":
    main()
