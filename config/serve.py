"""Runs the product on one machine: prepares the database, starts web server and worker, watches.

Each child is a fork of this process, which has loaded the product once for all of them, and the
head of its own process group, so that stopping one stops everything it started; the kernel stops it
if this process is killed without a chance to do so.
"""

import ctypes
import gc
import json
import logging
import multiprocessing
import os
import runpy
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from io import StringIO
from ipaddress import ip_address
from multiprocessing.context import ForkProcess
from pathlib import Path
from types import FrameType

from django.core.exceptions import ImproperlyConfigured

from config import private_files, weak_secrets
from config.env import FILES, INSTALLED, ROOT, env_bool, env_int, env_path, env_str
from config.logs import rotate

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SECONDS_TO_START = 60
SECONDS_TO_STOP = 15
SECONDS_TO_TRUST = 60  # a child that ran this long may fail again without a longer pause
LONGEST_PAUSE = 30
FORK = multiprocessing.get_context("fork")
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG, M_ARENA_MAX = 1, -8
STARTED = time.monotonic()
HERE_ONLY = (
    "Other machines reach this server, but the demo accounts open on this one alone: everybody "
    "knows their passwords. ASSAY_DEMO_EVERYWHERE=true opens them to others."
)
FOR_OTHERS = (
    "WARNING: anyone who reaches this server can sign in with a demo account, also as "
    "administrator: everybody knows their passwords. Take ASSAY_DEMO_EVERYWHERE away to end that."
)


class Obstacle(Exception):
    """Something that the person at the keyboard has to change; the text says what."""


class Stopped(Exception):
    """Somebody pressed Ctrl-C or sent a signal."""


class Child:
    """A module that is kept running as a program; what it prints goes to its log."""

    def __init__(self, name: str, command: list[str], log: Path) -> None:
        self.name, self.log = name, log
        self._command = command
        self._process: ForkProcess | None = None
        self._started = 0.0
        self._pause = 1
        self._restart_at: float | None = None

    def start(self) -> None:
        rotate(self.log)
        self._process = FORK.Process(target=run, args=(self._command, self.log))
        self._process.start()
        self._started = time.monotonic()
        self._restart_at = None

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.exitcode if self._process else None

    def watch(self) -> None:
        """Restart it when it dies: immediately the first time, later after growing pauses."""
        now = time.monotonic()
        if self._restart_at is None and self.exit_code is not None:
            self._plan_restart(now)
        if self._restart_at is not None and now >= self._restart_at:
            self.start()

    def _plan_restart(self, now: float) -> None:
        if now - self._started > SECONDS_TO_TRUST:
            self._pause = 1
        say(f"The {self.name} ended ({self.exit_code}) and is started again in {self._pause} s.")
        show_tail(self.log)
        self.send(signal.SIGKILL)  # what it left behind may hold the port
        self._restart_at = now + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE)

    def send(self, number: signal.Signals) -> None:
        """Signal the whole group: the child may be gone while something it started is not."""
        if self._process is not None and self._process.pid:
            with suppress(ProcessLookupError):  # nobody left
                os.killpg(self._process.pid, number)

    def wait(self, seconds: float) -> None:
        if self._process is not None:
            self._process.join(max(0, seconds))
            if self.exit_code is None:
                say(f"The {self.name} does not stop by itself and is ended.")


