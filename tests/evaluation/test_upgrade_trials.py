"""Trials of a database of version 0.4.0 are runs without gold after the migrations since."""

from __future__ import annotations

import subprocess
import sys

import pytest

from config.env import ROOT
from tests.databases import environment, migrate
from tests.project.test_migrations import empty_database, load

__all__ = ["empty_database"]

BEFORE = """
from datetime import datetime, timezone
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
import json
from labeling.domain.facts import Fact as Said

executor = MigrationExecutor(connection)
apps = executor.loader.project_state(
    [("evaluation", "0001_squashed_0038_one_job_table"),
     ("labeling", "0001_squashed_0063_american_spelling")]).apps
of = lambda app: lambda model, /, **values: apps.get_model(app, model).objects.create(**values)
labeling, make, then = of("labeling"), of("evaluation"), datetime(2026, 1, 31, tzinfo=timezone.utc)
Fact = lambda code, **values: json.dumps(Said(code, **values).as_json(), sort_keys=True)
ana = of("auth")("User", username="ana")
project = labeling("Project", slug="p", name="P")
stored = labeling("Conversation", project=project, external_id="c", n_messages=0)

def trial(name, states, **values):
    trial = make("Trial", maker=ana, name=name, pipeline="memory", layer="memory",
                 pipeline_version="1", config={"k": 1.0}, expires_at=then,
                 questions=[["Q-001", "Who?"], ["Q-002", "When?"]], **values)
    talk = make("TrialConversation", trial=trial, position=0, external_id="a:b", n_messages=1,
                text="[]")
    make("TrialConversation", trial=trial, position=1, external_id="c", n_messages=0,
         conversation=stored)
    for number, state in enumerate(states, start=1):
        ended = {"finished_at": then} if state in ("done", "failed") else {}
        output = {"output": {"evidence": [1]}} if state == "done" else {}
        error = {"error": Fact("trial.cancelled")} if state == "failed" else {}
        make("TrialCase", trial=trial, conversation=talk, case_id=f"a:b:Q-00{number}",
             question="?", state=state, n_labels=1, **ended, **output, **error,
             usage={"calls": 2, "cost": 0.5, "models": ["m"]})

trial("done", ["done", "failed"], project=project)
trial("going on", ["done", "running"], budget_tokens=5, model={"id": "local/small"})
trial("cancelled", ["failed", "failed"], cancelled=True)
trial("stopped", ["queued", "queued"], failure=Fact("run.model_missing", wanted="x"))
labeling("Job", kind="trial", key=1)
"""
AFTER = """
from evaluation.models import Run, RunConversation
from evaluation.services.language_models import budgets
from labeling.models import Job

runs = {run.name: run for run in Run.objects.with_progress().select_related("project")}
assert {name: run.status for name, run in runs.items()} == {
    "done": "finished", "going on": "running", "cancelled": "cancelled", "stopped": "failed"}
done, going = runs["done"], runs["going on"]
assert not done.is_measured and done.project.slug == "p" and done.requested_by.username == "ana"
assert (done.spec.layer, done.spec.questions["Q-002"]) == ("memory", "When?")
assert done.config_sha256 == done.spec.config_sha256
assert (done.n_done, done.n_failed, done.aggregates.count()) == (1, 1, 0)
assert done.scored_at == done.expires_at  # the moment of both in this test
first, second = done.cases.order_by("pk")
assert (first.case_id, first.output, second.error.code) == (
    "a:b:Q-001", {"evidence": [1]}, "trial.cancelled")
assert [talk.conversation_id is None for talk in done.conversations.all()] == [True, False]
assert sorted(going.cases.values_list("state", flat=True)) == ["done", "queued"]
assert (going.budget_tokens, going.spec.model_id, going.woken_at is None) == (
    5, "local/small", False)
assert budgets.spent(going.pk).cost == 1.0
assert RunConversation.objects.count() == 8 and not Job.objects.exists()
"""


@pytest.mark.postgres
def test_trials_of_0_4_are_runs_without_gold(empty_database: str) -> None:
    load(empty_database, "0.4.0")
    _run_on(empty_database, BEFORE)

    migrate(empty_database)

    _run_on(empty_database, AFTER)


def _run_on(address: str, code: str) -> None:
    command = [sys.executable, "-c", f"import django\ndjango.setup()\n{code}"]
    settings = {"DJANGO_SETTINGS_MODULE": "config.settings"}
    subprocess.run(command, cwd=ROOT, env=environment(address) | settings, check=True)
