"""An export of gold in another, empty project: the same items, down to their hashes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from labeling.exchange.export import export
from labeling.gold import signing
from labeling.models import Conversation, GoldRelease, Pseudonym
from tests import factories
from tests.labeling.test_import_gold import refused, run
from tests.pages import page

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


@pytest.fixture
def release(people: dict[str, User]) -> GoldRelease:
    return factories.make_release(name="demo", items=2)


def taken(folder: Path, release: GoldRelease) -> GoldRelease:
    export(release, format="native", folder=folder)
    run(folder, project="elsewhere", layer=release.layer)
    return GoldRelease.objects.get(project__slug="elsewhere")


def test_the_release_says_where_its_items_were_taken_from(release, tmp_path):
    back = taken(tmp_path / "export", release)

    (source,) = json.loads(back.header)["imported_from"]
    assert source["file"] == "export/items.jsonl"
    assert (source["release"], source["release_sha256"]) == (str(release), release.sha256)
    assert {item.how for item in back.items.all()} == {"imported"}
    assert source["signed_by"] == signing.fingerprint()
    assert back.listing == release.listing


def test_pseudonyms_of_another_project_name_nobody_here(release, tmp_path, signed_in, people):
    back = taken(tmp_path / "export", release)
    Pseudonym.objects.create(project=back.project, user=people["noor"], number=1)

    shown = page(signed_in(people["admin"]), f"{back.get_absolute_url()}items/c-001/")

    assert "annotator-1" in shown
    assert "held by annotator-1, annotator-2, annotator-3" in shown


def test_a_split_that_only_the_conversation_has_refuses_the_item(project, tmp_path):
    """The item says what it says: it cannot be taken over and get a split at the same time."""
    factories.make_conversations(project, 1)
    Conversation.objects.update(split="")
    export(factories.make_release(project, items=1), format="native", folder=tmp_path / "export")
    document = json.loads((tmp_path / "export" / "items.jsonl").read_text("utf-8"))
    messages = [
        {"role": row["role"], "content": row["content"], "speaker": row["speaker"]}
        for row in document["conversation"]
    ]
    named = {key: document[key] for key in ("domain", "difficulty") if document[key]}
    stored = {"id": document["item_id"], "split": "test", **named, "messages": messages}
    (tmp_path / "texts.jsonl").write_text(json.dumps(stored), encoding="utf-8")
    call_command("import_conversations", tmp_path / "texts.jsonl", project="elsewhere")

    (said,) = refused(tmp_path / "export", project="elsewhere", layer="extraction")

    assert "its split is “” in the export and “test” here" in said
