"""``assay``: help at once, every command by its name, servers with the options of the documents."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import get_commands
from django.db import OperationalError

from config import command
from config.env import ROOT

APPS = ("labeling", "evaluation")


@pytest.fixture(autouse=True)
def set_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second set-up would close every handler of the logs, those of pytest too."""
    monkeypatch.setattr("django.setup", lambda **options: None)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Runs ``assay``, and returns the program that it becomes."""
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")

    def run(*arguments: str) -> list[str]:
        programs: list[list[str]] = []
        monkeypatch.setattr("os.execv", lambda path, program: programs.append(program))
        monkeypatch.setattr(command, "build_static_files", lambda: None)
        command.run([*arguments])
        [program] = programs
        return program

    return run


def test_help_names_every_command_and_loads_nothing() -> None:
    code = (
        "from config.command import run; import sys; run(['--help']);"
        "sys.exit(bool({'django', 'celery', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 0
    listed = {line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")}
    ours = {name.replace("_", "-") for name, app in get_commands().items() if app in APPS}
    assert ours <= listed
    assert {"serve", "web", "worker", "check", "migrate"} <= listed
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["export-labels", "export_labels"])
def test_a_command_is_called_with_dashes_or_underscores(name: str, capsys: Any) -> None:
    command.run([name, "--schema", "json"])

    assert '"$schema"' in capsys.readouterr().out


@pytest.mark.django_db
def test_web_and_worker_become_gunicorn_and_celery_with_further_options(started, monkeypatch):
    monkeypatch.setenv("ASSAY_PORT", "8123")

    assert started("web")[1:6] == ["-m", "gunicorn", "config.wsgi", "--bind", "127.0.0.1:8123"]
    at_socket = started("web", "--bind", "unix:/run/assay.sock", "--workers", "4")
    assert at_socket.count("--bind") == 1
    assert at_socket[-4:] == ["--bind", "unix:/run/assay.sock", "--workers", "4"]
    worker = started("worker", "--loglevel", "DEBUG")
    assert worker[1:6] == ["-m", "celery", "--app", "config", "worker"]
    assert worker[-2:] == ["--loglevel", "DEBUG"]


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["web", "worker"])
def test_servers_refuse_a_database_of_an_older_version(name, monkeypatch):
    monkeypatch.setattr(command, "lacks_migrations", lambda: True)

    with pytest.raises(SystemExit, match=r"run “assay migrate”"):
        command.run([name])


@pytest.mark.django_db
def test_a_database_that_is_away_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(arguments: list[str]) -> None:
        raise OperationalError("connection refused\n\tIs the server running?")

    monkeypatch.setattr("django.core.management.execute_from_command_line", refuse)
    with pytest.raises(SystemExit) as ended:
        command.run(["create-user", "bob"])
    assert ended.value.code == (
        "assay: The database does not answer: see that it runs and that DATABASE_URL is right. "
        "It says: connection refused Is the server running?"
    )
    with pytest.raises(OperationalError):
        command.run(["create-user", "bob", "--traceback"])


@pytest.mark.parametrize("name", ["serve", "web", "worker"])
def test_servers_explain_themselves(name: str, capsys: Any) -> None:
    command.run([name, "--help"])

    assert capsys.readouterr().out.startswith(f"Usage: assay {name}")
