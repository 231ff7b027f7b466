"""Keys for rows that are inserted later, or before what makes them seen."""

from __future__ import annotations

from django.db import connection, models


def reserve(model: type[models.Model], number: int = 1, *, above: int = 0) -> int:
    """The first of that many keys in a row, which nobody else gets; in the caller's transaction.

    Nor has anybody had them: who comes back late must not take another's rows for their own.
    """
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # two that reserve at the same time would take keys out of each other's row for ever
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext('reserve ' || %s))", [table])
            while True:  # who inserts in between takes a key away from the row
                cursor.execute(
                    "SELECT MIN(key), MAX(key) FROM (SELECT"
                    " nextval(pg_get_serial_sequence(%s, 'id')) AS key"
                    " FROM generate_series(1, %s)) AS keys",
                    [table, number],
                )
                first, last = cursor.fetchone()
                if last - first == number - 1:
                    return int(first)
        # one transaction at a time
        cursor.execute("SELECT MAX(seq) FROM sqlite_sequence WHERE name = %s", [table])
        (last,) = cursor.fetchone()
        first = max(last or 0, above) + 1
        cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table])
        cursor.execute(
            "INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, first + number - 1]
        )
        return first
