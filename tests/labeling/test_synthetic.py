"""Synthetic conversations never become gold unnoticed."""

from __future__ import annotations

import json
from io import BytesIO, StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from labeling.agreement import vectors
from labeling.conversations import conversations
from labeling.exchange import label_exports
from labeling.exchange.export import export
from labeling.exchange.formats import native
from labeling.gold import gold, gold_requests
from labeling.models import Conversation, Event, GoldRelease, Project
from tests import factories
from tests.refusals import refused

pytestmark = pytest.mark.django_db

WRITER = "templates/1 seed 7"


@pytest.fixture(autouse=True)
def word_overlap_ruler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "ruler", factories.ruler)


@pytest.fixture
def mixed(people: Any) -> Project:
    """Three labeled conversations, one of them written by a program."""
    project = factories.make_project()
    factories.answer_all(factories.open_full(project, 3))
    made = project.conversations.filter(external_id="c-002")
    made.update(origin="synthetic", generator=WRITER)
    return project


def line(**keys: Any) -> bytes:
    messages = [{"role": "user", "content": "Hi"}, {"role": "analyst", "content": "Hello"}]
    return json.dumps({"id": "a", "messages": messages, **keys}).encode()


def take(project: str, raw: bytes) -> Any:
    return conversations.import_files(project_slug=project, files=[("a.jsonl", BytesIO(raw))])


def test_a_file_says_which_conversations_are_synthetic():
    take("shop", line(origin="synthetic", generator=WRITER))

    stored = Conversation.objects.get()
    assert (stored.origin, stored.generator) == ("synthetic", WRITER)
    with refused(conversations.ImportRefused, match='with origin "synthetic", not "coll'):
        take("shop", line(origin="collected"))
    assert take("shop", line()).unchanged == 1  # a file that does not say changes nothing
    assert Conversation.objects.get().is_synthetic


def test_a_freeze_with_synthetic_items_asks_to_be_confirmed(mixed):
    with pytest.raises(gold.SyntheticItems, match="synthetic=1 total=3"):
        factories.freeze(mixed)
    assert not GoldRelease.objects.exists()

    release = factories.freeze(mixed, with_synthetic=True)

    assert json.loads(release.header)["synthetic"] == 1
    documents = {item.item_id: item.content for item in release.items.all()}
    assert documents["c-002"]["origin"] == "synthetic"
    assert documents["c-002"]["generator"] == WRITER
    assert "origin" not in documents["c-001"]
    assert Event.objects.get(verb="gold.frozen").data["synthetic"] == 1


def test_the_command_asks_for_its_flag(mixed):
    with pytest.raises(CommandError, match="--with-synthetic"):
        call_command("freeze_gold", project="orders")

    out = StringIO()
    call_command("freeze_gold", "--with-synthetic", project="orders", stdout=out)

    assert "1 of its conversations are synthetic." in out.getvalue()


def test_the_page_asks_with_a_box_and_shows_what_is_synthetic(mixed, people, client, monkeypatch):
    client.force_login(people["rita"])
    page = client.get(reverse("gold", args=["orders"])).content.decode()
    assert 'name="with_synthetic"' in page

    fields = {"layer": "extraction", "name": "orders", "with_synthetic": "on"}
    client.post(reverse("gold-freeze", args=["orders"]), fields)
    asked = Event.objects.get(verb=gold_requests.ASKED)
    gold_requests.answer(asked.project, ruler=factories.ruler)

    release = GoldRelease.objects.get()
    shown = client.get(release.get_absolute_url()).content.decode()
    assert "1 of 3" in shown
    assert shown.count(">synthetic<") == 1
    item = reverse("gold-item", args=["orders", "orders", 1, "c-002"])
    assert WRITER in client.get(item).content.decode()
    listed = client.get(reverse("conversations", args=["orders"])).content.decode()
    assert listed.count(">synthetic<") == 1
    assert ">synthetic<" in client.get(reverse("gold", args=["orders"])).content.decode()


def test_exports_say_it(mixed, tmp_path):
    from pyarrow import parquet

    release = factories.freeze(mixed, with_synthetic=True)

    export(release, format="huggingface", folder=tmp_path / "hub")
    export(release, format="csv", folder=tmp_path / "csv")

    card = (tmp_path / "hub" / "README.md").read_text()
    assert "Synthetic conversations, which nobody has held: 1" in card
    table = parquet.read_table(tmp_path / "hub" / "data" / "dev.parquet")
    origins = sorted(table["origin"].to_pylist())
    assert origins == ["collected", "collected", "synthetic"]
    assert (tmp_path / "csv" / "labels.csv").read_text().count(',"synthetic",') == 1
    labels = [json.loads(line) for line in label_exports.native_lines(mixed)]
    assert [label.get("generator") for label in labels] == [None, WRITER, None]
    again = list(native.read(BytesIO("".join(label_exports.native_lines(mixed)).encode())))
    assert again[1][1].origin == "synthetic"
