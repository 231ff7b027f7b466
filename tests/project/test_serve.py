"""``make serve``: one command starts it all, and stopping it leaves nothing behind."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from config import serve
from config.env import ROOT
from tests import databases
from tests.processes import free_port

PATIENCE = 180  # seconds; a busy machine needs some of them
HEAVY = {
    *("torch", "sentence_transformers", "sklearn", "scipy", "pandas", "matplotlib"),
    *("langgraph", "langchain_core", "openai", "pyarrow"),
}
UNUSED_AT_START = {
    *HEAVY,
    *("cryptography", "phonenumbers", "rapidfuzz", "jinja2", "pygments", "requests"),
    *("psycopg", "django.test", "drf_spectacular.plumbing", "rest_framework.test", "unittest"),
}


def own_environment(data: Path, **settings: str) -> dict[str, str]:
    own = {
        "ASSAY_DATA_DIR": str(data),
        "ASSAY_DEMO": "false",
        "ASSAY_ENV_FILE": os.devnull,
        "ASSAY_WEB_PROCESSES": "1",
        "DATABASE_URL": "",
    }
    return {**os.environ, **own, **settings}


class Server:
    """A running ``make serve`` without the part that installs."""

    def __init__(self, data: Path, **settings: str) -> None:
        self.port = free_port()
        self.output = data / "output.txt"
        data.mkdir(parents=True, exist_ok=True)
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "config.command", "serve"],
                cwd=ROOT,
                env=own_environment(data, ASSAY_PORT=str(self.port), **settings),
                stdout=output,
                stderr=output,
            )

    def said(self) -> str:
        return self.output.read_text(encoding="utf-8")

    def wait_for(self, text: str) -> None:
        self.wait_until(lambda: text in self.said())

    def wait_until(self, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not reached():
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.05)

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def child(self, name: str) -> psutil.Process | None:
        for child in psutil.Process(self.process.pid).children():
            with contextlib.suppress(psutil.NoSuchProcess):  # it has ended meanwhile
                if name in {Path(file.path).stem for file in child.open_files()}:
                    return child
        return None

    def get(self, path: str) -> int:
        url = f"http://127.0.0.1:{self.port}{path}"
        with urllib.request.urlopen(url, timeout=PATIENCE) as reply:
            return reply.status

    def kill(self) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            family = self.family()
            self.process.kill()  # first: it starts the others again
            for process in family:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
        self.process.wait(PATIENCE)


@pytest.fixture
def migrated(tmp_path: Path, migrated_databases: Path) -> None:
    """The data folder has a database: what a first start does is promised by other tests."""
    (tmp_path / "data").mkdir()
    databases.copy_sqlite(migrated_databases, tmp_path / "data/assay.sqlite3")


@pytest.fixture
def start(tmp_path):
    """Starts servers, and ends whatever a failed test left of them."""
    servers: list[Server] = []

    def start_server(**settings: str) -> Server:
        server = Server(tmp_path / "data", **settings)
        servers.append(server)
        server.wait_for("Assay is running")
        return server

    yield start_server
    for server in servers:
        server.kill()


def run_serve(data: Path, **settings: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "config.command", "serve"],
        cwd=ROOT,
        env=own_environment(data, **settings),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def assert_gone(family: list[psutil.Process]) -> None:
    _, alive = psutil.wait_procs(family, timeout=PATIENCE)
    assert alive == []


@pytest.mark.worker
def test_a_dead_worker_is_started_again_and_a_killed_supervisor_takes_its_children_along(
    migrated, start
):
    server = start()
    server.child("worker").kill()

    server.wait_for("The worker ended (-9) and is started again in 1 s.")
    server.wait_until(lambda: server.child("worker") is not None)
    assert server.get("/readyz?only=database") == 200

    family = server.family()
    server.process.kill()

    assert_gone(family)


@pytest.mark.worker
def test_it_answers_until_a_signal_stops_all_of_it_within_seconds_and_starts_again_with_its_data(
    start, tmp_path
):
    first = start()
    assert first.get("/readyz?only=database") == 200
    assert first.get("/") == 200
    assert all(map(first.child, ("web", "worker")))
    secret = (tmp_path / "data/secret_key").read_text()
    inode = (tmp_path / "data/assay.sqlite3").stat().st_ino
    family = first.family()

    first.process.send_signal(signal.SIGTERM)

    assert first.process.wait(PATIENCE) == 0
    assert_gone(family)
    assert "Stopped." in first.said()
    assert "does not stop by itself" not in first.said()  # for which it is given 15 seconds

    second = start()
    family = second.family()
    assert (tmp_path / "data/secret_key").read_text() == secret
    assert (tmp_path / "data/assay.sqlite3").stat().st_ino == inode

    second.process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    second.process.send_signal(signal.SIGINT)  # one alone: tests/project/test_packaging.py

    assert second.process.wait(PATIENCE) == 0
    assert_gone(family)


def test_a_busy_port_is_said_in_one_line(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]

        done = run_serve(tmp_path / "data", ASSAY_PORT=str(port))

    assert done.returncode == 1
    assert done.stderr == (
        f"assay: Cannot listen on 127.0.0.1:{port} (Address already in use). "
        "Stop what uses that port, or set ASSAY_PORT to another one.\n"
    )


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"ASSAY_DATA_DIR": "/proc/assay"}, "Set ASSAY_DATA_DIR to a folder that you may write"),
        ({"ASSAY_PORT": "http"}, "ASSAY_PORT is 'http': set it to a whole number"),
        ({"ASSAY_PORT": "99999"}, "set ASSAY_PORT to another one"),
        ({"DATABASE_URL": "sqlite:////proc/assay/db"}, "Preparing the database failed"),
    ],
)
def test_a_start_that_cannot_work_is_said_in_one_line(tmp_path, settings, sentence):
    done = run_serve(tmp_path / "data", **{"ASSAY_PORT": str(free_port()), **settings})

    assert done.returncode == 1
    assert sentence in done.stderr.splitlines()[-1]
    assert done.stderr.splitlines()[-1].startswith("assay: ")


def test_a_process_that_keeps_dying_is_given_growing_pauses(tmp_path, monkeypatch, capsys):
    clock = [0.0]
    (tmp_path / "broken.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(serve.time, "monotonic", lambda: clock[0])
    child = serve.Child("worker", [sys.executable, "-m", "broken"], tmp_path / "worker.log")
    child.start()
    pauses = []

    for _ in range(7):
        child._process.join(PATIENCE)
        child.watch()
        pauses.append(child._restart_at - clock[0])
        clock[0] = child._restart_at
        child.watch()

    child._process.join(PATIENCE)
    assert pauses == [1, 2, 4, 8, 16, 30, 30]
    assert "worker | ZeroDivisionError: division by zero" in capsys.readouterr().err


def test_the_web_process_loads_no_heavy_library_and_at_start_only_what_every_page_needs(
    tmp_path, migrated
):
    code = """
import sys
from contextlib import suppress
from config.wsgi import application
print(",".join(sys.modules))
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import NoReverseMatch, get_resolver, reverse

client = Client()
client.force_login(get_user_model().objects.create_superuser("admin", password="x"))
paths = ["/", "/readyz?only=database", "/admin/", "/api/schema/", "/api/docs/"]
for name in {name for name in get_resolver().reverse_dict if isinstance(name, str)}:
    with suppress(NoReverseMatch):  # it needs arguments
        paths.append(reverse(name))
asked = {path: client.get(path).status_code for path in paths}
assert 200 in asked.values(), asked
print(",".join({name.partition(".")[0] for name in sys.modules}))
"""
    settings = {"DJANGO_SETTINGS_MODULE": "config.settings", "ASSAY_ALLOWED_HOSTS": "testserver"}
    environment = own_environment(tmp_path / "data", **settings)
    collect = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity", "0"]
    subprocess.run(collect, cwd=ROOT, env=environment, check=True)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )

    assert done.returncode == 0, done.stderr
    at_start, in_the_end = (set(line.split(",")) for line in done.stdout.splitlines())
    assert UNUSED_AT_START & at_start == set()
    assert HEAVY & in_the_end == set()
