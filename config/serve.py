"""Runs the product on one machine: prepares the database, starts web server and worker, watches.

The product is loaded once, here, and every child is forked from this process: so all of them share
the memory of what is loaded, and start at once. This process itself opens no connection and starts
no thread, which a fork would not take along.

Each child is the head of its own process group, so that stopping one stops everything it started;
and the kernel stops it if this process is killed without a chance to do so.
"""

import atexit
import ctypes
import fcntl
import gc
import importlib
import json
import multiprocessing
import os
import runpy
import signal
import socket
import sys
import time
import traceback
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from types import FrameType
from typing import IO

from django.core.exceptions import ImproperlyConfigured

from config import private_files, weak_secrets
from config.env import FILES, env_bool, env_int, env_path, env_str
from config.logs import ASIDE, rotate

SECONDS_TO_START = 60
SECONDS_TO_STOP = 15
SECONDS_TO_TRUST = 60  # a child that ran this long may fail again without a longer pause
LONGEST_PAUSE = 30
LIBC = ctypes.CDLL(None)
FORK = multiprocessing.get_context("fork")
PR_SET_PDEATHSIG, PR_SET_NAME, M_ARENA_MAX = 1, 15, -8
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
    """A process that is kept running; what it prints goes to its log."""

    def __init__(self, name: str, run: Callable[[], None], log: Path) -> None:
        self.name = name
        self.log = log
        self._run = run
        self._process: multiprocessing.process.BaseProcess | None = None
        self._started = 0.0
        self._pause = 1
        self._restart_at: float | None = None

    def start(self) -> None:
        rotate(self.log)
        with self.log.open("ab") as output:
            self._process = forked(self.name.split()[0], self._run, output.fileno())
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
        if self._process is not None and self._process.pid is not None:
            try:
                os.killpg(self._process.pid, number)
            except ProcessLookupError:
                return  # nobody left

    def wait(self, seconds: float) -> None:
        if self._process is not None:
            self._process.join(max(0, seconds))
            if self._process.exitcode is None:
                say(f"The {self.name} does not stop by itself and is ended.")


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, raise_stopped)
    try:
        serve()
    except Stopped:
        say("Stopped.")
    except (Obstacle, ImproperlyConfigured) as obstacle:
        sys.exit(f"assay: {obstacle}")


