"""The product for a benchmark: an own database, signed-in people, a started web server."""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def on_each_database(
    script: str, options: argparse.Namespace, measure: Callable[[argparse.Namespace], int]
) -> int:
    """Each database in a separate process: Django is set up once in a process."""
    if options.only:
        return measure(options)
    failed = [database for database in options.databases if _measured(database, script)]
    return int(bool(failed))


def _measured(database: str, script: str) -> int:
    """What the servers and the worker reported is kept where something failed."""
    logs = Path(tempfile.mkdtemp(prefix=f"{Path(script).stem}-{database}-"))
    command = [sys.executable, script, *sys.argv[1:], "--only", database]
    with address(database, log=logs / "postgresql.log") as url:
        known = {"DATABASE_URL": url, LOGS: str(logs)}
        failed = subprocess.call(command, env={**os.environ, **known})
    if failed:
        print(f"  what was reported: {logs}")
    else:
        shutil.rmtree(logs)
    return failed


LOGS = "ASSAY_BENCHMARK_LOGS"


def log_of(name: str, folder: str) -> Path:
    """Where a process of the product writes what it reports."""
    return Path(os.environ.get(LOGS) or folder) / f"{name}.log"


@contextmanager
def address(database: str, *, log: Path | None = None) -> Iterator[str]:
    """Of an empty database; DATABASE_URL may name a PostgreSQL server."""
    server = os.environ.get("DATABASE_URL", "")
    if database == "sqlite" or server.startswith("postgres"):
        yield "" if database == "sqlite" else server
        return
    sys.path.insert(0, str(ROOT))
    from config.postgres import temporary_server

    with temporary_server(log=log) as url:
        yield url


def settle(folder: str, *, fresh: bool = True) -> None:
    """Set Django up for an own database and migrate it.

    The database is a SQLite file in ``folder``, or the empty one that DATABASE_URL names.
    """
    os.environ |= {"ASSAY_DATA_DIR": folder, "ASSAY_ENV_FILE": os.devnull}
    os.environ.setdefault("DATABASE_URL", "")
    os.environ.setdefault("ASSAY_LOG_LEVEL", "WARNING")
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()
    from django.core.management import call_command

    from labeling.models import Project

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    if fresh and Project.objects.exists():
        sys.exit("The database is in use: name an empty one in DATABASE_URL.")


LETTERS = "abdegiklmnoprstu"  # digits would be taken for telephone numbers


def talk(name: str) -> dict[str, Any]:
    """A conversation of eight messages, each of words of its own: gold refuses talks alike."""
    dice = Random(name)
    texts = [" ".join("".join(dice.choices(LETTERS, k=6)) for _ in range(8)) for _ in range(8)]
    messages = [{"role": "user", "content": f"We need {text}."} for text in texts]
    return {"id": name, "messages": messages}


def label(**fields: Any) -> dict[str, Any]:
    """A requirement as an annotator writes it; ``uid``, ``id`` and title are to be given."""
    return {
        "type": "functional",
        "actor": "Customer",
        "action": "Track an order",
        "condition": None,
        "acceptance_criteria": ["The page shows the status", "The page shows the history"],
        "priority": "must",
        "source_messages": [0],
        "rationale": "Asked for in message 0",
        "confidence": 0.9,
        **fields,
    }


def session_of(user: Any) -> str:
    """The session key of a signed-in person."""
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.create()
    return str(store.session_key)


@contextmanager
def web_server(folder: str) -> Iterator[int]:
    """The port of a web server as ``make serve`` starts it; what it prints goes to a file."""
    from django.db import connections

    from config.serve import answers, web_command

    connections.close_all()
    port, log = free_port(), log_of("web", folder)
    with log.open("wb") as output:
        server = subprocess.Popen(
            web_command("127.0.0.1", port), cwd=ROOT, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        while not answers(f"http://127.0.0.1:{port}/readyz?only=database"):
            if server.poll() is not None:
                sys.exit(f"The web server ended: {log.read_text()[-2000:]}")
            time.sleep(0.1)
        yield port
    finally:
        server.terminate()
        server.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
