"""Says whether the product is good: the checks, then the tests on SQLite and on PostgreSQL.

    python -m config.check [--lint-only] [--all] [arguments for pytest]

Without arguments each test runs where it can say something (``SHARES``), one process more than
there are processors; ``--all`` runs the slow ones too, and those with a browser or a worker on both
databases. With arguments for pytest the checks are left out, and only the named tests run, on both.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from config.env import ROOT
from config.postgres import NoPostgres, temporary_server

BIN = Path(sys.executable).parent
CHECKS = {
    "types": ["mypy"],  # takes the longest, so it begins first
    "format": ["ruff", "format", "--check", "--quiet", "."],
    "lint": ["ruff", "check", "--quiet", "."],
    "imports": ["lint-imports"],
    "scripts": ["oxlint", "--quiet", "static"],
    "script types": ["deno", "check", "--quiet", "static"],
    "migrations": ["python", "manage.py", "makemigrations", "--check", "--dry-run"],
}
COUNTS, LEFT_OUT = "counts.xml", "left-out.txt"
NOT_PASSED = ("failure", "error", "skipped")
PROCESSES = (os.cpu_count() or 1) + 1
"""Of pytest: one more than processors, since browsers, workers and databases are waited for."""
SHARES = {
    "SQLite": "not slow",
    "PostgreSQL": "postgres and not slow and not no_database",
}
"""What ``make test`` runs on each database, as markers of pyproject.toml."""
ALL_SHARES = {"SQLite": "", "PostgreSQL": "not no_database"}


@dataclass(frozen=True)
class Outcome:
    what: str
    where: str
    seconds: float
    ok: bool
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    left_out: tuple[str, ...] = ()
    """Tests that only ``make test-all`` runs here."""


def main(arguments: list[str]) -> int:
    # Leave by the front door, so that the database server is stopped and its folder removed.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    named = [argument for argument in arguments if argument not in ("--lint-only", "--all")]
    if named:
        outcomes = run_named_tests(named)
    else:
        outcomes = run_checks()
        if "--lint-only" not in arguments:
            outcomes += run_shares(ALL_SHARES if "--all" in arguments else SHARES)
    report(outcomes)
    return 0 if all(outcome.ok for outcome in outcomes) else 1


def run_checks() -> list[Outcome]:
    """As many at a time as there are processors."""
    with private_environment() as environment, ThreadPoolExecutor(os.cpu_count()) as pool:
        waiting = [pool.submit(run_check, *check, environment) for check in CHECKS.items()]
        return [outcome.result() for outcome in waiting]


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
    output = "" if ok else f"\n{done.stdout}"
    print(f"{name}: {'good' if ok else 'NOT GOOD'}{output}", flush=True)
    return Outcome(name, "", time.monotonic() - started, ok)


def run_shares(shares: dict[str, str]) -> list[Outcome]:
    """One database after the other, each in ``PROCESSES``."""
    arguments = ["--numprocesses", str(PROCESSES), "--dist", "worksteal", "-m"]
    with started("SQLite", "", [*arguments, shares["SQLite"]]) as here:
        outcome = here.outcome()
    try:
        with (
            postgres() as (where, address),
            started(where, address, [*arguments, shares["PostgreSQL"]]) as there,
        ):
            return [outcome, there.outcome()]
    except NoPostgres as problem:
        return [outcome, no_postgres(problem)]


def run_named_tests(arguments: list[str]) -> list[Outcome]:
    """Both databases at the same time, slow tests too.

    SQLite is seen at work; what PostgreSQL has said is shown when that is done.
    """
    try:
        with (
            postgres() as (where, address),
            started(where, address, arguments, aside=True) as other,
            started("SQLite", "", arguments) as here,
        ):
            return [here.outcome(), other.outcome()]
    except NoPostgres as problem:
        with started("SQLite", "", arguments) as here:
            return [here.outcome(), no_postgres(problem)]


def no_postgres(problem: NoPostgres) -> Outcome:
    print(f"assay: {problem}", file=sys.stderr, flush=True)
    return Outcome("tests", "PostgreSQL", 0, ok=False)


@contextmanager
def postgres() -> Iterator[tuple[str, str]]:
    """What to call the server, and its address."""
    address = os.environ.get("DATABASE_URL_TEST_POSTGRES")
    if address:
        yield "PostgreSQL (given)", address
    else:
        with temporary_server() as address:
            yield "PostgreSQL", address


@dataclass
class Tests:
    """A pytest at work on one database."""

    where: str
    process: subprocess.Popen[bytes]
    folder: Path
    started: float

    def outcome(self) -> Outcome:
        """Wait for the end."""
        code = self.process.wait()
        seconds = time.monotonic() - self.started
        if code < 0:
            ended_by = signal.Signals(-code).name
            print(f"assay: {ended_by} ended the tests on {self.where}", file=sys.stderr, flush=True)
        log_file = self.folder / "said.txt"
        if log_file.exists():
            print(f"\n===== tests on {self.where} =====", flush=True)
            print(log_file.read_text(encoding="utf-8", errors="replace"), flush=True)
        counts, left_out = read_counts(self.folder), read_left_out(self.folder)
        return Outcome("tests", self.where, seconds, code == 0, *counts, left_out)


@contextmanager
def started(
    where: str, database_url: str, arguments: list[str], *, aside: bool = False
) -> Iterator[Tests]:
    """Tests that end with the block at the latest. ``aside``: shown only when they are done."""
    with private_environment() as environment, ExitStack() as stack:
        folder = Path(environment["ASSAY_DATA_DIR"])
        counts = folder / COUNTS
        command = [str(BIN / "python"), "-m", "pytest", f"--junitxml={counts}", *arguments]
        environment |= {"DATABASE_URL": database_url, "ASSAY_TEST_LEFT_OUT": str(folder / LEFT_OUT)}
        if not aside:
            print(f"\n===== tests on {where} =====", flush=True)
        log = stack.enter_context((folder / "said.txt").open("wb")) if aside else None
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            yield Tests(where, process, folder, time.monotonic())
        finally:
            process.terminate()
            process.wait()


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
            "DENO_DIR": f"{folder}/deno",  # what the check of script types keeps
            "DENO_NO_UPDATE_CHECK": "1",
            "NO_COLOR": "1",
        }
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read_counts(folder: Path) -> tuple[int, int, int]:
    """Passed, failed and skipped tests; zeros when pytest did not get so far."""
    path = folder / COUNTS
    if not path.exists():
        return 0, 0, 0
    # A test that fails and then ends badly is written twice.
    tests: dict[tuple[str | None, str | None], set[str]] = {}
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        ends = tests.setdefault((case.get("classname"), case.get("name")), set())
        ends |= {child.tag for child in case if child.tag in NOT_PASSED}
    failed = sum(not {"failure", "error"}.isdisjoint(ends) for ends in tests.values())
    skipped = sum(ends == {"skipped"} for ends in tests.values())
    return len(tests) - failed - skipped, failed, skipped


def read_left_out(folder: Path) -> tuple[str, ...]:
    """The tests that the markers left out, as ``tests/conftest.py`` writes them."""
    path = folder / LEFT_OUT
    return tuple(path.read_text(encoding="utf-8").splitlines()) if path.exists() else ()


def report(outcomes: list[Outcome]) -> None:
    print("\n===== what ran =====")
    for outcome in outcomes:
        print(describe(outcome))
    for line in describe_left_out(outcomes):
        print(line)
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


def describe_left_out(outcomes: list[Outcome]) -> list[str]:
    """What ``make test-all`` alone runs."""
    return [
        f"left to make test-all on {outcome.where}: {len(outcome.left_out)} tests"
        for outcome in outcomes
        if outcome.left_out
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
