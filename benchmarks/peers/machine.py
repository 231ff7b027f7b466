"""What the servers of a system use, environments for the peers, and programs that surely end."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from config.bootstrap import make_environment

PYTHON = "3.11"
SCHEDULED = 2  # the clock of another process: clock_getcpuclockid(3)
MB = 1024 * 1024
SECONDS_TO_INSTALL, SECONDS_TO_END = 1800, 15
OUR_SETTINGS = ("ASSAY_", "CELERY_", "DATABASE_URL", "DJANGO_")
# Whatever this process starts, and whatever that starts, stays below it in the tree of processes.
SUBREAPER = 36


class Failed(Exception):
    """A system cannot do something; the text goes into the table."""


class Memory(NamedTuple):
    rss_mb: float
    pss_mb: float


def adopt_orphans() -> None:
    ctypes.CDLL(None).prctl(SUBREAPER, 1)


def descendants() -> list[int]:
    """All processes that this one started, and theirs."""
    return [each.pid for each in psutil.Process().children(recursive=True)]


def cpu_seconds() -> float:
    """User and system time of everything below this process, the ended ones too."""
    ended, total = resource.getrusage(resource.RUSAGE_CHILDREN), 0.0
    living = psutil.Process().children(recursive=True)
    for each in living:
        with suppress(psutil.NoSuchProcess):
            times = each.cpu_times()
            total += times.children_user + times.children_system
    return ended.ru_utime + ended.ru_stime + total + cpu_of([each.pid for each in living])


def cpu_of(processes: list[int]) -> float:
    """What these have used themselves, to the nanosecond: for what is shorter than a tick."""
    total = 0.0
    for pid in processes:
        with suppress(OSError):  # gone: then its parent has its time
            total += time.clock_gettime(~pid << 3 | SCHEDULED)
    return total


def memory() -> Memory:
    rss = pss = 0.0
    for each in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            used = each.memory_full_info()
            rss, pss = rss + used.rss / MB, pss + used.pss / MB
    return Memory(rss, pss)


# Programs


def start(
    command: list[str], folder: Path, log: str, **environment: str
) -> subprocess.Popen[bytes]:
    with (folder / f"{log}.log").open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=environment.pop("cwd", folder),
            env={**_neutral(), **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _neutral() -> dict[str, str]:
    """The environment without our own settings: a peer has a ``DJANGO_SETTINGS_MODULE`` too."""
    return {name: value for name, value in os.environ.items() if not name.startswith(OUR_SETTINGS)}


def run(command: list[str], folder: Path, log: str, *, seconds: float, **environment: str) -> None:
    process = start(command, folder, log, **environment)
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        end([process])
        raise Failed(f"{Path(command[0]).name} did not end in {seconds:.0f} s") from None
    if code:
        raise Failed(f"{' '.join(map(str, command[:4]))}: {tail(folder / f'{log}.log')}")


def tail(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else "it said nothing"


def end(programs: list[subprocess.Popen[bytes]]) -> None:
    """Ask the groups to end, then make them, then whatever has left them."""
    for program in programs:
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGTERM)
    deadline = time.monotonic() + SECONDS_TO_END
    for program in programs:
        with suppress(subprocess.TimeoutExpired):
            program.wait(max(0.1, deadline - time.monotonic()))
        with suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        program.wait()


def end_everything() -> None:
    """No process outlives a measurement, however that ended."""
    for pid in reversed(descendants()):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        while os.waitpid(-1, 0):
            pass


# Environments


def environment(cache: Path, name: str, packages: list[str]) -> Path:
    """The folder of programs of a peer, installed when it is not there yet as it is named here."""
    folder = cache / name
    stamp, wanted = folder / "installed", "\n".join([PYTHON, *packages])
    if not (stamp.exists() and stamp.read_text() == wanted):
        uv = make_environment()
        make = [*uv, "venv", "--quiet", "--clear", "--python", PYTHON, str(folder)]
        # As a module of this environment uv would install into this one.
        install = [*uv, "pip", "install", "--quiet", "--python", str(folder), *packages]
        cache.mkdir(parents=True, exist_ok=True)
        for command in (make, install):
            run(command, cache, f"{name}-install", seconds=SECONDS_TO_INSTALL)
        stamp.write_text(wanted)
    return folder / "bin"


def default_cache() -> Path:
    return Path(tempfile.gettempdir()) / "peers"
