"""One text is one text, in whatever form of Unicode it is written; places stay where they are."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from django.core.management import CommandError, call_command

from labeling.conversations.rules.importing import Turn
from labeling.exchange.export import export
from labeling.models import Annotation, Conversation, GoldRelease, Project
from tests import factories

TEXTS = ["Das Cafe\u0301 in Zu\u0308rich zahlt.", "Der Rene\u0301 auch."]
WORDS = "Zu\u0308rich"


def event(form: str) -> dict[str, Any]:
    text, words = normalize(form, TEXTS[0]), normalize(form, WORDS)
    start = text.index(words)
    span = {"message": 0, "start": start, "end": start + len(words), "text": words}
    return {"uid": "e", "type": "order", "trigger": span, "arguments": []}


def make_project(form: str) -> Project:
    project = factories.make_project(layers=["events"], event_schema={"order": []})
    turns = [Turn("user", normalize(form, text)) for text in TEXTS]
    factories.make_talk(project, "c-1", turns)
    return project


def native(form: str, **fields: Any) -> str:
    messages = [{"role": "user", "content": normalize(form, text)} for text in TEXTS]
    return json.dumps({"id": "c-1", "messages": messages, **fields}) + "\n"


def run(command: str, path: Path, **options: Any) -> str:
    out = StringIO()
    call_command(command, str(path), project="orders", stdout=out, stderr=out, **options)
    return out.getvalue()


FORMS = [("NFD", "NFC"), ("NFC", "NFD"), ("NFD", "NFD")]


@pytest.mark.django_db
@pytest.mark.parametrize(("stored", "brought"), FORMS)
def test_a_conversation_is_known_in_its_other_form(people, tmp_path, stored, brought):
    make_project(stored)
    path = tmp_path / "talks.jsonl"
    path.write_text(native(brought))

    said = run("import_conversations", path, format="native")
    assert "1 read, 0 new (0 messages), 1 unchanged" in said
    path.write_text(native(brought).replace("auch", "nie"))
    with pytest.raises((SystemExit, CommandError)):
        run("import_conversations", path, format="native")
    assert Conversation.objects.get().messages[0].content == normalize(stored, TEXTS[0])


@pytest.mark.django_db
@pytest.mark.parametrize(("stored", "brought"), FORMS)
def test_labels_of_the_other_form_lie_on_the_same_words(people, tmp_path, stored, brought):
    make_project(stored)
    answer = {"annotator": "ana", "labels": {"events": [event(brought)]}}
    path = tmp_path / "labels.jsonl"
    path.write_text(native(brought, answers=[answer]))

    run("import_labels", path, reason="Pilot.")

    [label] = Annotation.objects.get().payload["events"]
    assert label["trigger"] == event(stored)["trigger"]


@pytest.mark.django_db
def test_gold_comes_back_beside_the_conversations_that_it_is_of(people, tmp_path):
    project = make_project("NFD")
    for assignment in factories.open_full(project, 1).assignments.all():
        factories.answer_with(assignment, {"events": [event("NFD")]})
    release = factories.freeze(project, "events", name="own")
    path, *_ = export(release, format="native", folder=tmp_path / "out")

    out = StringIO()
    options = {"project": "orders", "layer": "events", "name": "back", "stdout": out}
    call_command("import_gold", str(path), **options)

    back = GoldRelease.objects.get(name="back").items.get().content
    [label] = back["gold"]["events"]
    assert label["trigger"] == event("NFC")["trigger"]
    assert Conversation.objects.count() == 1
