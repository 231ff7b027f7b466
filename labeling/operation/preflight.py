"""What is missing before a team uses a server, as Django's checks: ``assay check``. In English.

Errors have to be mended first; what is only to be known is information.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import shorten
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core import checks
from django.db import DatabaseError, connection

from config import private_files, weak_secrets
from config.env import env_file
from config.version import VERSION
from labeling.accounts import demo_accounts
from labeling.core import clock, planner
from labeling.operation import health

MISSING, NOTE = checks.ERROR, checks.INFO
TAG = "assay"
ROOM = 5 * 1024**3  # bytes
MOST_APART = 2.0
"""Seconds. Leases are given by the clock of the database or of a worker, and read by others."""

Found = Iterator[tuple[int, str]]


def check(ask: Callable[[], Found]) -> Callable[[], Found]:
    """Each by itself: one that cannot be made is missing, and does not end the others."""

    @checks.register(TAG, deploy=True)
    def answered(**kwargs: Any) -> list[checks.CheckMessage]:
        name = f"{TAG}.{ask.__name__}"
        try:
            return [checks.CheckMessage(level, says, id=name) for level, says in ask()]
        except DatabaseError as error:
            reason = shorten(str(error), 500)
            return [checks.Error(f"cannot be looked at: {reason}", id=name)]

    return ask


@check
def place() -> Found:
    """An installed Assay finds both in the folder in which it is started, which may be wrong."""
    file = env_file()
    settings_of = f"{file} and the environment" if file.exists() else "the environment alone"
    yield NOTE, f"Assay {VERSION}, settings from {settings_of}, data in {settings.DATA_DIR}"


@check
def debug() -> Found:
    if settings.DEBUG:
        yield MISSING, "ASSAY_DEBUG shows settings to anybody: take it away."


@check
def keys() -> Found:
    for fault in weak_secrets.faults():
        yield MISSING, fault


@check
def names() -> Found:
    local = {"localhost", "127.0.0.1", "[::1]"}
    if "*" in settings.ALLOWED_HOSTS:
        yield MISSING, "ASSAY_ALLOWED_HOSTS=* lets others choose the names in links: name yours."
    elif set(settings.ALLOWED_HOSTS) <= local:
        yield MISSING, "nobody else can open it: set ASSAY_ALLOWED_HOSTS to the server's name."


@check
def https() -> Found:
    if not settings.HTTPS:
        yield (
            MISSING,
            "passwords travel in the clear: put a proxy with HTTPS in front, and set "
            "ASSAY_HTTPS=true, ASSAY_PUBLIC_URL and ASSAY_TRUSTED_ORIGINS.",
        )
    elif not settings.CSRF_TRUSTED_ORIGINS:
        yield NOTE, "forms may be refused behind the proxy: set ASSAY_TRUSTED_ORIGINS."


@check
def demo() -> Found:
    names = ", ".join(demo_accounts.open_accounts())
    if names and settings.DEMO_EVERYWHERE:
        yield (
            MISSING,
            f"everybody can sign in as {names}: take ASSAY_DEMO_EVERYWHERE away, and "
            "give these accounts other passwords or close them in the administration.",
        )
    elif names:
        yield (
            MISSING,
            f"{names} have passwords that everybody knows, and open on this machine: "
            "give them others (assay changepassword) or close them in the administration.",
        )


@check
def people() -> Found:
    if not User.objects.filter(is_superuser=True, is_active=True).exists():
        yield MISSING, "there is no administrator: run assay create-user NAME --admin."


@check
def database() -> Found:
    """That gold is guarded is checked with the guards."""
    if connection.vendor == "sqlite":
        yield (
            NOTE,
            "SQLite is for up to ten people at once and projects of 10,000 conversations, on one "
            "machine: beyond that set DATABASE_URL to PostgreSQL.",
        )
    for project in planner.beyond_sqlite():
        yield MISSING, f"project {project.slug} is too large for SQLite: move to PostgreSQL."


@check
def times() -> Found:
    """The clock of this process against the database's; SQLite has none."""
    if connection.vendor != "postgresql":
        return
    apart = abs(clock.offset_of(connection)).total_seconds()
    if apart > MOST_APART:
        yield (
            MISSING,
            f"the clocks of this machine and of the database are {apart:.0f} s apart: set both "
            "by NTP, or leases end too early or too late.",
        )


WHAT_TO_DO = {
    "database": "See that it runs and that DATABASE_URL is right.",
    "migrations": "Run assay migrate.",
    "broker": "See that it runs and that CELERY_BROKER_URL is right.",
    "queue": "Start another worker, and see at /status/ what waits.",
    "disk": "Make room, or set ASSAY_DATA_DIR to a disk with room that can be written.",
    "workers": "Start one: assay worker.",
}


@check
def parts() -> Found:
    for name, part in health.look().items():
        if not part["ok"]:
            yield MISSING, f"{name}: {part['says']}. {WHAT_TO_DO[name]}"


@check
def room() -> Found:
    free = shutil.disk_usage(settings.DATA_DIR).free
    if free < ROOM:
        yield (
            MISSING,
            f"{free // 1024**2} MB are free: make room for at least {ROOM // 1024**3} GB.",
        )


@check
def files() -> Found:
    databases = [Path(settings.DATABASES["default"]["NAME"]).name]
    private_files.close(settings.DATA_DIR, *databases)
    left = private_files.open_to_others(settings.DATA_DIR, *databases)
    if left:
        names = ", ".join(path.name for path in left)
        yield MISSING, f"others of this machine can read {names}: chmod go-rwx as their owner."
