"""The process that computes vectors for all others: started when needed, private, and replaced."""

import os
import signal
import socket
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
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
    assert remote.sentences(TEXTS) == pytest.approx(plain, abs=1e-6)
    first = process_of(at)
    busy = Thread(target=lambda: results.append(remote.sentences(["word " * 250] * 24)))
    results: list[network.Vectors] = []
    busy.start()
    sleep(0.3)
    assert busy.is_alive()
    os.kill(first, signal.SIGKILL)
    busy.join()
    sentences, again = ADAPTED.encode_both(TEXTS)  # changes that the new process doesn't know yet

    assert results[0].shape == (24, DIMENSIONS)
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
    process = process_of(at)
    (at.folder / at.name).unlink()

    wait_for_end(process)


def test_a_connection_of_another_user_is_closed_unheard(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller, called = socket.socketpair()
    monkeypatch.setattr(wire, "_credentials", lambda _: (1, os.getuid() + 1, 1))

    service.Service(called, at)._talk(called)

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


def request(text: str, key: str = "") -> wire.Request:
    return wire.Request(what="sentences", folder="", key=key, texts=[text], changes=[])


def test_a_waiting_request_is_answered_by_its_network_though_others_pushed_that_out(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Fake:
        def __init__(self, folder: Path, changes: network.Changes | None = None) -> None:
            self.number = 0.0 if changes is None else float(changes["m"][0][0])

        def both(self, texts: list[str]) -> list[network.Encoded]:
            row = np.full(DIMENSIONS, self.number, dtype=np.float32)
            return [network.Encoded(row, (), row[None][:0]) for _ in texts]

    monkeypatch.setattr(shared, "Network", Fake)
    with closing(socket.socket()) as unused:
        asked = service.Service(unused, at)
    changed = wire.Request(**{**request("a", key="7"), "changes": [("m", (1,), (1,))]})
    raw = np.array([7, 7], dtype="<f4").tobytes()

    def pushed_out(job: service.Job) -> None:
        for number in range(shared.AT_HAND):
            asked._networks.get((f"other {number}", ""))
        asked._encode([job])

    monkeypatch.setattr(asked._jobs, "do", pushed_out)

    answer, vector = asked._answer(changed, raw)

    assert not answer
    assert vector == np.full(DIMENSIONS, 7, dtype="<f4").tobytes()
    assert asked._answer(request("a", key="7"), b"") == ({"unknown": True}, b"")


def test_a_request_that_fails_is_answered_and_ends_nothing(at: Place, tmp_path: Path) -> None:
    process = process_of(at)

    with pytest.raises(RuntimeError, match="No such file"):
        shared.get(tmp_path / "gone").sentences(["a"])

    assert process_of(at) == process
