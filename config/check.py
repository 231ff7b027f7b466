"""Says whether the product is good: the checks, then all tests on SQLite and on PostgreSQL.

    python -m config.check [--lint-only] [arguments for pytest]

With arguments for pytest the checks are left out: somebody is at work on one thing.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from config.env import ROOT
from config.postgres import NoPostgres, temporary_server

BIN = Path(sys.executable).parent
CHECKS = {
    "format": ["ruff", "format", "--check", "--quiet", "."],
    "lint": ["ruff", "check", "--quiet", "."],
    "imports": ["lint-imports"],
    "types": ["mypy"],
    "migrations": ["python", "manage.py", "makemigrations", "--check", "--dry-run"],
}


@dataclass(frozen=True)
class Outcome:
    what: str
    where: str
    seconds: float
    ok: bool
    passed: int = 0
    failed: int = 0
    skipped: int = 0


def main(arguments: list[str]) -> int:
    # Leave by the front door, so that the database server is stopped and its folder removed.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    wanted = [argument for argument in arguments if argument != "--lint-only"]
    outcomes = [] if wanted else run_checks()
    if "--lint-only" not in arguments:
        outcomes += run_tests(wanted)
    report(outcomes)
    return 0 if all(outcome.ok for outcome in outcomes) else 1


def run_checks() -> list[Outcome]:
    with private_environment() as environment:
        return [run_check(name, command, environment) for name, command in CHECKS.items()]


def run_check(name: str, command: list[str], environment: dict[str, str]) -> Outcome:
    started = time.monotonic()
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    ok = done.returncode == 0
    print(f"{name}: {'good' if ok else 'NOT GOOD'}", flush=True)
    if not ok:
        print(done.stdout, flush=True)
    return Outcome(name, "", time.monotonic() - started, ok)


def run_tests(arguments: list[str]) -> list[Outcome]:
    return [run_on_sqlite(arguments), run_on_postgres(arguments)]


def run_on_sqlite(arguments: list[str]) -> Outcome:
    return run_pytest("SQLite", "", arguments)


def run_on_postgres(arguments: list[str]) -> Outcome:
    given = os.environ.get("DATABASE_URL_TEST_POSTGRES")
    if given:
        return run_pytest("PostgreSQL (given)", given, arguments)
    try:
        with temporary_server() as address:
            return run_pytest("PostgreSQL", address, arguments)
    except NoPostgres as problem:
        print(f"assay: {problem}", file=sys.stderr, flush=True)
        return Outcome("tests", "PostgreSQL", 0, ok=False)


def run_pytest(where: str, database_url: str, arguments: list[str]) -> Outcome:
    print(f"\n===== tests on {where} =====", flush=True)
    started = time.monotonic()
    with private_environment() as environment:
        counts = Path(environment["ASSAY_DATA_DIR"]) / "counts.xml"
        command = [str(BIN / "python"), "-m", "pytest", f"--junitxml={counts}", *arguments]
        environment["DATABASE_URL"] = database_url
        done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
        passed, failed, skipped = read_counts(counts)
    return Outcome(
        "tests", where, time.monotonic() - started, done.returncode == 0, passed, failed, skipped
    )


@contextmanager
def private_environment() -> Iterator[dict[str, str]]:
    """Nobody's own data or settings take part: a fresh data folder and no .env file."""
    folder = tempfile.mkdtemp(prefix="assay-test-")
    try:
        yield {
            **os.environ,
            "ASSAY_DATA_DIR": folder,
            "ASSAY_ENV_FILE": os.devnull,
            "DATABASE_URL": "",
            "CELERY_BROKER_URL": "",
        }
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read_counts(path: Path) -> tuple[int, int, int]:
    """Passed, failed and skipped tests; nothing at all when pytest did not get so far."""
    if not path.exists():
        return 0, 0, 0
    suites = ElementTree.parse(path).getroot().iter("testsuite")
    count = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in suites:
        for name in count:
            count[name] += int(suite.get(name, 0))
    failed = count["failures"] + count["errors"]
    return count["tests"] - failed - count["skipped"], failed, count["skipped"]


def report(outcomes: list[Outcome]) -> None:
    print("\n===== what ran =====")
    for outcome in outcomes:
        print(describe(outcome))
    passed = sum(outcome.passed for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    if any(outcome.where for outcome in outcomes):
        print(f"tests: {passed} passed, {failed} failed")
    print("GOOD" if all(outcome.ok for outcome in outcomes) else "NOT GOOD", flush=True)


def describe(outcome: Outcome) -> str:
    verdict = "good" if outcome.ok else "NOT GOOD"
    counts = f"{outcome.passed} passed, {outcome.failed} failed, {outcome.skipped} skipped"
    place = f" on {outcome.where}: {counts}" if outcome.where else ""
    return f"{outcome.what}{place}: {verdict}, {outcome.seconds:.0f} s"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
