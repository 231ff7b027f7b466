from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, nullcontext

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction

from config.sqlite3 import base

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "sqlite", reason="of SQLite"),
]


@pytest.fixture
def writer() -> Iterator[sqlite3.Connection]:
    """Somebody else, who is writing."""
    name = connection.settings_dict["NAME"]
    with closing(sqlite3.connect(name, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other


def test_no_connection_waits_within_a_statement() -> None:
    """A thread that writes may have to clear away what belongs to it."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout")
        assert cursor.fetchone() == (0,)


@pytest.mark.parametrize("together", [True, False], ids=["a transaction", "one statement"])
def test_who_waits_to_write_looks_every_few_milliseconds(
    writer: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, together: bool
) -> None:
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 20:
            writer.execute("COMMIT")

    monkeypatch.setattr(base, "sleep", pause)
    with transaction.atomic() if together else nullcontext():
        User.objects.create(username="ana")

    assert User.objects.filter(username="ana").exists()
    assert len(pauses) == 20
    assert pauses[0] == base.FIRST_PAUSE
    assert max(pauses) == pauses[-1] == base.LONGEST_PAUSE


def test_who_has_waited_long_enough_is_told_so(
    writer: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(base, "monotonic", lambda: now[0])
    monkeypatch.setattr(base, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))

    with pytest.raises(OperationalError, match="locked"), transaction.atomic():
        User.objects.create_user("ana")

    patience = connection.settings_dict["OPTIONS"]["timeout"]
    assert patience < now[0] < patience + 2 * base.LONGEST_PAUSE
    writer.execute("COMMIT")
    assert not User.objects.exists()


@pytest.mark.parametrize(
    "letters", [0, base.LONGEST_KEPT], ids=["one that is kept", "one that is too long"]
)
def test_a_statement_is_rewritten_as_by_django(letters: int) -> None:
    query = "SELECT %s, 'a%%', '" + letters * "x" + "'"
    for _ in range(2):
        with connection.cursor() as cursor:
            cursor.execute(query, [7])
            assert cursor.fetchone() == (7, "a%", letters * "x")
            cursor.execute("SELECT %(a)s", {"a": 8})
            assert cursor.fetchone() == (8,)
    with connection.cursor() as cursor:
        cursor.execute("SELECT 'a%'")
        assert cursor.fetchone() == ("a%",)
