import errno
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import pytest

from evaluation.services import stores
from evaluation.services.stores import FileStore


def test_a_key_never_leaves_the_folder(tmp_path: Path) -> None:
    FileStore(tmp_path / "cache").put("../../outside", b"1")

    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_writers_of_one_key_leave_one_whole_file(tmp_path: Path) -> None:
    values = [bytes([number]) * 200_000 for number in range(8)]
    threads = [Thread(target=FileStore(tmp_path).put, args=("key", value)) for value in values]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert FileStore(tmp_path).get("key") in values
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


# --- one at a time ------------------------------------------------------------------------------


def test_a_full_disk_is_not_filled_with_drafts(tmp_path, monkeypatch):
    def refuse(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("evaluation.services.stores.os.replace", refuse)

    with pytest.raises(OSError, match="No space"):
        FileStore(tmp_path).put("key", b"value")

    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_who_comes_second_waits_until_the_first_is_done(tmp_path, monkeypatch):
    waits, entered, alone = Event(), Event(), []
    monkeypatch.setattr(stores, "sleep", lambda _: waits.set())

    def second() -> None:
        with FileStore(tmp_path).alone("key") as taken:
            alone.append(taken)
            entered.set()

    thread = Thread(target=second)
    with FileStore(tmp_path).alone("key") as taken:
        alone.append(taken)
        thread.start()
        assert waits.wait(30)
        assert not entered.is_set()
    thread.join(30)

    assert alone == [True, True]


def test_nobody_waits_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, now, waits = FileStore(tmp_path), [0.0], iter(range(5))

    def wait(_: float) -> None:
        next(waits)
        now[0] += 10

    monkeypatch.setattr(stores, "monotonic", lambda: now[0])
    monkeypatch.setattr(stores, "sleep", wait)

    with store.alone("key"), store.alone("key", at_most=25) as taken:
        assert not taken

    assert now == [30]


def test_a_killed_process_keeps_nobody_waiting(tmp_path: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from evaluation.services.stores import *\n"
        "with FileStore(Path(sys.argv[1])).alone('key'): print('held', flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        said = owner.stdout.readline() if owner.stdout else ""
        with FileStore(tmp_path).alone("key", at_most=0) as while_held:
            owner.kill()
    with FileStore(tmp_path).alone("key", at_most=0) as afterwards:
        assert (said, while_held, afterwards) == ("held\n", False, True)


def test_a_file_system_without_locks_lets_everybody_go_on(tmp_path, monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(stores.fcntl, "flock", refuse)

    with FileStore(tmp_path).alone("key") as taken:
        assert taken
