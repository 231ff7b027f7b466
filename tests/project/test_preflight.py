"""``assay check``: what is missing before a team uses a server, and private files."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import checks
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.utils import timezone

from config import private_files
from config.command import CHECK
from labeling.operation import preflight
from tests import factories

pytestmark = pytest.mark.django_db


def found(name: str) -> list[str]:
    """What is said of one thing."""
    messages = checks.run_checks(tags=[preflight.TAG], include_deployment_checks=True)
    return [message.msg for message in messages if message.id == f"assay.{name}"]


def test_it_names_what_is_missing_and_what_to_do(settings: Any) -> None:
    settings.DEBUG, settings.HTTPS, settings.ALLOWED_HOSTS = True, False, ["localhost"]
    with pytest.raises(SystemCheckError) as ended:
        call_command("check", *CHECK)
    says = str(ended.value)
    for part in ("assay.debug", "assay.https", "ASSAY_ALLOWED_HOSTS", "create-user NAME --admin"):
        assert part in says


def test_nothing_is_said_of_what_is_there(settings: Any) -> None:
    factories.make_people()
    settings.DEBUG, settings.HTTPS = False, True
    settings.CSRF_TRUSTED_ORIGINS = ["https://assay.example.org"]
    settings.ALLOWED_HOSTS = ["assay.example.org"]
    for name in ("debug", "https", "names", "people", "demo", "room", "times"):
        assert found(name) == []


def test_it_names_demo_accounts_that_still_open(settings: Any) -> None:
    User.objects.create_user("ana", password="gold-ana")
    assert "open on this machine" in found("demo")[0]
    settings.DEMO_EVERYWHERE = True
    assert "everybody can sign in" in found("demo")[0]


@pytest.mark.parametrize("table", ["labeling_golditem", "evaluation_rating"])
def test_a_missing_guard_is_named(table: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", [table]
        )
        (name,) = cursor.fetchone()
        cursor.execute(f'DROP TRIGGER "{name}"')
    messages = checks.run_checks(
        tags=[checks.Tags.database], databases=["default"], include_deployment_checks=True
    )
    assert [message.level for message in messages] == [checks.ERROR]


def test_a_cache_that_forgets_is_named(settings: Any) -> None:
    assert found("caches") == []
    settings.MAX_CACHE_MB = 0
    assert "ASSAY_MAX_CACHE_MB" in found("caches")[0]


@pytest.mark.parametrize("ahead", [0, 7200, -60])
def test_a_clock_that_differs_from_the_databases_is_named(monkeypatch, ahead):
    """Played: SQLite takes the time of the machine, and PostgreSQL's cannot be set."""
    said = timezone.now() + timedelta(seconds=ahead)
    cursor = SimpleNamespace(execute=lambda statement: None, fetchone=lambda: (said,))
    played = SimpleNamespace(vendor="postgresql", cursor=lambda: nullcontext(cursor))
    monkeypatch.setattr(preflight, "connection", played)
    said_of_it = [says for _, says in preflight.times()]
    assert [f"{abs(ahead)} s apart" in says for says in said_of_it] == ([True] if ahead else [])


def test_what_was_open_to_others_is_closed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    private_files.make_folder(data)
    assert data.stat().st_mode & 0o777 == 0o700
    (data / "uploads").mkdir()
    (data / "uploads").chmod(0o755)
    (data / "static").mkdir()
    (data / "static").chmod(0o755)
    ours = ["assay.sqlite3", "assay.sqlite3-wal", "team.sqlite3", "secret_key", "gold_key.812"]
    others = ["notes.txt", "team.sqlite3.csv", "my_secret_key"]
    for name in (*ours, *others):
        (data / name).touch()
        (data / name).chmod(0o644)
    private_files.close(data, "team.sqlite3")
    modes = {path.name: path.stat().st_mode & 0o777 for path in data.iterdir()}
    files = dict.fromkeys(ours, 0o600) | dict.fromkeys(others, 0o644)
    assert modes == {"uploads": 0o700, "static": 0o755, **files}
    assert private_files.open_to_others(data, "team.sqlite3") == []