def run(command: list[str], log: Path) -> None:
    """In a child: ``python -m …``, with SIGTERM when the supervisor is gone, however it went."""
    os.setsid()
    if sys.platform == "linux":
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    with log.open("ab") as output:
        for descriptor in (1, 2):
            os.dup2(output.fileno(), descriptor)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    sys.argv = command[2:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def environment() -> dict[str, str]:
    """For programs that run the product."""
    own = dict(os.environ)
    # By default glibc keeps up to eight heaps a processor, each with holes that nobody fills.
    own.setdefault("MALLOC_ARENA_MAX", "2")
    own.setdefault("CELERY_SKIP_CHECKS", "true")  # by the worker: "migrate" makes them
    if not INSTALLED:
        own["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), own.get("PYTHONPATH", "")]))
    return own


def main() -> None:
    for number in SIGNALS:
        signal.signal(number, raise_stopped)
    try:
        serve()
    except Stopped:
        say("Stopped.")
    except (Obstacle, ImproperlyConfigured) as obstacle:
        sys.exit(f"assay: {obstacle}")


def raise_stopped(number: int, frame: FrameType | None) -> None:
    """Once only: a second Ctrl-C must not break off the stopping."""
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    raise Stopped


def serve() -> None:
    host, port = address()
    here_only = is_loopback(host)
    demo = env_bool("ASSAY_DEMO", here_only)
    data = writable_folder(env_path("ASSAY_DATA_DIR", ".data"))
    logs = data / "logs"
    private_files.make_folder(logs)
    require_free(host, port)
    require_strong(demo=demo)
    say("Loading ...")
    LIBC.mallopt(M_ARENA_MAX, 2)
    os.environ.update(environment())
    prepare(demo=demo)
    children = [
        Child("web server", web_command(host, port), logs / "web.log"),
        Child("worker", worker_command(), logs / "worker.log"),
    ]
    try:
        for child in children:
            child.start()
        called = address_to_call(host)
        wait_for_answer(f"http://{called}:{port}/readyz?only=database", children[0])
        welcome(f"http://{called}:{port}/", logs, demo)
        if demo and not here_only:
            say(FOR_OTHERS if env_bool("ASSAY_DEMO_EVERYWHERE", False) else HERE_ONLY)
        while True:
            time.sleep(0.2)
            for child in children:
                child.watch()
    finally:
        stop(children)


def prepare(*, demo: bool) -> None:
    """The database and the static files; what children need is loaded before they are forked."""
    logging.disable(logging.INFO)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.conf import settings
    from django.db import connections

    from config.assets import is_current
    from config.newer_tables import require_known_migrations

    require_known_migrations()
    step("Preparing the database", "migrate", verbosity=0)
    if not is_current(Path(settings.STATIC_ROOT)):
        step("Building the static files", "collectstatic", interactive=False, verbosity=0)
    if demo:
        step("Loading the demo project", "seed_demo")
    import_module("config.wsgi")
    connections.close_all()
    logging.disable(logging.NOTSET)
    gc.collect()
    gc.freeze()  # children share what nobody looks at any more


def step(title: str, name: str, **options: object) -> None:
    from django.core.management import call_command

    say(f"{title} ...")
    said = StringIO()
    try:
        call_command(name, stdout=said, **options)
    except Exception as error:  # of any kind: nothing starts without it
        sys.exit(f"assay: {title} failed: {' '.join(str(error).split()) or type(error).__name__}")
    for line in said.getvalue().splitlines():
        if not line.startswith(" "):  # the accounts are shown at the end
            say(f"  {line}")


def writable_folder(folder: Path) -> Path:
    try:
        private_files.make_folder(folder)
        probe = folder / f".write-test-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise Obstacle(
            f"Cannot write to {folder} ({error.strerror}). "
            "Set ASSAY_DATA_DIR to a folder that you may write to."
        ) from None
    return folder


def require_strong(*, demo: bool) -> None:
    """A demo, and a server that is being written, may have any secret."""
    if env_bool("ASSAY_DEMO", demo) or env_bool("ASSAY_DEBUG", False):
        return
    if faults := list(weak_secrets.faults()):
        raise Obstacle(" ".join(faults))


def require_free(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            raise Obstacle(
                f"Cannot listen on {host}:{port} ({getattr(error, 'strerror', None) or error}). "
                "Stop what uses that port, or set ASSAY_PORT to another one."
            ) from None


def address() -> tuple[str, int]:
    return env_str("ASSAY_HOST", "127.0.0.1"), env_int("ASSAY_PORT", 8000, minimum=1)


def web_command(host: str, port: int, options: Sequence[str] = ()) -> list[str]:
    """``options`` of somebody else come after these; only ``--bind`` would add to them."""
    elsewhere = any(option.startswith(("--bind", "-b")) for option in options)
    return [
        *(sys.executable, "-m", "gunicorn", "config.wsgi"),
        *(() if elsewhere else ("--bind", f"{host}:{port}")),
        "--preload",
        *("--worker-class", "gthread", "--threads", "4"),
        *("--workers", str(env_int("ASSAY_WEB_PROCESSES", 2, minimum=1))),
        *("--graceful-timeout", "3", "--access-logfile", "-", "--no-control-socket"),
        # longer than a proxy keeps an idle connection (60 s): who closes first sends nothing on it
        *("--keep-alive", "75"),
        *("--logger-class", "config.web_logs.KeylessLogger"),
    ]


def worker_command() -> list[str]:
    """Each thread watches a process that does the work: ``labeling.jobs.runner``.

    One more than may take long: ``evaluation.services``.
    """
    threads = env_int("ASSAY_WORKER_THREADS", 2, minimum=1) + 1
    return [
        *(sys.executable, "-m", "celery", "--app", "config", "worker"),
        *("--pool", "threads", "--concurrency", str(threads)),
        *("--loglevel", "INFO", "--without-mingle", "--without-gossip", "--without-heartbeat"),
    ]


def wait_for_answer(url: str, web: Child) -> None:
    say("Starting the web server and a worker ...")
    deadline = time.monotonic() + SECONDS_TO_START
    while not answers(url):
        if web.exit_code is not None or time.monotonic() > deadline:
            show_tail(web.log)
            raise Obstacle(f"The web server does not answer; {web.log} says why.")
        time.sleep(0.1)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return bool(response.status == 200)
    except urllib.error.HTTPError as error:
        return error.code < 500  # 400: it is up, and meant to be called by another name
    except OSError:
        return False


def welcome(url: str, logs: Path, demo: bool) -> None:
    say(f"Assay is running: {url}")
    if demo:
        print("\n  Sign in as         password       who\n" + "\n".join(demo_accounts()))
    print(f"\n  Logs: {logs}   Stop: Ctrl-C\n", flush=True)


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def address_to_call(host: str) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)


def demo_accounts() -> list[str]:
    people = json.loads((FILES / "fixtures/demo/people.json").read_text(encoding="utf-8"))
    lines = []
    for person in people:
        who = [person["full_name"], *person["roles"]]
        who += ["administrator"] if person["is_superuser"] else []
        lines.append(f"  {person['username']:<18} {person['password']:<14} {', '.join(who)}")
    return lines


def stop(children: list[Child]) -> None:
    """Signal all of them, wait for all, then kill what is left of their groups."""
    for child in children:
        child.send(signal.SIGTERM)
    deadline = time.monotonic() + SECONDS_TO_STOP
    for child in children:
        child.wait(deadline - time.monotonic())
        child.send(signal.SIGKILL)


def show_tail(log: Path) -> None:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    for line in lines[-8:]:
        print(f"  {log.stem:<6} | {line}", file=sys.stderr, flush=True)


def say(text: str) -> None:
    print(f"[{time.monotonic() - STARTED:5.1f} s] {text}", flush=True)
