"""A conversation's text is one row, which says what its messages said before and never changes."""

from __future__ import annotations

import hashlib
import importlib
import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import DatabaseError, connection, models, transaction
from django.db.migrations.state import ModelState, ProjectState

from labeling.domain.exchange.importing import Turn
from labeling.domain.transcripts import Message
from labeling.models import Conversation, Project, Transcript
from tests import factories
from tests.labeling.domain.formats import rich

CLOCK = datetime(2025, 2, 3, 4, 5, 6, 789, tzinfo=UTC)
TURNS = [*rich.TURNS, Turn("user", 'a\r\nb "\\" \x1f\x7f\u2028 😀', "Zoé", CLOCK)]


@pytest.fixture
def talk(project: Project) -> Conversation:
    return factories.make_talk(project, "rich", TURNS)


def test_a_stored_text_is_what_its_hash_covers_and_reads_as_it_was_said(talk: Conversation) -> None:
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
    "statement",
    [
        "UPDATE labeling_transcript SET messages = '[]'",
        "INSERT INTO labeling_transcript SELECT conversation_id, '[]' FROM labeling_transcript"
        " WHERE true ON CONFLICT (conversation_id) DO UPDATE SET messages = '[]'",
    ],
    ids=["update", "upsert"],
)
def test_no_statement_changes_a_stored_text(talk: Conversation, statement: str) -> None:
    with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
        run_sql(statement)

    assert len(Conversation.objects.get(pk=talk.pk).messages) == len(TURNS)


def test_old_messages_become_one_text_with_the_hash_they_had(
    project: Project, talk: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And back again; more conversations than fit into a chunk, one of them without a message."""
    factories.make_conversations(project, 3)
    factories.make_talk(project, "silent", [])
    migration = importlib.import_module("labeling.migrations.0029_transcripts")
    monkeypatch.setattr(migration, "CHUNK", 2)
    apps, editor = old_models(), SimpleNamespace(connection=connection)
    texts = dict(Transcript.objects.values_list("pk", "messages"))

    migration.split_messages(apps, editor)
    Transcript.objects.all().delete()
    Conversation.objects.update(n_messages=0)
    migration.join_messages(apps, editor)

    assert apps.get_model("labeling", "Message").objects.count() == len(TURNS) + 12
    assert dict(Transcript.objects.values_list("pk", "messages")) == texts
    counts = dict(Conversation.objects.values_list("external_id", "n_messages"))
    assert counts == {"rich": len(TURNS), "c-002": 4, "c-003": 4, "c-004": 4, "silent": 0}


def old_models() -> Any:
    """As migration 0027 knows them, with the table of messages that was."""
    key = ("id", models.BigAutoField(primary_key=True))
    of = {"to": "labeling.Conversation", "on_delete": models.CASCADE}
    state = ProjectState()
    for name, fields in {
        "Conversation": [key],
        "Transcript": [
            ("conversation", models.OneToOneField(primary_key=True, **of)),
            ("messages", models.TextField()),
        ],
        "Message": [
            key,
            ("conversation", models.ForeignKey(db_constraint=False, **of)),
            ("index", models.PositiveIntegerField()),
            ("role", models.CharField(max_length=50)),
            ("speaker", models.CharField(max_length=200)),
            ("content", models.TextField()),
            ("time", models.DateTimeField(null=True)),
        ],
    }.items():
        state.add_model(ModelState("labeling", name, fields))
    sql, _ = connection.schema_editor().table_sql(state.apps.get_model("labeling", "Message"))
    run_sql(sql)
    return state.apps


def run_sql(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
