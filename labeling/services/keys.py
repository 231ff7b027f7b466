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
            cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, 'id'))", [table])
            first = int(cursor.fetchone()[0])
            if number > 1:
                cursor.execute(
                    "SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)",
                    [table, first + number - 1],
                )
            return first
        # one transaction at a time
        cursor.execute("SELECT MAX(seq) FROM sqlite_sequence WHERE name = %s", [table])
        (last,) = cursor.fetchone()
        first = max(last or 0, above) + 1
        cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table])
        cursor.execute(
            "INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, first + number - 1]
        )
        return first
