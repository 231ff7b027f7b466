"""What can go wrong on a person's machine ends in one line that says what to do."""

import ast
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from config import bootstrap

ROOT = Path(__file__).resolve().parents[2]


def run_bootstrap(*arguments: str, root: Path = ROOT, **options) -> subprocess.CompletedProcess:
    command = [sys.executable, str(root / "config/bootstrap.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, **options)


def assert_one_line(done: subprocess.CompletedProcess, *parts: str) -> None:
    """Exit code, a single line on the error output, and what it must say."""
    assert done.returncode != 0
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    for part in parts:
        assert part in done.stderr


@pytest.fixture
def copy(tmp_path):
    """A project folder without an environment."""
    (tmp_path / "config").mkdir()
    shutil.copy(ROOT / "config/bootstrap.py", tmp_path / "config")
    shutil.copy(ROOT / "requirements.lock", tmp_path)
    return tmp_path


@pytest.fixture
def folder_of_somebody_else():
    """Root may write everywhere, so root becomes nobody for the time of the test."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    me = os.geteuid()
    if me == 0:
        os.seteuid(pwd.getpwnam("nobody").pw_uid)
    yield folder
    os.seteuid(me)
    folder.rmdir()


@pytest.mark.parametrize("arguments", [[], ["srve"]])
def test_an_unknown_action_is_answered_with_those_there_are(arguments):
    assert_one_line(run_bootstrap(*arguments), "install, serve, test, test-all, lint, lock")


def test_another_python_looks_for_a_fitting_one_and_says_when_there_is_none(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(bootstrap.Obstacle, match=r"Python 3\.11 is needed and this is 3\.9"):
        bootstrap.require_python()


def test_another_python_hands_over_to_a_fitting_one(monkeypatch, tmp_path):
    fitting = tmp_path / "python3.11"
    fitting.symlink_to(sys.executable)
    started = []
    monkeypatch.setattr(sys, "version_info", (3, 13, 0))
    monkeypatch.setattr(os, "execv", lambda path, command: started.append((path, command)))
    monkeypatch.setenv("PATH", str(tmp_path))

    bootstrap.require_python()

    assert started == [(str(fitting), [str(fitting), *sys.argv])]


def test_a_python3_11_that_does_not_run_is_passed_over(monkeypatch, tmp_path):
    broken = tmp_path / "python3.11"
    broken.write_text("#!/bin/sh\nexit 127\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert bootstrap.find_python() is None


@pytest.mark.parametrize("version", ["3.7", "3.11"])
def test_the_file_can_be_read_by_pythons_that_are_too_old(version):
    major, minor = map(int, version.split("."))
    text = (ROOT / "config/bootstrap.py").read_text(encoding="utf-8")

    ast.parse(text, feature_version=(major, minor))


def test_a_folder_that_is_not_ours_is_said(folder_of_somebody_else):
    sentence = f"Cannot write to {folder_of_somebody_else} (Permission denied)"

    with pytest.raises(bootstrap.Obstacle, match=re.escape(sentence)):
        bootstrap.require_writable(folder_of_somebody_else)


def test_an_environment_that_cannot_be_made_is_said_in_one_line(copy):
    (copy / ".venv").write_text("a file where the folder should be")

    done = run_bootstrap("install", root=copy)

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("assay: The environment could not be made.")


def test_too_little_disk_is_said_before_anything_is_made(monkeypatch, tmp_path):
    usage = shutil._ntuple_diskusage(total=10**12, used=10**12, free=10**8)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)

    with pytest.raises(bootstrap.Obstacle, match=r"needs about 3 GB, and 0\.1 GB are free"):
        bootstrap.require_space(tmp_path)


def test_a_full_disk_in_the_middle_is_said(monkeypatch):
    code = "import sys; sys.exit('OSError: [Errno 28] No space left on device')"

    with pytest.raises(bootstrap.Obstacle, match=r"is full\. Free some space"):
        bootstrap.run([sys.executable, "-c", code], "The packages could not be installed.")


def test_a_step_that_fails_shows_why_and_then_one_line(capsys):
    code = "import sys; print('no index'); sys.exit(1)"

    with pytest.raises(bootstrap.Obstacle, match=r"^It failed\.$"):
        bootstrap.run([sys.executable, "-c", code], "It failed.")

    assert capsys.readouterr().err == "no index\n"


def test_what_needs_the_network_is_tried_again(monkeypatch, tmp_path):
    done = tmp_path / "done"
    code = f"import pathlib, sys; at = pathlib.Path({str(done)!r}); sys.exit(not at.exists())"
    waits = []
    monkeypatch.setattr(bootstrap.time, "sleep", lambda pause: waits.append(pause) or done.touch())

    bootstrap.fetch([sys.executable, "-c", code], "Is the network there?")
    assert waits == [5]

    with pytest.raises(bootstrap.Obstacle, match=r"^Is the network there\?$"):
        bootstrap.fetch([sys.executable, "-c", "raise SystemExit(1)"], "Is the network there?")
    assert waits == [5, 5, 20]


def test_a_second_set_up_does_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(bootstrap, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(bootstrap, "venv_python", lambda: sys.executable)
    monkeypatch.setattr(bootstrap, "run", lambda *args: pytest.fail("nothing is to be run"))
    bootstrap.STAMP.write_text(bootstrap.lock_hash())

    bootstrap.install()


def test_a_changed_lock_is_installed(monkeypatch, tmp_path):
    monkeypatch.setattr(bootstrap, "STAMP", tmp_path / "stamp")
    bootstrap.STAMP.write_text("hash of an older lock")

    assert not bootstrap.is_installed()


def test_where_pip_finds_packages_is_handed_on():
    listing = (
        ":env:.find-links='/wheels'\n"
        "global.cert='/certificates.pem'\n"
        "global.find-links='/other'\n"
        "global.extra-index-url='https://a.example/simple\\nhttps://b.example/simple'\n"
        "global.timeout='60'\n"
    )

    assert bootstrap.from_pip(listing) == {
        "SSL_CERT_FILE": "/certificates.pem",
        "UV_FIND_LINKS": "/wheels",
        "UV_INDEX": "https://a.example/simple https://b.example/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


def test_the_lock_names_exact_versions_and_no_place():
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()[1:]

    assert [line for line in lines if not re.fullmatch(r"[a-z0-9_.-]+==[\w.]+", line)] == []
    assert "torch==2.13.0" in lines
    assert any(line.startswith("uv==") for line in lines)


def test_assay_of_the_environment_runs_this_code_from_any_folder(monkeypatch, tmp_path):
    environment = tmp_path / "an environment"
    (environment / "bin").mkdir(parents=True)
    (tmp_path / "config.py").write_text("raise AssertionError('not this one')")
    monkeypatch.setattr(bootstrap, "VENV", environment)
    monkeypatch.setattr(bootstrap, "venv_python", lambda: sys.executable)

    bootstrap.write_command()

    done = subprocess.run(
        [environment / "bin/assay", "--version"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout[:6]) == (0, "assay "), done.stderr
