"""The process that computes vectors for all others: started when needed, private, and replaced."""

import os
import signal
import socket
import stat
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

import numpy as np
import pytest

from labeling.domain.encoding import network, place, service, shared, wire
from labeling.domain.encoding.network import DIMENSIONS
from labeling.domain.encoding.place import Place
from pipelines.memory.retrieval.adapter import Adapted, shipped

TEXTS = ["a short text", "", "Grüße, 你好 🙂", "\ud800", "word " * 300]
ADAPTED = Adapted(shipped())
PLAIN, OTHER = (network.Network.__new__(network.Network) for _ in range(2))  # without weights


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Place]:
    there = Place(tmp_path / "encoder", idle_seconds=60)
    place.use(there)
    yield there
    place.use(None)
    if (there.folder / there.name).exists():
        os.kill(process_of(there), signal.SIGKILL)


def process_of(there: Place) -> int:
    with closing(shared.connected(there)) as connection:
        return wire.peer(connection)


def is_running(process: int) -> bool:
    status = Path(f"/proc/{process}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


def wait_for_end(process: int) -> None:
    until = monotonic() + 30
    while is_running(process):
        assert monotonic() < until, "It still runs."
        sleep(0.05)


def test_it_gives_the_vectors_of_this_process_also_after_it_was_killed_in_the_middle(
    at: Place,
) -> None:
    place.use(None)
    expected, rows = ADAPTED.encode_both(TEXTS)
    plain = shared.get(network.packaged_folder()).sentences(TEXTS)
    place.use(at)

    remote = shared.get(network.packaged_folder())
    first = process_of(at)
    busy = Thread(target=lambda: results.append(remote.sentences(TEXTS)))
    results: list[network.Vectors] = []
    os.kill(first, signal.SIGSTOP)  # it takes the request and will not answer
    busy.start()
    sleep(0.1)  # in which it is asked
    assert busy.is_alive()
    os.kill(first, signal.SIGKILL)
    busy.join()
    sentences, again = ADAPTED.encode_both(TEXTS)  # changes that the new process doesn't know yet

    assert results[0] == pytest.approx(plain, abs=1e-6)
    assert process_of(at) != first
    assert sentences == pytest.approx(expected, abs=1e-6)
    for (pieces, vectors), (known, own) in zip(again, rows, strict=True):
        assert pieces == known
        assert vectors == pytest.approx(own, abs=1e-6)


def test_nobody_else_may_enter_its_folder_and_many_callers_start_it_once(at: Place) -> None:
    at.folder.mkdir(mode=0o755)

    with ThreadPoolExecutor(8) as pool:
        processes = set(pool.map(process_of, [at] * 8))

    assert len(processes) == 1
    assert stat.S_IMODE(at.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((at.folder / at.name).stat().st_mode) == 0o600


def test_a_path_that_is_too_long_for_a_socket_works(tmp_path: Path) -> None:
    there = Place(tmp_path / ("long" * 30) / "encoder", idle_seconds=0.1)

    process = process_of(there)

    wait_for_end(process)  # idle: the next one starts another
    assert not (there.folder / there.name).exists()


def test_it_ends_with_its_folder(at: Place) -> None:
    with closing(listening(at)) as socket_of_it:
        serving = service.Service(socket_of_it, at, inode_of(at))
        (at.folder / at.name).unlink()

        serving.serve()


def test_it_leaves_the_socket_of_another_process(at: Place) -> None:
    with closing(listening(at)) as first, closing(socket.socket(socket.AF_UNIX)) as second:
        serving = service.Service(first, replace(at, idle_seconds=0), inode_of(at))
        (at.folder / at.name).rename(at.folder / "replaced")
        with at.address() as address:
            second.bind(address)

        assert serving._closed()

    (at.folder / at.name).unlink()


def listening(there: Place) -> socket.socket:
    there.prepare()
    connection = socket.socket(socket.AF_UNIX)
    with there.address() as address:
        connection.bind(address)
    connection.listen()
    return connection


def inode_of(there: Place) -> int:
    return (there.folder / there.name).stat().st_ino


def test_a_process_of_another_container_has_another_socket(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = at.name
    place._machine.cache_clear()
    monkeypatch.setattr(os, "readlink", lambda _: "pid:[1]")
    other = at.name
    monkeypatch.undo()
    place._machine.cache_clear()

    assert other != own == at.name


@pytest.mark.parametrize(
    ("process", "answers", "silent", "killed"),
    [
        (0, False, 0, []),
        (4711, False, 0, [4711]),
        (4711, True, 0, []),
        (4711, True, 1000, [4711]),
    ],
    ids=["no number", "hangs", "busy for others", "computes nothing"],
)
def test_only_a_process_that_hangs_is_killed_when_time_is_over(
    at: Place,
    monkeypatch: pytest.MonkeyPatch,
    process: int,
    answers: bool,
    silent: float,
    killed: list[int],
) -> None:
    waiting, unanswered = socket.socketpair()
    asking, asked = socket.socketpair()
    for connection in (waiting, asking):
        connection.settimeout(1 if answers and connection is asking else 0.01)
    serving = service.Service(asked, at, 0)
    serving._jobs._last -= silent
    if answers:
        Thread(target=serving._talk, args=[asked]).start()
    monkeypatch.setattr(shared, "connected", lambda _: waiting)
    monkeypatch.setattr(shared, "_connection", lambda *_: asking)
    monkeypatch.setattr(wire, "peer", lambda _: process)
    kills: list[int] = []
    monkeypatch.setattr(os, "kill", lambda process, _: kills.append(process))

    with closing(unanswered), closing(asking), closing(asked), pytest.raises(TimeoutError):
        shared.Remote(at, Path())._once(request("a"))

    assert kills == killed


def test_a_connection_of_another_user_is_closed_unheard(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller, called = socket.socketpair()
    monkeypatch.setattr(wire, "_credentials", lambda _: (1, os.getuid() + 1, 1))

    service.Service(called, at, 0)._talk(called)

    with closing(caller), pytest.raises(EOFError):
        wire.receive(caller)


def test_a_process_that_dies_again_is_not_started_for_ever(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Place] = []
    monkeypatch.setattr(shared, "_start", started.append)
    monkeypatch.setattr(shared, "PAUSES", (0.0, 0.0))

    with pytest.raises(shared.EncoderFailed, match="failed again"):
        shared.get(network.packaged_folder()).sentences(["a"])

    assert len(started) == 3


@pytest.mark.parametrize("script", ["exit 1", "exec sleep 9"])
def test_a_process_that_does_not_start_is_an_error_that_is_tried_again_later(
    at: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str
) -> None:
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(shared, "START_SECONDS", 0.05)
    monkeypatch.setattr(shared, "PAUSES", (0.0,))

    with pytest.raises(shared.EncoderFailed, match="did not start"):
        shared.get(network.packaged_folder()).sentences(["a"])


def test_small_requests_go_first_and_those_for_one_network_together() -> None:
    jobs = service.Jobs()
    waiting = [
        service.Job(request("large" * 2000), PLAIN),
        service.Job(request("small"), PLAIN),
        service.Job(request("tiny"), OTHER),
        service.Job(request("small too"), PLAIN),
    ]
    jobs._waiting = list(waiting)

    taken = [jobs.take() for _ in range(3)]

    assert taken == [[waiting[2]], [waiting[1], waiting[3]], [waiting[0]]]


def test_what_has_waited_long_comes_before_what_is_smaller() -> None:
    jobs = service.Jobs()
    long_ago = monotonic() - 10
    large = service.Job(request("large" * 2000), PLAIN, since=long_ago)
    larger = service.Job(request("larger" * 2000), PLAIN, since=long_ago - 1)
    small = service.Job(request("small"), OTHER)
    jobs._waiting = [small, large, larger]

    assert [jobs.take() for _ in range(3)] == [[larger], [large], [small]]


def request(text: str, key: str = "") -> wire.Request:
    return wire.Request(what="sentences", folder="", key=key, short=False, texts=[text], changes=[])


def test_a_waiting_request_is_answered_by_its_network_though_others_pushed_that_out(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Fake:
        def __init__(
            self, folder: Path, changes: network.Changes | None = None, *, short: bool
        ) -> None:
            self.number = 0.0 if changes is None else float(changes["m"][0][0])

        def both(self, texts: list[str]) -> list[network.Encoded]:
            row = np.full(DIMENSIONS, self.number, dtype=np.float32)
            return [network.Encoded(row, (), row[None][:0]) for _ in texts]

    monkeypatch.setattr(shared, "Network", Fake)
    with closing(socket.socket()) as unused:
        asked = service.Service(unused, at, 0)
    changed = wire.Request(**{**request("a", key="7"), "changes": [("m", (1,), (1,))]})
    raw = np.array([7, 7], dtype="<f4").tobytes()

    def pushed_out(job: service.Job) -> None:
        for number in range(shared.AT_HAND):
            asked._networks.get((f"other {number}", "", False))
        asked._encode([job])

    monkeypatch.setattr(asked._jobs, "do", pushed_out)

    answer, vector = asked._answer(changed, raw)

    assert not answer
    assert vector == np.full(DIMENSIONS, 7, dtype="<f4").tobytes()
    assert asked._answer(request("a", key="7"), b"") == ({"unknown": True}, b"")


def test_a_request_that_fails_is_answered_and_ends_nothing(
    at: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def __init__(self, *_: object, short: bool) -> None:
            """Loaded without an error."""

    monkeypatch.setattr(os, "cpu_count", lambda: 1)  # so the thread that failed goes on
    with closing(listening(at)) as socket_of_it:
        serving = Thread(target=service.Service(socket_of_it, at, inode_of(at)).serve)
        serving.start()

        with pytest.raises(RuntimeError, match="No such file"):
            shared.get(tmp_path / "gone").sentences(["a"])
        monkeypatch.setattr(shared, "Network", Broken)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="has no attribute 'both'"):
                shared.get(tmp_path).sentences(["a"])

        (at.folder / at.name).unlink()
        serving.join()
