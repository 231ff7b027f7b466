"""What lint found in a database of version 0.5.0 is on the page after the upgrade."""

from __future__ import annotations

import subprocess
import sys

import pytest

from config.env import ROOT
from tests.databases import environment, migrate
from tests.project.test_migrations import empty_database, load

__all__ = ["empty_database"]

BEFORE = """
import json
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from labeling.domain.facts import Fact

state = MigrationExecutor(connection).loader.project_state(
    [("labeling", "0001_squashed_0063_american_spelling")])
make = lambda model, /, **values: state.apps.get_model("labeling", model).objects.create(**values)
project = make("Project", slug="p", name="P")
talk = make("Conversation", project=project, external_id="c", n_messages=0)
report = make("LintReport", project=project, layer="extraction", items=3)
for key, kind in enumerate(["empty", "dangling"]):
    fact = json.dumps(Fact("lint.empty", item="c").as_json())
    make("LintFinding", report=report, kind=kind, key=str(key), fact=fact, conversation=talk)
make("LintWaiver", project=project, layer="extraction", kind="empty", number=1, reason="Fine.")
"""
AFTER = """
from labeling.gold import lint
from labeling.models import Conversation, LintReport
from labeling.words import in_english

report = LintReport.objects.get()
[found] = lint.stored(report)
assert report.items == 3
assert (found.kind, found.conversation) == ("empty", Conversation.objects.get().pk)
assert in_english(found.fact).startswith("c: no labels")
"""


@pytest.mark.postgres
def test_findings_are_carried_over(empty_database: str) -> None:
    load(empty_database, "0.5.0")
    _run_on(empty_database, BEFORE)

    migrate(empty_database)

    _run_on(empty_database, AFTER)


def _run_on(address: str, code: str) -> None:
    command = [sys.executable, "-c", f"import django\ndjango.setup()\n{code}"]
    settings = {"DJANGO_SETTINGS_MODULE": "config.settings"}
    subprocess.run(command, cwd=ROOT, env=environment(address) | settings, check=True)
