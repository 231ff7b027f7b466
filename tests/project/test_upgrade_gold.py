"""Gold, doubts about it and the audit log of version 0.3.0, after the migrations since."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.test_migrations import _migrate_to, _run_on, empty_database, migrate

__all__ = ["empty_database"]

STATE = {"labeling": "0054_agreement_with_gold", "evaluation": "0033_run_command_until"}
BEFORE = """
import json
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
get("Guideline").objects.create(project=project, version=1, body="Be kind.")
user = apps.get_model("auth", "User").objects.create(username="rita")
other = get("Conversation").objects.create(project=project, external_id="d", n_messages=0)
for each in (talk, other):
    get("Transcript").objects.create(conversation=each, messages="[]")
labels = [{"uid": "a", "x": 1}, {"uid": "b", "x": 1}]
held = {"a": {"how": "unanimous", "by": ["annotator-1"]}}
doubted = get("GoldItem").objects.create(
    release=release, conversation=other, item_id="d", position=1, how="single", sha256="2" * 64,
    canonical=json.dumps(
        {"gold": {"arcs": labels}, "provenance": {"labels": held, "people": "pseudonyms"}}
    ),
)
get("Pseudonym").objects.create(project=project, user=user, number=1)
for uid, kind in [("a", None), ("a", "kept"), ("b", "corrected")]:
    proposal = {"uid": uid, "x": 2}
    dispute = get("Dispute").objects.create(
        item=doubted, conversation=other, layer="arc", label_uid=uid, proposal=proposal,
        reason="Wrong.", origin="case", source={"run": 7}, opened_by=user,
    )
    if kind:
        reading = get("DisputeReading").objects.create(dispute=dispute, judge=user, gold_is_a=True)
        get("DisputeVerdict").objects.create(
            reading=reading, choice="a" if kind == "kept" else "b", reason="So it is."
        )
        get("DisputeOutcome").objects.create(
            dispute=dispute, kind=kind, label=proposal if kind == "corrected" else None
        )
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
from labeling.models import Event, GoldItem, GoldRelease, Reopening
from labeling.services.gold import held
from labeling.services.settling.reopened import changes_of

item, doubted = GoldItem.objects.order_by("item_id")
assert item.release == GoldRelease.objects.get()
assert (item.release.signature, item.release.listing) == ("old", "")
closed = Event.objects.get(verb="audit.chain_closed")
first, second, third, _ = Event.objects.order_by("pk")
assert closed.data == {"position": 3, "sha256": "3" * 64, "late": [[second.pk, 3]]}
rows = list(Reopening.objects.order_by("pk"))
assert [row.state for row in rows] == ["open", "kept", "corrected"]
assert {(row.item, row.reason, row.source["run"]) for row in rows} == {(doubted, "Wrong.", 7)}
assert rows[1].history["verdicts"][0]["side"] == "gold"
decision = rows[2].decision
assert (decision.decided_by.username, decision.reason) == ("rita", "So it is.")
assert decision.payload == {"arcs": [
    {"uid": "a", "x": 1, "adopted_from": ["rita"]}, {"uid": "b", "x": 2, "adopted_from": []},
]}
(change,) = changes_of(rows[2], decision)
assert (change[0].uid, change[1]) == ("b", {"uid": "b", "x": 1})
new = Reopening.objects.create(item=doubted, layer="arc", reason="x", asked_by=decision.decided_by)
assert new.pk > rows[2].pk
assert [row.pk for row in held._in_order_of_links()][:3] == [first.pk, third.pk, second.pk]
"""


@pytest.mark.postgres
def test_gold_and_the_chain_of_0_3_are_carried_over(empty_database: str, tmp_path: Path) -> None:
    _migrate_to(empty_database, STATE)
    _run_on(empty_database, BEFORE)

    migrate(empty_database)

    _run_on(empty_database, AFTER)
