"""What a killed export leaves behind, and how the next one goes on."""

from __future__ import annotations

import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from labeling.exchange import building


def two_files(draft: Path) -> list[Path]:
    (draft / "data").mkdir()
    paths = [draft / "data" / "items.jsonl", draft / "manifest.json"]
    for path in paths:
        path.write_text("all of it")
    return paths


def is_broken_off(draft: Path) -> list[Path]:
    two_files(draft)[0].write_text("half of")
    raise KeyboardInterrupt


@pytest.mark.parametrize("is_there", [False, True])
def test_an_export_that_breaks_off_leaves_nothing_and_can_be_made_again(tmp_path, is_there):
    folder = tmp_path / "deep" / "gold"
    if is_there:
        folder.mkdir(parents=True)

    with pytest.raises(KeyboardInterrupt):
        building.build(folder, is_broken_off)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    written = building.build(folder, two_files)

    assert written == [folder / "data" / "items.jsonl", folder / "manifest.json"]
    assert {path.read_text() for path in written} == {"all of it"}
    assert [path.name for path in folder.parent.iterdir()] == ["gold"]


def test_what_a_killed_export_left_is_replaced(tmp_path):
    left = building.partial_of(tmp_path / "gold")
    (left / "data").mkdir(parents=True)
    (left / "data" / "items.jsonl").write_text("half of")
    (left / "old.json").write_text("of another format")

    building.build(tmp_path / "gold", two_files)

    assert not left.exists()
    assert sorted(path.name for path in (tmp_path / "gold").iterdir()) == ["data", "manifest.json"]


def test_two_exports_do_not_write_into_one_folder(tmp_path):
    left = building.partial_of(tmp_path / "gold")
    left.mkdir()
    other = os.open(left, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)

    with pytest.raises(building.FolderInUse) as refused:
        building.build(tmp_path / "gold", two_files)

    assert refused.value.fact.code == "export.under_way"
    assert left.exists()
    os.close(other)


def test_a_file_is_replaced_as_a_whole_and_a_pipe_is_written_to(tmp_path):
    path = tmp_path / "report.md"
    path.write_text("before")

    path.chmod(0o600)
    with suppress(ValueError), building.whole(path) as file:
        file.write("half of")
        raise ValueError
    assert path.read_text() == "before"
    with building.whole(path) as file:
        file.write("after")
    with building.whole(Path(os.devnull)) as file:
        file.write("nowhere")

    assert path.read_text() == "after"
    assert list(tmp_path.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not Path(os.devnull).is_file()
