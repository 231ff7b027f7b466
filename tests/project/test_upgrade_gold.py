"""Gold and the audit log of a database of version 0.3.0, after the migrations since."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.test_migrations import _migrate_to, _run_on, empty_database, migrate

__all__ = ["empty_database"]

STATE = {"labeling": "0054_agreement_with_gold", "evaluation": "0033_run_command_until"}
BEFORE = """
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

executor = MigrationExecutor(connection)
apps = executor.loader.project_state([("labeling", "0054_agreement_with_gold")]).apps
get = lambda name: apps.get_model("labeling", name)
project = get("Project").objects.create(slug="p", name="P")
release = get("GoldRelease").objects.create(
    project=project, layer="arc", name="p", version=1, header="{}", sha256="0" * 64,
    signature="old", public_key="old",
)
talk = get("Conversation").objects.create(project=project, external_id="c", n_messages=0)
get("Transcript").objects.create(conversation=talk, messages="[]")
for key in (release.pk, 77):  # the second one was never published
    get("GoldItem").objects.create(
        release_id=key, conversation=talk, item_id="c", position=0, how="single", canonical="{}",
        sha256="1" * 64,
    )
get("GoldDraft").objects.create(pk=77)
events = [
    get("Event").objects.create(project=project, verb="round.opened", object_id=str(n))
    for n in range(3)
]
for position, event in enumerate([events[0], events[2], events[1]], start=1):
    get("EventLink").objects.create(
        position=position, event=event, previous="0" * 64, sha256=str(position) * 64
    )
"""
AFTER = """
from labeling.models import Event, GoldItem, GoldRelease
from labeling.services.gold import held

(item,) = GoldItem.objects.all()
assert item.release == GoldRelease.objects.get()
assert (item.release.signature, item.release.listing) == ("old", "")
closed = Event.objects.get(verb="audit.chain_closed")
first, second, third, _ = Event.objects.order_by("pk")
assert closed.data == {"position": 3, "sha256": "3" * 64, "late": [[second.pk, 3]]}
assert [row.pk for row in held._in_order_of_links()][:3] == [first.pk, third.pk, second.pk]
"""


@pytest.mark.postgres
def test_gold_and_the_chain_of_0_3_are_carried_over(empty_database: str, tmp_path: Path) -> None:
    _migrate_to(empty_database, STATE)
    _run_on(empty_database, BEFORE)

    migrate(empty_database)

    _run_on(empty_database, AFTER)
