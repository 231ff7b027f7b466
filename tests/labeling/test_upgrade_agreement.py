"""What a database of version 0.6.0 holds of agreement and checks is there after the upgrade."""

from __future__ import annotations

import subprocess
import sys

import pytest

from config.env import ROOT
from tests.databases import environment, migrate
from tests.project.test_migrations import empty_database, load

__all__ = ["empty_database"]

BEFORE = """
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

state = MigrationExecutor(connection).loader.project_state(
    [("labeling", "0001_squashed_0006_membership_as_it_counts")])
make = lambda model, /, **values: state.apps.get_model("labeling", model).objects.create(**values)
project = make("Project", slug="p", name="P")
guideline = make("Guideline", project=project, version=1, body="Read.")
talk = make("Conversation", project=project, external_id="c", n_messages=2)
measured = make("Round", project=project, guideline=guideline, number=1, kind="full",
                overlap=2)
of = {"round": measured, "layer": "extraction"}
now = timezone.now()
make("CheckPlan", project=project, test=True)
for name in ("d", "e"):
    chosen = make("Conversation", project=project, external_id=name, n_messages=2)
    make("CheckConversation", project=project, conversation=chosen, purpose="qualification")
make("Measurement", **of, selection="", figures={"value": 1}, measured_at=now)
make("Measurement", **of, selection="type=data", figures={"value": 0}, measured_at=now)
counts = {"position": 0, "n_annotators": 2, "n_units": 2, "n_differing": 1, "n_splits": 1}
for selection in ("", "origin=typed", "type=data"):
    make("ConversationAgreement", **of, **counts, conversation=talk, selection=selection,
         annotators=["ana", "ben"], marks=bytes([1, 0, 1, 255]))
"""
AFTER = """
from labeling.agreement import conversations, measurements
from labeling.models import CheckPlan, Round

measured = Round.objects.get()
assert measurements.figures_of(measured, "extraction") == {"value": 1}
for origin in ("", "typed"):
    [added] = conversations.each(measured, "extraction", origin)
    assert added.labels == {"ana": [1, 0], "ben": [1, None]}
    assert added.unit_names == ["0", "1"]
assert measured.agreed_conversations.count() == 2
assert CheckPlan.objects.get().test_on == 2
"""


@pytest.mark.postgres
def test_figures_and_units_are_carried_over(empty_database):
    load(empty_database, "0.6.0")
    _run_on(empty_database, BEFORE)

    migrate(empty_database)

    _run_on(empty_database, AFTER)


def _run_on(address: str, code: str) -> None:
    command = [sys.executable, "-c", f"import django\ndjango.setup()\n{code}"]
    settings = {"DJANGO_SETTINGS_MODULE": "config.settings"}
    subprocess.run(command, cwd=ROOT, env=environment(address) | settings, check=True)
