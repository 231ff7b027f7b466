"""One text is one text, in whatever form of Unicode it is written; places stay where they are."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from django.core.management import CommandError, call_command

from labeling.conversations.rules.importing import Turn
from labeling.conversations.rules.transcripts import Message
from labeling.exchange.export import export
from labeling.models import Annotation, Conversation, GoldRelease, Project, Transcript
from labeling.templatetags.talks import said_at
from tests import factories
from tests.labeling.domain.formats import rich

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


CLOCK = datetime(2025, 2, 3, 4, 5, 6, 789, tzinfo=UTC)
TURNS = [*rich.TURNS, Turn("user", 'a\r\nb "\\" \x1f\x7f\u2028 😀', "Zoé", CLOCK)]


@pytest.fixture
def talk(project: Project) -> Conversation:
    return factories.make_talk(project, "rich", TURNS)


def test_a_stored_text_is_what_its_hash_covers_and_reads_as_it_was_said(talk):
    stored = Transcript.objects.get(conversation=talk).messages

    assert hashlib.sha256(stored.encode()).hexdigest() == talk.content_sha256
    assert stored == json.dumps(
        json.loads(stored), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    assert Conversation.objects.get(pk=talk.pk).messages == [
        Message(index, turn.role, turn.speaker, turn.content, turn.time)
        for index, turn in enumerate(TURNS)
    ]


@pytest.mark.parametrize(
    "time",
    [
        datetime(1970, 1, 1, 0, 1, 2, tzinfo=UTC),
        datetime(1970, 1, 1, 0, 1, 2),  # noqa: DTZ001 - as gold may have it
        "1970-01-01T00:01:02+00:00",
        "1970-01-01T00:01:02.500000",
    ],
)
def test_how_far_into_a_recording_is_shown_without_a_day(time):
    assert said_at(time) == "0:01:02"
