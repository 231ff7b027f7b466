"""Rows of a database of version 0.6.0, and what has to be there of them after the upgrade."""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from evaluation.models import RunNote
from labeling.agreement import conversations, measurements
from labeling.models import CheckPlan, Job, Round

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


def write() -> None:
    with connection.cursor() as cursor:
        for row in ROWS:
            cursor.execute(row)
    newest = [("labeling", "0001_squashed_0006_membership_as_it_counts")]
    apps = MigrationExecutor(connection).loader.project_state(newest).apps

    def make(model: str, /, **values: Any) -> Any:
        return apps.get_model("labeling", model).objects.create(**values)

    project = make("Project", slug="p", name="P")
    guideline = make("Guideline", project=project, version=1, body="Read.")
    make("CheckPlan", project=project, test=True)
    talk, *chosen = (
        make("Conversation", project=project, external_id=name, n_messages=2) for name in "cde"
    )
    for each in chosen:
        make("CheckConversation", project=project, conversation=each, purpose="qualification")
    opened = {"number": 1, "kind": "full", "overlap": 2}
    of = {"round": make("Round", project=project, guideline=guideline, **opened)}
    of["layer"] = "extraction"
    for selection, value in (("", 1), ("type=data", 0)):
        figures = {"figures": {"value": value}, "measured_at": timezone.now()}
        make("Measurement", **of, selection=selection, **figures)
    counts = {"position": 0, "n_annotators": 2, "n_units": 2, "n_differing": 1, "n_splits": 1}
    counts |= {"annotators": ["ana", "ben"], "marks": bytes([1, 0, 1, 255])}
    for selection in ("", "origin=typed", "type=data"):
        make("ConversationAgreement", **of, **counts, conversation=talk, selection=selection)


def check() -> None:
    measured = Round.objects.get()
    assert measurements.figures_of(measured, "extraction") == {"value": 1}
    for origin in ("", "typed"):
        [added] = conversations.each(measured, "extraction", origin)
        assert added.labels == {"ana": [1, 0], "ben": [1, None]}
        assert added.unit_names == ["0", "1"]
    assert measured.agreed_conversations.count() == 2
    assert CheckPlan.objects.get().test_on == 2
    assert RunNote.objects.get().text == "Table 3\n\nfinal, thesis"  # its tags
    assert Job.objects.get().kind == "answers"  # nobody asks for layers
