from __future__ import annotations

import pytest
from django.db import connection

from labeling.models import Project
from labeling.services import planner
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL counts by itself")
def test_sqlite_counts_its_tables_when_they_have_grown(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planner, "SMALL", 2)
    monkeypatch.setattr(planner, "EVERY_SECONDS", 0)
    monkeypatch.setattr(planner, "_next", 0.0)
    monkeypatch.setattr(planner, "_counted", {})

    planner.keep_up()
    factories.open_full(project, 4)
    planner.keep_up()

    known = planner._known()
    assert known["labeling_conversation"] >= 4
    assert known["labeling_assignment"] >= 4
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM sqlite_stat1")
    planner.keep_up()
    assert planner._known() == {}  # what has not grown since is not counted again
