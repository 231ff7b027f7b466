"""``backup`` and ``restore``: everything in one private file, and proved when it is back."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import stat
import zipfile
from io import StringIO
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection, connections

from config.postgres import PACKAGE
from labeling.gold.rules import signatures
from labeling.models import GoldRelease, Project, TextVector
from labeling.operation import backups
from tests import factories

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]
MEMBERS = {
    "sqlite": ["database.sqlite3", "secret_key", "gold_key", "manifest.json"],
    "postgresql": ["database.dump", "secret_key", "gold_key", "manifest.json"],
}


@pytest.fixture(autouse=True)
def place(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of an installation that keeps its keys there; programs as new as tests'."""
    settings.DATA_DIR, settings.GOLD_KEY = tmp_path, signatures.make_key()
    (tmp_path / "gold_key").write_text(settings.GOLD_KEY)
    (tmp_path / "secret_key").write_text(settings.SECRET_KEY)
    spec = importlib.util.find_spec(PACKAGE)
    if connection.vendor == "postgresql" and spec and spec.origin:
        folders = Path(spec.origin).parent.glob("pginstall*/bin")
        newest = max(folders, key=lambda path: len(path.parent.name))
        monkeypatch.setenv("PATH", f"{newest}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


@pytest.fixture
def release(project: Project) -> GoldRelease:
    return factories.make_release(project, items=2)


def restored(file: Path, *options: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("restore", str(file), *options, stdout=out)
    except SystemExit as ended:
        return int(ended.code or 0), out.getvalue()
    return 0, out.getvalue()


def test_what_was_backed_up_comes_back_and_is_proved(release, place, settings):
    out = StringIO()
    file, key = place / "today.zip", settings.GOLD_KEY
    call_command("backup", str(file), stdout=out)
    assert "the database and the keys" in out.getvalue()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in place.glob(".*")] == []  # no draft, no copy
    with zipfile.ZipFile(file) as archive:
        assert archive.namelist() == MEMBERS[connection.vendor]
        assert archive.read("gold_key").decode() == key

    Project.objects.update(name="Another")
    User.objects.create(username="newcomer")
    settings.GOLD_KEY = signatures.make_key()  # of a new installation
    (place / "gold_key").write_text(settings.GOLD_KEY)

    status, shown = restored(file, "--replace")

    assert status == 0, shown
    assert f"{release} is intact, 2 items" in shown
    assert "fault" not in shown
    assert Project.objects.get().name != "Another"
    assert not User.objects.filter(username="newcomer").exists()
    assert (place / "gold_key").read_text() == key == settings.GOLD_KEY
    assert len(list(place.glob("gold_key.*"))) == 1  # the one that was there is kept


def test_gold_that_no_known_key_has_signed_is_named(release, place, settings):
    settings.GOLD_KEY = signatures.make_key()
    file = backups.take(place / "today.zip")

    status, shown = restored(file, "--replace")

    assert status == 1
    assert "has faults: 1; assay verify names them" in shown


def test_a_database_that_is_not_empty_stays(release, place):
    backups.take(place / "today.zip")
    with pytest.raises(CommandError, match=r"not empty.*--replace"):
        restored(place / "today.zip")
    assert GoldRelease.objects.exists()


def test_what_cannot_be_restored_changes_nothing(release, place):
    good = backups.take(place / "good.zip")

    def refused(match: str, **changed: Any) -> None:
        bad = shutil.copy(good, place / "bad.zip")
        change(bad, **changed)
        for options in (["--replace"], ["--check"]):
            with pytest.raises(CommandError, match=match):
                restored(bad, *options)

    refused("has the migration labeling.9999_later", migrations=["labeling.9999_later"])
    old = ["labeling.0001_initial", "labeling.0050_plain_names"]
    refused(r"restore it with version 0\.6\.0, run assay migrate", migrations=old)
    refused("is of oracle", vendor="oracle")
    refused("format 3", format=3)
    bits = bytearray(good.read_bytes())
    bits[100:300] = b"\xff" * 200  # of the database, which comes first
    (place / "worn.zip").write_bytes(bits)
    with pytest.raises(CommandError, match=r"damaged: database|can be read"):
        restored(place / "worn.zip", "--check")
    good.write_bytes(good.read_bytes()[:-2000])
    with pytest.raises(CommandError, match="not a backup that can be read"):
        restored(good, "--replace")
    assert GoldRelease.objects.get().items.count() == 2


def test_a_restore_that_fails_on_the_way_leaves_the_database_as_it_was(release, place):
    """The copy ends in the middle: as if the disk or the machine had failed."""
    file = backups.take(place / "today.zip")
    with zipfile.ZipFile(file) as archive:
        content = archive.read(backups.MEMBER[connection.vendor])
    half = place / "half"
    half.write_bytes(content[: len(content) // 2])
    with pytest.raises(Exception, match=r"malformed|pg_restore|psql"):
        backups.replace(str(half))
    assert GoldRelease.objects.get().items.count() == 2


def test_it_is_of_one_moment_while_others_write(project, place):
    over, written = Event(), []

    def write() -> None:
        while not over.is_set():
            TextVector.objects.create(
                encoder="e", text_sha256=f"{len(written):064}", vector=b"0" * 9000
            )
            written.append(1)
        connections.close_all()

    writer = Thread(target=write)
    writer.start()
    try:
        while len(written) < 20:
            over.wait(0.01)
        before = len(written)
        backups.take(place / "today.zip")
        during = len(written)
    finally:
        over.set()
        writer.join()
    status, shown = restored(place / "today.zip", "--replace")
    assert status == 0, shown
    assert before <= TextVector.objects.count() <= during + 1


def test_a_folder_gets_files_by_their_time_and_keeps_the_newest(project, place):
    folder = place / "backups"
    folder.mkdir()
    for day in ("20200101-000000", "20200102-000000"):
        (folder / f"assay-{day}.zip").touch()
    (folder / "mine.zip").touch()
    call_command("backup", str(folder), "--keep", "2", stdout=StringIO())
    names = sorted(path.name for path in folder.iterdir())
    assert (len(names), names[0], names[-1]) == (3, "assay-20200102-000000.zip", "mine.zip")
    with pytest.raises(CommandError, match="is there already"):
        call_command("backup", str(folder / "mine.zip"), stdout=StringIO())


def test_a_program_that_is_missing_is_named(project, place, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    if connection.vendor == "sqlite":
        backups.take(place / "today.zip")  # which needs none
        return
    with pytest.raises(CommandError, match=r"pg_dump is not installed: .*PostgreSQL"):
        call_command("backup", str(place / "today.zip"), stdout=StringIO())
    assert not (place / "today.zip").exists()


def change(file: Path, **values: Any) -> None:
    """Write another manifest into a backup."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members[backups.MANIFEST] = json.dumps(
        {**json.loads(members[backups.MANIFEST]), **values}
    ).encode()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
