"""The queue of files hands on every message once, and the sweep needs no queue at all."""

import logging
import os
import shutil
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import pytest
from celery import Celery
from kombu import Connection

from config import broker
from config.celery import Sweeper, sweep_once
from config.celery import app as celery_app

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def queue(tmp_path):
    """Opens the same queue of files as often as wanted, as different processes would."""
    options = broker.options(tmp_path / "queue")
    connections: list[Connection] = []

    def open_queue():
        connection = Connection(f"{broker.SCHEME}://", transport_options=options)
        connections.append(connection)
        return connection.SimpleQueue("work", serializer="json")

    yield open_queue
    for connection in connections:
        connection.release()


def take_all(queue) -> list[int]:
    taken = []
    while True:
        try:
            message = queue.get(block=False)
        except queue.Empty:
            return taken
        taken.append(message.payload)
        message.ack()


def test_messages_come_out_in_the_order_they_went_in_and_once(queue):
    writer, reader = queue(), queue()
    for number in range(20):
        writer.put(number)

    assert take_all(reader) == list(range(20))
    assert take_all(reader) == []


def test_readers_at_the_same_time_never_get_the_same_message_or_half_of_one(queue):
    writer, readers = queue(), [queue() for _ in range(4)]

    with ThreadPoolExecutor(5) as pool:
        writing = pool.submit(lambda: [writer.put(number) for number in range(200)])
        taken = []
        while not writing.done():
            taken += chain(*pool.map(take_all, readers))
    taken += take_all(readers[0])

    assert writing.exception() is None
    assert sorted(taken) == list(range(200))


def test_nothing_of_a_message_stays_behind(queue, tmp_path):
    writer, reader = queue(), queue()
    writer.put(1)
    take_all(reader)

    left = [path.name for path in (tmp_path / "queue").rglob("*") if path.is_file()]
    assert [name for name in left if not name.endswith(".exchange")] == []


@pytest.mark.parametrize("folder", ["queue", "queue/messages", "queue/taken", "queue/control"])
def test_a_removed_folder_is_made_again_at_both_ends(queue, tmp_path, folder):
    writer, reader = queue(), queue()
    writer.put(1)
    assert take_all(reader) == [1]

    shutil.rmtree(tmp_path / folder)
    writer.put(2)
    assert take_all(reader) == [2]
    shutil.rmtree(tmp_path / folder)
    assert take_all(reader) == []

    writer.put(3)
    assert take_all(reader) == [3]


def test_a_wake_up_that_waits_already_is_not_written_again(tmp_path):
    messages = broker.options(tmp_path / "queue")
    app = Celery("test", broker=f"{broker.SCHEME}://")
    app.conf.broker_transport_options = messages
    for pk in (1, 2, 1, 1, 2):
        app.send_task("wake", [pk])
    app.send_task("other", [1])

    def waiting() -> int:
        return len(list(Path(messages["data_folder_in"]).glob("*.msg")))

    assert waiting() == 3
    with app.connection_for_read() as connection:
        connection.default_channel.basic_get("celery", no_ack=True)
        assert waiting() == 2
        app.send_task("wake", [1])  # the first one is at work, and may have read too early
        assert waiting() == 3
        app.close()


def test_a_worker_with_its_hands_full_is_not_kept_waiting(tmp_path, monkeypatch):
    options = broker.options(tmp_path / "queue")
    with Connection(f"{broker.SCHEME}://", transport_options=options) as connection:
        queue = connection.SimpleQueue("work", serializer="json")
        for number in range(2):
            queue.put(number)
        with connection.Consumer([queue.queue], callbacks=[lambda body, message: None]) as consumer:
            consumer.qos(prefetch_count=1)
            connection.drain_events(timeout=10)
            slept: list[float] = []
            monkeypatch.setattr(broker, "sleep", slept.append)
            with pytest.raises(TimeoutError):
                connection.drain_events(timeout=10)
            assert slept == [broker.BUSY_SECONDS]


@pytest.mark.worker
def test_a_worker_drains_the_queue_as_fast_as_the_work_allows(tmp_path):
    """At two messages for each look at the acknowledgements, 300 took five minutes."""
    program = """
from celery import shared_task
from config.celery import app as celery_app
from pathlib import Path
import sys

done = Path(sys.argv[1])

@shared_task(name="count", acks_late=True)
def count(number):
    with done.open("a") as file:
        file.write(f"{number}\\n")

celery_app.conf.sweep_seconds = 1000
for number in range(300):
    count.delay(number)
celery_app.worker_main(["worker", "--concurrency", "2"])
"""
    done = tmp_path / "done"
    settings = {"ASSAY_DATA_DIR": str(tmp_path), "CELERY_BROKER_URL": "", "DATABASE_URL": ""}
    worker = subprocess.Popen(
        [sys.executable, "-c", program, str(done)],
        cwd=ROOT,
        env={**os.environ, **settings},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(done.exists, worker)
        started = time.monotonic()
        wait_until(lambda: len(done.read_text().split()) == 300, worker)
        assert time.monotonic() - started < 60
    finally:
        worker.kill()
        worker.wait(60)


def wait_until(reached, worker) -> None:
    deadline = time.monotonic() + 180
    while not reached():
        assert time.monotonic() < deadline
        assert worker.poll() is None
        time.sleep(0.05)


def test_the_sweep_comes_again_whatever_one_of_them_met(caplog):
    calls = []

    def sweep() -> None:
        calls.append(1)
        raise RuntimeError("no broker")

    conf = SimpleNamespace(sweep_task="sweep", sweep_seconds=0.01)
    worker = SimpleNamespace(app=SimpleNamespace(conf=conf, tasks={"sweep": sweep}))
    sweeper = Sweeper(worker)
    with caplog.at_level(logging.CRITICAL):
        sweeper.start(worker)
        deadline = time.monotonic() + 60
        while len(calls) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        sweeper.stop(worker)

    assert len(calls) >= 3


def test_a_sweep_that_fails_is_logged(caplog):
    conf = SimpleNamespace(sweep_task="sweep", sweep_seconds=10)

    sweep_once(SimpleNamespace(conf=conf, tasks={}))

    assert "The sweep failed; it is tried again in 10 s." in caplog.text


def test_tasks_are_acknowledged_late_taken_singly_and_travel_as_json():
    conf = celery_app.conf

    assert conf.task_acks_late is True
    assert conf.worker_prefetch_multiplier == 1
    assert conf.accept_content == ["json"]
    assert conf.task_serializer == "json"
    assert conf.result_backend is None


@pytest.mark.worker
def test_the_sweep_runs_in_a_worker_whose_broker_is_away(tmp_path):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        away = f"redis://127.0.0.1:{closed.getsockname()[1]}"
    swept = tmp_path / "swept"
    program = f"""
from pathlib import Path

from celery import shared_task
from config.celery import app as celery_app

@shared_task(name="swept")
def swept():
    Path("{swept}").touch()

celery_app.conf.update(sweep_task="swept", sweep_seconds=0.2)
celery_app.worker_main(["worker", "--pool", "threads", "--concurrency", "1"])
"""
    settings = {"ASSAY_DATA_DIR": str(tmp_path), "CELERY_BROKER_URL": away, "DATABASE_URL": ""}
    worker = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, **settings},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 180
        while not swept.exists() and time.monotonic() < deadline:
            assert worker.poll() is None
            time.sleep(0.1)
        assert swept.exists()
    finally:
        worker.kill()
        worker.wait(60)
