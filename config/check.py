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
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

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
PROCESSES = (os.cpu_count() or 1) + 1
"""Of pytest: one more than processors, since browsers, workers and databases are waited for."""
SHARES = {
    "SQLite": "not slow",
    "PostgreSQL": "postgres and not slow and not no_database",
}
"""What ``make test`` runs on each database, as markers of pyproject.toml."""
ALL_SHARES = {"SQLite": "", "PostgreSQL": "not no_database"}


class Outcome(NamedTuple):
    what: str
    seconds: float
    ok: bool


def main(arguments: list[str]) -> int:
    # Leave by the front door, so that the database server is stopped and its folder removed.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    named = [argument for argument in arguments if argument not in ("--lint-only", "--all")]
    outcomes = [] if named else run_checks()
    if "--lint-only" not in arguments:
        shares = ALL_SHARES if "--all" in arguments else SHARES
        spread = ["--numprocesses", str(PROCESSES), "--dist", "worksteal", "-m"]
        outcomes.append(run_tests("SQLite", "", named or [*spread, shares["SQLite"]]))
        outcomes.append(run_on_postgres(named or [*spread, shares["PostgreSQL"]]))
    print("\n===== what ran =====")
    for outcome in outcomes:
        print(f"{outcome.what}: {'good' if outcome.ok else 'NOT GOOD'}, {outcome.seconds:.0f} s")
    is_good = all(outcome.ok for outcome in outcomes)
    print("GOOD" if is_good else "NOT GOOD", flush=True)
    return 0 if is_good else 1


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
    print(f"{name}: good" if ok else f"{name}: NOT GOOD\n{done.stdout}", flush=True)
    return Outcome(name, time.monotonic() - started, ok)


def run_on_postgres(arguments: list[str]) -> Outcome:
    if address := os.environ.get("DATABASE_URL_TEST_POSTGRES"):
        return run_tests("PostgreSQL (given)", address, arguments)
    try:
        with temporary_server() as address:
            return run_tests("PostgreSQL", address, arguments)
    except NoPostgres as problem:
        print(f"assay: {problem}", file=sys.stderr, flush=True)
        return Outcome("tests on PostgreSQL", 0, ok=False)


def run_tests(where: str, database_url: str, arguments: list[str]) -> Outcome:
    print(f"\n===== tests on {where} =====", flush=True)
    started = time.monotonic()
    with private_environment() as environment:
        command = [str(BIN / "python"), "-m", "pytest", *arguments]
        environment["DATABASE_URL"] = database_url
        ok = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0
    return Outcome(f"tests on {where}", time.monotonic() - started, ok)


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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