def raise_stopped(number: int, frame: FrameType | None) -> None:
    """Once only: a second Ctrl-C must not break off the stopping."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
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
    load_django()
    lock = say_if_shared(data)
    with preparing(data / "static"):
        load()
    if demo:
        Step("Loading the demo project", "seed_demo").finish()
    children = [
        Child("web server", lambda: run_module(web_command(host, port)), logs / "web.log"),
        Child("worker", run_worker, logs / "worker.log"),
    ]
    try:
        for child in children:
            child.start()
        own = address_to_call(host)
        wait_for_answer(f"http://{own}:{port}/readyz?only=database", children[0])
        welcome(f"http://{own}:{port}/", logs, demo)
        if demo and not here_only:
            say(FOR_OTHERS if env_bool("ASSAY_DEMO_EVERYWHERE", False) else HERE_ONLY)
        while True:
            time.sleep(0.2)
            for child in children:
                child.watch()
    finally:
        stop(children)
        lock.close()


PRELOADED = (
    *("evaluation.tasks", "labeling.tasks"),
    *("gunicorn.app.wsgiapp", "gunicorn.workers.gthread", "config.web_logs"),
    *("celery.apps.worker", "celery.concurrency.thread"),
)


def load_django() -> None:
    """All that commands are made of."""
    say("Loading ...")
    save_memory()
    gc.disable()  # as it looks through all modules again and again, which are kept for good
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("CELERY_SKIP_CHECKS", "true")  # by the worker: "migrate" makes them
    import django

    django.setup()


def load() -> None:
    """All that web server and worker are made of, so that they share it."""
    from django.conf import settings
    from django.urls import get_resolver

    _ = get_resolver().url_patterns
    middleware = (name.rpartition(".")[0] for name in settings.MIDDLEWARE)
    for name in (*PRELOADED, *middleware):
        importlib.import_module(name)
    # What the collector of a child never looks at is not written to, and so stays shared.
    gc.collect()
    gc.freeze()
    gc.enable()


def save_memory() -> None:
    """By default glibc keeps up to eight heaps a processor, each with holes that nobody fills."""
    if sys.platform == "linux":
        LIBC.mallopt(M_ARENA_MAX, 2)
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")  # for programs that a child starts


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


def say_if_shared(data: Path) -> IO[bytes]:
    """Two servers on one folder do their work once; the second one says so."""
    private_files.make_folder(data / "locks")
    lock = (data / "locks" / "serve").open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say(f"Another “assay serve” uses {data}, too: both serve the same project.")
    return lock


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


@contextmanager
def preparing(static: Path) -> Iterator[None]:
    """Two other processes do so meanwhile, each as soon as what commands are made of is loaded."""
    from config.assets import is_current

    steps = [Step("Preparing the database", "migrate", "--verbosity", "0")]
    if not is_current(static):
        files = ("collectstatic", "--noinput", "--verbosity", "0")
        steps.append(Step("Building the static files", *files))
    try:
        yield
        for step in steps:
            step.finish()
    finally:
        for step in steps:
            step.kill()


class Step:
    """A command of manage.py at work in a child; what it says is shown as it says it."""

    def __init__(self, title: str, *arguments: str) -> None:
        say(f"{title} ...")
        self.title = title
        self._output, theirs = FORK.Pipe(duplex=False)
        self._process = forked(arguments[0], lambda: manage(*arguments), theirs.fileno())
        theirs.close()

    def finish(self) -> None:
        lines = []
        with os.fdopen(os.dup(self._output.fileno()), encoding="utf-8", errors="replace") as output:
            for line in output:
                lines.append(line.rstrip())
                if not line.startswith(" "):  # the accounts are shown at the end
                    say(f"  {lines[-1]}")
        self._process.join()
        if self._process.exitcode != 0:
            said = lines[-1] if lines else "it said nothing"
            raise Obstacle(f"{self.title} failed: {said}")

    def kill(self) -> None:
        self._process.kill()
        self._process.join()


def manage(*arguments: str) -> None:
    from django.core.management import call_command

    from config.newer_tables import require_known_migrations

    os.environ[ASIDE] = "1"
    require_known_migrations()
    call_command(*arguments)


# --- processes ----------------------------------------------------------------------------------


def forked(name: str, run: Callable[[], None], output: int) -> multiprocessing.process.BaseProcess:
    """A process that runs this and prints to the file with that number."""
    process = FORK.Process(target=become, args=(name, run, output), name=name)
    process.start()
    return process


def become(name: str, run: Callable[[], None], output: int) -> None:
    """In the child: as if a program of this name had been started."""
    os.setsid()
    if sys.platform == "linux":
        # SIGTERM when the supervisor is gone, however it went; and a name for ps and top.
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        LIBC.prctl(PR_SET_NAME, f"assay-{name}".encode())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    sys.stdout = os.fdopen(1, "w", buffering=1, encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", closefd=False)
    try:
        run()
    except SystemExit:
        raise
    except BaseException:
        traceback.print_exc()
        sys.exit(1)
    finally:
        atexit._run_exitfuncs()  # multiprocessing leaves them out


def run_module(command: list[str]) -> None:
    """``python -m module arguments``, in this process."""
    _, _, module, *arguments = command
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


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
    return [
        *(sys.executable, "-m", "celery", "--app", "config", "worker"),
        *("--pool", "threads"),
        *("--concurrency", str(worker_threads())),
        *("--loglevel", "INFO", "--without-mingle", "--without-gossip", "--without-heartbeat"),
    ]


def worker_threads() -> int:
    """Each watches a process that does the work: ``labeling.jobs.runner``.

    One more than may take long: ``labeling.jobs.queue``.
    """
    return env_int("ASSAY_WORKER_THREADS", 2, minimum=1) + 1


def run_worker() -> None:
    """As ``worker_command`` does, without Celery's command line: it holds a shell of 8 MB."""
    from config.celery import app

    worker = app.Worker(
        concurrency=worker_threads(),
        loglevel="INFO",
        without_mingle=True,
        without_gossip=True,
        without_heartbeat=True,
    )
    worker.start()
    sys.exit(worker.exitcode)


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
    return [
        f"  {person['username']:<18} {person['password']:<14} {', '.join(describe(person))}"
        for person in people
    ]


def describe(person: dict[str, object]) -> list[str]:
    roles = person["roles"]
    assert isinstance(roles, list)
    return [
        str(person["full_name"]),
        *roles,
        *(["administrator"] if person["is_superuser"] else []),
    ]


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
