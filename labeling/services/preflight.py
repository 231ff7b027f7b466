"""What is missing before a team uses a server: ``assay preflight``. In English."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.core import checks
from django.db import DatabaseError, connection

from config import private_files, weak_secrets
from config.env import env_file
from config.version import VERSION
from labeling.services import clock, demo_accounts, health, jobs, plugins
from labeling.services.exchange import uploads
from labeling.words import in_english

MISSING, NOTE, FINE = "missing", "note", "ok"
ROOM = 5 * 1024**3  # bytes
MOST_APART = 2.0
"""Seconds. Leases are given by the clock of the database or of a worker, and read by others."""


class Finding(NamedTuple):
    check: str
    state: str
    says: str


Findings = Iterator[tuple[str, str]]


def look(only: Sequence[str] | None = None) -> list[Finding]:
    """Each check by itself: one that cannot be made is missing, and does not end the others."""
    findings: list[Finding] = []
    for name, check in CHECKS.items():
        if only and name not in only:
            continue
        try:
            findings += [Finding(name, *each) for each in check()]
        except DatabaseError as error:
            reason = shorten(str(error), 500)
            findings.append(Finding(name, MISSING, f"cannot be looked at: {reason}"))
    return findings


def _place() -> Findings:
    """An installed Assay finds both in the folder in which it is started, which may be wrong."""
    file = env_file()
    settings_of = f"{file} and the environment" if file.exists() else "the environment alone"
    yield FINE, f"Assay {VERSION}, settings from {settings_of}, data in {settings.DATA_DIR}"


def _debug() -> Findings:
    if settings.DEBUG:
        yield MISSING, "ASSAY_DEBUG shows settings to anybody: take it away."
    else:
        yield FINE, "debug pages are off"


def _keys() -> Findings:
    for fault in weak_secrets.faults():
        yield MISSING, fault
    where = {"ASSAY_SECRET_KEY": "secret_key", "ASSAY_GOLD_KEY": "gold_key"}
    for name, file in where.items():
        if (settings.DATA_DIR / file).exists():
            yield (
                NOTE,
                f"{file} is kept in {settings.DATA_DIR}: back it up; with several machines set "
                f"{name}, the same on all.",
            )
        else:
            yield FINE, f"{name} is set"


def _names() -> Findings:
    local = {"localhost", "127.0.0.1", "[::1]"}
    if "*" in settings.ALLOWED_HOSTS:
        yield MISSING, "ASSAY_ALLOWED_HOSTS=* lets others choose the names in links: name yours."
    elif set(settings.ALLOWED_HOSTS) <= local:
        yield MISSING, "nobody else can open it: set ASSAY_ALLOWED_HOSTS to the server's name."
    else:
        yield FINE, f"answers to {', '.join(settings.ALLOWED_HOSTS)}"


def _https() -> Findings:
    if not settings.HTTPS:
        yield (
            MISSING,
            "passwords travel in the clear: put a proxy with HTTPS in front, and set "
            "ASSAY_HTTPS=true, ASSAY_PUBLIC_URL and ASSAY_TRUSTED_ORIGINS.",
        )
        return
    yield FINE, f"HTTPS, remembered for {settings.SECURE_HSTS_SECONDS} s"
    if not settings.CSRF_TRUSTED_ORIGINS:
        yield NOTE, "forms may be refused behind the proxy: set ASSAY_TRUSTED_ORIGINS."


def _demo() -> Findings:
    names = demo_accounts.open_accounts()
    if not names:
        yield FINE, "no account has a password of the demo"
    elif settings.DEMO_EVERYWHERE:
        yield (
            MISSING,
            f"everybody can sign in as {', '.join(names)}: take ASSAY_DEMO_EVERYWHERE away, and "
            "give these accounts other passwords or close them in the administration.",
        )
    else:
        yield (
            MISSING,
            f"{', '.join(names)} have passwords that everybody knows, and open on this machine: "
            "give them others (assay changepassword) or close them in the administration.",
        )


def _people() -> Findings:
    if User.objects.filter(is_superuser=True, is_active=True).exists():
        yield FINE, "there is an administrator"
    else:
        yield MISSING, "there is no administrator: run assay create-user NAME --admin."


def _mail() -> Findings:
    if settings.MAIL_URL:
        yield FINE, f"mail goes to {settings.EMAIL_HOST}"
    else:
        yield NOTE, "without ASSAY_MAIL_URL a forgotten password needs a link by a lead."


def _database() -> Findings:
    if connection.vendor == "sqlite":
        yield (
            NOTE,
            "SQLite is for a few people and one machine: for a team set DATABASE_URL to "
            "PostgreSQL.",
        )
    else:
        yield FINE, connection.vendor
    if waiting := health.migrations_to_make():
        yield MISSING, f"{waiting} migrations wait: run assay migrate."
        return
    lost = [message.msg for message in _of_database() if message.level >= checks.ERROR]
    if lost:
        yield MISSING, f"gold is not guarded ({' '.join(lost)}): run assay migrate."
    else:
        yield FINE, "all migrations are made, and gold is guarded"


def _of_database() -> list[checks.CheckMessage]:
    """Guards of both applications, and the triggers that count."""
    return checks.run_checks(
        tags=[checks.Tags.database], databases=["default"], include_deployment_checks=True
    )


def _clock() -> Findings:
    """Of this process against the database's; SQLite has none."""
    if connection.vendor != "postgresql":
        yield FINE, "the database takes the time of this machine"
        return
    apart = abs(clock.offset_of(connection)).total_seconds()
    if apart > MOST_APART:
        yield (
            MISSING,
            f"the clocks of this machine and of the database are {apart:.0f} s apart: set both "
            "by NTP, or leases end too early or too late.",
        )
    else:
        yield FINE, f"the database's clock is this machine's, within {MOST_APART:.0f} s"


