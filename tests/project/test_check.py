"""The closing lines of the test command say what ran, and what was left out."""

import os
import subprocess
import sys
from pathlib import Path

from config.check import (
    COUNTS,
    LEFT_OUT,
    SHARES,
    Outcome,
    describe,
    describe_left_out,
    read_counts,
    read_left_out,
)
from config.env import ROOT

TESTS = """
import pytest

@pytest.fixture
def bad_end():
    yield
    raise RuntimeError

def test_fails():
    assert False

def test_fails_and_ends_badly(bad_end):
    assert False

def test_ends_badly(bad_end):
    pass

def test_good():
    pass

def test_left_out():
    pytest.skip("for a reason")
"""
MARKED = """
import pytest

def test_pure(): pass
@pytest.mark.slow
def test_slow(): pass
@pytest.mark.django_db
def test_rows(): pass
def test_rows_by_a_fixture(db): pass
@pytest.mark.django_db
def test_judge(): pass
@pytest.mark.browser
def test_page(live_server): pass
@pytest.mark.worker
@pytest.mark.postgres
def test_lease(transactional_db): pass
"""


def test_what_ran_is_counted_once(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:django", f"--junitxml={COUNTS}"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)

    assert read_counts(tmp_path) == (1, 3, 1)


def test_nothing_is_counted_where_nothing_was_written(tmp_path: Path) -> None:
    assert read_counts(tmp_path) == (0, 0, 0)
    assert read_left_out(tmp_path) == ()


def test_each_test_runs_where_it_can_say_something(tmp_path: Path) -> None:
    left_out = {where: names_left_out(tmp_path, share) for where, share in SHARES.items()}

    assert left_out["SQLite"] == ["test_slow"]
    everything = {"test_judge", "test_page", "test_pure", "test_rows", "test_rows_by_a_fixture"}
    assert left_out["PostgreSQL"] == sorted(everything | {"test_slow"})


def names_left_out(folder: Path, share: str) -> list[str]:
    """What the project's own conftest.py and pyproject.toml leave out of a file of seven tests."""
    (folder / "test_marked.py").write_text(MARKED, encoding="utf-8")
    (folder / "conftest.py").write_bytes((ROOT / "tests/conftest.py").read_bytes())
    command = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider"]
    options = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder), "-m", share]
    done = subprocess.run(
        [*command, *options, str(folder)],
        cwd=ROOT,
        env={**os.environ, "ASSAY_TEST_LEFT_OUT": str(folder / LEFT_OUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(test.partition("::")[2] for test in read_left_out(folder))


def test_what_ran_is_told_with_what_only_the_long_run_does() -> None:
    slow = ("tests/a/test_b.py::test_c", "tests/a/test_b.py::test_d[1]", "tests/test_e.py::test_f")
    outcome = Outcome("tests", "SQLite", 281, True, 4_780, 0, 2, slow)

    assert describe(outcome) == "tests on SQLite: 4780 passed, 0 failed, 2 skipped: good, 281 s"
    assert describe_left_out([outcome]) == ["left to make test-all on SQLite: 3 tests"]
    assert describe_left_out([Outcome("lint", "", 1, True)]) == []
