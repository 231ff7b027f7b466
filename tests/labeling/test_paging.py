"""Pages of lists in the API."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from labeling.models import Project
from tests import factories

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


def test_lists_go_on_behind_the_last_row_and_take_a_limit(
    project: Project, ana: User, signed_in: Any
) -> None:
    factories.open_full(project, 5)
    client, address, seen = signed_in(ana), "/api/queue/?limit=2", []
    while address is not None:
        shown = client.get(address).json()
        assert len(shown["results"]) <= 2
        seen += [row["id"] for row in shown["results"]]
        address = shown["next"]

    assert seen == [row["id"] for row in client.get("/api/queue/").json()["results"]]
    assert len(set(seen)) == 5
    for wrong in ("limit=0", "limit=501", "cursor=x", "cursor=WyJhIl0", "cursor=WzEsMiwzLDQsNV0"):
        assert client.get(f"/api/queue/?{wrong}").status_code == 400, wrong


@pytest.mark.parametrize(
    ("of", "values"),
    [
        ("queue", ["0001-01-01T00:00:00+14:00", 1, 1, 1, 1]),
        ("projects", ["\ud800", 1]),
        ("projects", ["\x00", 1]),
        ("projects", [{}, 1]),
        ("projects", ["a", 1.5]),
    ],
)
def test_a_cursor_that_nobody_gave_out_is_refused(
    signed_in: Any, ana: User, of: str, values: list[Any]
) -> None:
    cursor = urlsafe_b64encode(json.dumps(values).encode()).decode()

    status = signed_in(ana).get(f"/api/{of}/?cursor={cursor}").status_code
    # PostgreSQL can compare with a time before the first year of UTC, which does no harm
    assert status == (200 if of == "queue" and connection.vendor == "postgresql" else 400)
