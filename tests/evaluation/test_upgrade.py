"""What runs of 0.6.0 hold is there after the upgrade, in the columns of today."""

from __future__ import annotations

import pytest

from tests.databases import migrate
from tests.project.test_migrations import _connected, _rows, empty_database, load  # noqa: F401

pytestmark = pytest.mark.postgres

RUN = """INSERT INTO evaluation_run (id, pipeline, pipeline_version, config, config_sha256, name,
 split, reason, repetitions, seed, spec, created_at, concurrency, paused, cancelled, scored_cases)
 VALUES (1, 'x', '1', '{}', '', '', '', '', 1, 0, '{}', '2026-11-01', 1, FALSE, FALSE, 0)"""
ROWS = [
    RUN,
    "INSERT INTO evaluation_runtag (id, run_id, tag) VALUES (1, 1, 'thesis'), (2, 1, 'final')",
    "INSERT INTO evaluation_runnote (id, run_id, text) VALUES (1, 1, 'Table 3')",
    "INSERT INTO labeling_job (id, kind, key, asked_at, attempts)"
    " VALUES (1, 'layers', 7, '2026-11-01', 0), (2, 'answers', 7, '2026-11-01', 0)",
]


def test_tags_stand_in_the_note_and_nobody_asks_for_layers(
    empty_database,  # noqa: F811
):
    load(empty_database, "0.6.0")
    with _connected(empty_database) as database:
        for row in ROWS:
            database.execute(row)

    migrate(empty_database)

    notes = _rows(empty_database, "SELECT text FROM evaluation_runnote")
    assert [*map(tuple, notes)] == [("Table 3\n\nfinal, thesis",)]
    jobs = _rows(empty_database, "SELECT kind FROM labeling_job")
    assert [*map(tuple, jobs)] == [("answers",)]