def _work() -> Findings:
    stuck = [job for job in jobs.open_jobs() if job.is_stuck]
    if stuck:
        names = ", ".join(f"{job.kind} {job.title or job.key}" for job in stuck[:5])
        yield (
            MISSING,
            f"{len(stuck)} jobs are held by workers that are gone, or into the future ({names}): "
            "free them at /status/.",
        )
    else:
        yield FINE, "nothing is held by a worker that is gone, or into the future"


def _uploads() -> Findings:
    old = uploads.forgotten()
    if old.number:
        yield (
            MISSING,
            f"{old.number} files of {old.megabytes} MB wait to be confirmed for more than a day: "
            "run a worker, or see its log for why it does not delete them.",
        )
    else:
        yield FINE, "no file that was never confirmed is kept for more than a day"


def _parts() -> Findings:
    for name, part in health.look().items():
        if part["ok"]:
            yield FINE, f"{name}: {part['says']}"
        else:
            yield MISSING, f"{name}: {part['says']}. {WHAT_TO_DO[name]}"


WHAT_TO_DO = {
    "database": "See that it runs and that DATABASE_URL is right.",
    "migrations": "Run assay migrate.",
    "broker": "See that it runs and that CELERY_BROKER_URL is right.",
    "queue": "Start another worker, and see at /status/ what waits.",
    "disk": "Make room, or set ASSAY_DATA_DIR to a disk with room that can be written.",
    "workers": "Start one: assay worker.",
}


def _room() -> Findings:
    free = shutil.disk_usage(settings.DATA_DIR).free
    if free < ROOM:
        yield (
            MISSING,
            f"{free // 1024**2} MB are free: make room for at least {ROOM // 1024**3} GB.",
        )
    else:
        yield FINE, f"{free // 1024**3} GB are free"


def _files() -> Findings:
    databases = [Path(settings.DATABASES["default"]["NAME"]).name]
    private_files.close(settings.DATA_DIR, *databases)
    left = private_files.open_to_others(settings.DATA_DIR, *databases)
    if left:
        names = ", ".join(path.name for path in left)
        yield MISSING, f"others of this machine can read {names}: chmod go-rwx as their owner."
    else:
        yield FINE, "nobody else on this machine reads the data folder's files"


def _backup() -> Findings:
    yield NOTE, "see that assay backup runs daily (nothing here can tell), and try restoring once."


def _checks() -> Findings:
    """Django's own, for what is deployed."""
    silenced = {"security.W003"}  # the cookie of forms is read by scripts
    for message in checks.run_checks(include_deployment_checks=True):
        if message.id not in silenced and message.level >= checks.ERROR:
            yield MISSING, f"{message.id}: {message.msg} {message.hint or ''}".strip()


def _plugins() -> Findings:
    for fault in plugins.faults():
        why = in_english(fault.reason)
        yield MISSING, f"{fault.source}: {fault.name} ({fault.group}) is left out. {why}"
    added = [
        f"{name} ({source})"
        for registry in plugins.registries()
        for name, source in registry.added.items()
    ]
    yield FINE, f"of installed packages: {', '.join(added) or 'nothing'}"


CHECKS: dict[str, Callable[[], Findings]] = {
    "place": _place,
    "debug": _debug,
    "keys": _keys,
    "names": _names,
    "https": _https,
    "demo": _demo,
    "people": _people,
    "mail": _mail,
    "database": _database,
    "parts": _parts,
    "clock": _clock,
    "work": _work,
    "uploads": _uploads,
    "room": _room,
    "files": _files,
    "backup": _backup,
    "checks": _checks,
    "plug-ins": _plugins,
}


def register(name: str, check: Callable[[], Findings]) -> None:
    """Evaluation adds its caches."""
    CHECKS[name] = check
