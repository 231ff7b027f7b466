"""``make test`` runs each test where it can say something."""

import subprocess
import sys

import pytest

from config.check import SHARES
from config.env import ROOT

MARKED = """
import pytest

def test_pure(): pass
@pytest.mark.slow
def test_slow(): pass
@pytest.mark.django_db
def test_rows(): pass
def test_rows_by_a_fixture(db): pass
@pytest.mark.browser
def test_page(live_server): pass
@pytest.mark.worker
@pytest.mark.postgres
def test_lease(transactional_db): pass
"""


@pytest.mark.parametrize(
    ("where", "run"),
    [("SQLite", ["lease", "page", "pure", "rows", "rows_by_a_fixture"]), ("PostgreSQL", ["lease"])],
)
def test_each_test_runs_where_it_can_say_something(tmp_path, where, run):
    """By the project's own conftest.py and pyproject.toml."""
    (tmp_path / "test_marked.py").write_text(MARKED, encoding="utf-8")
    (tmp_path / "conftest.py").write_bytes((ROOT / "tests/conftest.py").read_bytes())
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    options = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), "-m", SHARES[where]]
    done = subprocess.run(
        [*command, *options, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    named = [line.partition("::test_")[2] for line in done.stdout.splitlines() if "::" in line]
    assert sorted(named) == run
