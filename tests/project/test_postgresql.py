from __future__ import annotations

import time

import pytest
from django.contrib.auth.models import User
from django.db import connection

from labeling.services import statements

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has no server"),
]


def test_what_each_save_repeats_is_planned_once() -> None:
    ana = User.objects.create_user("ana")
    user_of = statements.Prepared(lambda pk: User.objects.filter(pk=pk))

    again = [user_of.first(ana.pk), user_of.first(ana.pk), user_of.first(0)]

    assert again == [ana, ana, None]
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements WHERE NOT from_sql")
        planned = [text for (text,) in cursor.fetchall() if '"auth_user"."id" =' in text]
    assert len(planned) == 1


def test_a_connection_that_the_server_has_ended_is_not_used_again() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    assert connection.is_usable()

    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
    other.close()
    end = time.monotonic() + 60
    while connection.is_usable() and time.monotonic() < end:
        time.sleep(0.01)

    assert not connection.is_usable()
    connection.close()
