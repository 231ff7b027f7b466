"""The closing lines of the test command tell what happened: second tries too."""

import subprocess
import sys
from pathlib import Path

from config.check import COUNTS, Outcome, describe, read_counts

TESTS = """
import pytest

tries = []

@pytest.fixture
def bad_end():
    yield
    raise RuntimeError

@pytest.mark.flaky(reruns=1)
def test_good_at_the_second_try():
    tries.append(1)
    assert len(tries) == 2

@pytest.mark.flaky(reruns=1)
def test_never_good():
    assert False

@pytest.mark.flaky(reruns=1)
def test_ends_badly(bad_end):
    assert False

def test_fails_once_and_for_all(bad_end):
    pass

def test_good():
    pass

def test_left_out():
    pytest.skip("for a reason")
"""


def test_what_ran_is_counted_once_and_second_tries_apart(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:django", f"--junitxml={COUNTS}"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)

    assert read_counts(tmp_path) == (2, 3, 1, 3)


def test_nothing_is_counted_where_nothing_was_written(tmp_path: Path) -> None:
    assert read_counts(tmp_path) == (0, 0, 0, 0)


def test_a_second_try_is_told() -> None:
    counts = (4_780, 0, 2)

    assert describe(Outcome("tests", "SQLite", 981, True, *counts)) == (
        "tests on SQLite: 4780 passed, 0 failed, 2 skipped: good, 981 s"
    )
    assert describe(Outcome("tests", "SQLite", 981, True, *counts, 2)) == (
        "tests on SQLite: 4780 passed, 0 failed, 2 skipped, 2 second tries: good, 981 s"
    )
