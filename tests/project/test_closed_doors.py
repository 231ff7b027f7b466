"""What commands and servers refuse before they begin."""

from __future__ import annotations

import errno
import os
import sqlite3
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import pytest
from django.core.management import get_commands
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from config import command, serve, weak_secrets
from config.env import ROOT

GOOD = "Vb9kP2xQ7mT4wZ8rL1nC6yH3sD5fG0jAeUiOqWp"
OURS = [name for name, app in get_commands().items() if app in ("labeling", "evaluation")]


# --- a newer database -----------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_newer_database_is_refused_by_every_command(monkeypatch):
    MigrationRecorder(connection).record_applied("labeling", "9999_of_tomorrow")
    monkeypatch.setattr(command, "become", lambda program: pytest.fail("It started."))

    for name in (*OURS, "migrate", "check", "web", "worker"):
        with pytest.raises(SystemExit, match=r"newer version.*labeling\.9999_of_tomorrow"):
            command.run([name])


def test_serve_refuses_a_newer_database_without_a_traceback(tmp_path: Path) -> None:
    env = {
        **os.environ,
        "ASSAY_DATA_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path / 'assay.sqlite3'}",
    }
    with sqlite3.connect(tmp_path / "assay.sqlite3") as database:
        database.execute("CREATE TABLE django_migrations (id, app, name, applied)")
        row = (1, "evaluation", "9999_of_tomorrow", "2026-11-29")
        database.execute("INSERT INTO django_migrations VALUES (?, ?, ?, ?)", row)
    database.close()
    run = [sys.executable, "-m", "config.command", "serve"]
    done = subprocess.run(run, cwd=ROOT, env=env, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "evaluation.9999_of_tomorrow" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


# --- secrets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("secret", ["a", "a" * 64, "abcdefghij" * 6, "0123456789ab" * 5, GOOD[:31]])
def test_a_weak_secret_is_named_and_refused(secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_SECRET_KEY", secret)
    monkeypatch.delenv("ASSAY_DEMO", raising=False)

    assert any("ASSAY_SECRET_KEY" in fault for fault in weak_secrets.faults())
    with pytest.raises(serve.Obstacle, match="ASSAY_SECRET_KEY is too short or too regular"):
        serve.require_strong(demo=False)
    serve.require_strong(demo=True)


def test_a_random_secret_is_never_weak() -> None:
    for _ in range(50):
        random = os.urandom(32)
        forms = (random, random.hex().encode(), b64encode(random), random[:24].hex().encode())
        assert not any(map(weak_secrets.is_weak, forms))


def test_a_gold_key_of_zeros_is_weak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_GOLD_KEY", b64encode(bytes(32)).decode())

    assert any("ASSAY_GOLD_KEY" in fault for fault in weak_secrets.faults())


@pytest.mark.parametrize(("mode", "may"), [(0o602, "write to"), (0o644, "read"), (0o640, "")])
def test_settings_that_everybody_may_open_are_named(mode, may, tmp_path, monkeypatch):
    file = tmp_path / "settings"
    file.write_text(f"ASSAY_SECRET_KEY={GOOD}\n")
    file.chmod(mode)
    monkeypatch.setenv("ASSAY_ENV_FILE", str(file))

    faults = [fault for fault in weak_secrets.faults() if str(file) in fault]

    assert [f"may {may} " in fault for fault in faults] == ([True] if may else [])


def test_settings_without_a_secret_may_be_read_by_everybody(tmp_path, monkeypatch):
    file = tmp_path / "settings"
    file.write_text("ASSAY_PORT=8000\n")
    file.chmod(0o644)
    monkeypatch.setenv("ASSAY_ENV_FILE", str(file))

    assert list(weak_secrets.faults()) == []


# --- disks and folders ----------------------------------------------------------------------------


def sqlite_error(name: str) -> OperationalError:
    cause = sqlite3.OperationalError("disk I/O error")
    cause.sqlite_errorname = name
    error = OperationalError("disk I/O error")
    error.__cause__ = cause
    return error


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "The disk is full"),
        (sqlite_error("SQLITE_FULL"), "The disk is full"),
        (OSError(errno.EROFS, "Read-only file system", "/data/out"), "Cannot write.*/data/out"),
        (sqlite_error("SQLITE_READONLY"), "Cannot write"),
    ],
)
def test_a_full_disk_and_a_closed_folder_end_every_command_in_a_sentence(
    error, sentence, monkeypatch
):
    def fail(arguments: list[str]) -> None:
        raise error

    monkeypatch.setattr("django.core.management.execute_from_command_line", fail)
    for name in OURS:
        with pytest.raises(SystemExit, match=f"assay: {sentence}"):
            command.run([name])
    with pytest.raises(type(error)):
        command.run(["evaluate", "--traceback"])


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["web", "worker"])
def test_a_server_says_that_its_folder_is_closed(name, tmp_path, settings, monkeypatch):
    settings.DATA_DIR = tmp_path / "file" / "data"
    (tmp_path / "file").write_text("no folder")

    with pytest.raises(SystemExit, match="assay: Cannot write to"):
        command.run([name])


def run(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DATABASE_URL": f"sqlite:///{tmp_path / 'empty.sqlite3'}"}
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_a_command_without_tables_says_to_migrate_and_shows_no_traceback(tmp_path: Path) -> None:
    done = run(tmp_path, "verify", "demo")

    assert done.returncode == 1
    assert done.stdout == ""
    [sentence] = done.stderr.splitlines()
    assert "run “manage.py migrate”" in sentence
