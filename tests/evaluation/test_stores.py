from pathlib import Path
from threading import Thread

from evaluation.services.stores import FileStore


def test_what_was_put_is_got_by_another_process(tmp_path: Path) -> None:
    FileStore(tmp_path).put("tokens of ../any text\0", b"\x00\x01")

    assert FileStore(tmp_path).get("tokens of ../any text\0") == b"\x00\x01"


def test_what_was_never_put_is_not_there(tmp_path: Path) -> None:
    assert FileStore(tmp_path / "not made yet").get("key") is None


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
