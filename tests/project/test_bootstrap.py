"""From a Python alone to an environment: what has to hold on everybody's machine."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from config import bootstrap
from config.check import SHARES
from config.env import ROOT


@pytest.fixture
def environment(monkeypatch, tmp_path):
    """A place for an environment, and the steps that are taken there."""
    steps = []
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3.11").symlink_to(sys.executable)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "PYTHON", tmp_path / "bin/python3.11")
    monkeypatch.setattr(bootstrap, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(bootstrap, "run", lambda command, failure: steps.append(command))
    monkeypatch.setattr(os, "environ", dict(os.environ))
    return steps


def test_another_python_hands_over_to_a_fitting_one_or_says_that_it_is_needed(
    monkeypatch, tmp_path
):
    started = []
    monkeypatch.setattr(sys, "version_info", (3, 13, 0))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match=r"Python 3\.11 is needed"):
        bootstrap.main("install")

    def hand_over(path, command):
        started.append((path, command))
        raise InterruptedError

    monkeypatch.setattr(os, "execv", hand_over)
    fitting = tmp_path / "python3.11"
    fitting.symlink_to(sys.executable)
    with pytest.raises(InterruptedError):
        bootstrap.main("install")

    assert started == [(str(fitting), [str(fitting), *sys.argv])]


def test_an_older_python_reads_as_far_as_that():
    ast.parse((ROOT / "config/bootstrap.py").read_text(encoding="utf-8"), feature_version=(3, 7))


def test_a_step_that_fails_ends_with_one_line_that_says_what_to_do(capfd):
    with pytest.raises(SystemExit, match=r"^assay: It failed\.$"):
        bootstrap.run([sys.executable, "-c", "raise SystemExit('no index')"], "It failed.")

    assert capfd.readouterr().err == "no index\n"


def test_what_only_tests_need_is_installed_for_them_alone_and_nothing_twice(environment):
    def packages():
        environment.clear()
        bootstrap.install(*locks)
        return {part for step in environment for part in step if part.startswith("--requirement=")}

    both, product = f"--requirement={bootstrap.DEV_LOCK}", f"--requirement={bootstrap.LOCK}"
    locks = (bootstrap.LOCK,)
    assert packages() >= {product}
    assert both not in packages()
    assert not environment, "it is there already"
    locks = (bootstrap.LOCK, bootstrap.DEV_LOCK)
    assert packages() >= {product, both}
    locks = (bootstrap.LOCK,)
    assert packages() == set()


def test_every_package_but_torch_is_installed_by_its_hash(environment):
    bootstrap.install(bootstrap.LOCK, bootstrap.DEV_LOCK)

    installs = [step for step in environment if "install" in step]
    assert [step[-1] for step in installs if "--require-hashes" not in step] == ["torch==2.13.0"]
    pinned = (bootstrap.VENV / "uv.lock").read_text()
    assert re.fullmatch(r"uv==[\d.]+ \\\n(    --hash=sha256:[0-9a-f]{64}( \\)?\n)+", pinned)


def test_where_pip_finds_packages_is_handed_on():
    listing = (
        "global.cert='/certificates.pem'\n"
        "global.find-links='/other'\n"
        "global.extra-index-url='https://a.example/simple\\nhttps://b.example/simple'\n"
        "global.timeout='60'\n"
        ":env:.find-links='/wheels'\n"
    )

    assert bootstrap.uv_settings(listing) == {
        "SSL_CERT_FILE": "/certificates.pem",
        "UV_FIND_LINKS": "/wheels",
        "UV_HTTP_TIMEOUT": "120",
        "UV_INDEX": "https://a.example/simple https://b.example/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


def test_the_locks_name_versions_and_hashes_and_no_place():
    text = "".join(path.read_text() for path in (bootstrap.LOCK, bootstrap.DEV_LOCK))
    package = r"[a-z0-9_.-]+==[\w.]+ \\\n(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+"

    assert re.sub(package, "", text) == ""
    names = re.findall(r"^([a-z0-9_.-]+)==", text, re.MULTILINE)
    assert len(names) == len(set(names))
    assert {"torch", "triton"}.isdisjoint(names)


def test_assay_of_the_environment_runs_this_code_from_any_folder(
    environment, monkeypatch, tmp_path
):
    (tmp_path / "config.py").write_text("raise AssertionError('not this one')")
    monkeypatch.setattr(bootstrap, "PYTHON", Path(sys.executable))

    bootstrap.write_command()

    done = subprocess.run(
        [bootstrap.VENV / "bin/assay", "--version"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout[:6]) == (0, "assay "), done.stderr


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


def test_each_test_runs_where_it_can_say_something(tmp_path):
    """By the project's own conftest.py and pyproject.toml."""
    (tmp_path / "test_marked.py").write_text(MARKED, encoding="utf-8")
    (tmp_path / "conftest.py").write_bytes((ROOT / "tests/conftest.py").read_bytes())
    options = ["--collect-only", "-q", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml")]
    options += ["--rootdir", str(tmp_path), str(tmp_path)]
    code = "import pytest, sys; [pytest.main([*sys.argv[3:], '-m', it]) for it in sys.argv[1:3]]"
    command = [sys.executable, "-c", code, SHARES["SQLite"], SHARES["PostgreSQL"], *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    named = [line.partition("::test_")[2] for line in done.stdout.splitlines() if "::" in line]
    on_sqlite = ["rows", "rows_by_a_fixture", "page", "lease", "pure"]
    assert named == [*on_sqlite, "lease"], done.stdout + done.stderr
