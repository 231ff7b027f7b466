"""How far SQLite goes: one import and one project of 10,000 conversations."""

import json
from io import BytesIO

import pytest
from django.contrib.auth.models import User
from django.core import checks
from django.db import connection

from labeling.conversations import conversations
from labeling.core import planner
from labeling.models import Conversation
from labeling.operation import preflight
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL takes more")
def test_a_larger_import_is_refused_and_says_where_to_go(project, monkeypatch):
    monkeypatch.setattr(conversations, "SQLITE_CONVERSATIONS", 1)
    said = ["The report must show late orders.", "Every day?"]
    messages = [
        {"role": role, "content": text}
        for role, text in zip(["user", "analyst"], said, strict=True)
    ]
    lines = [json.dumps({"id": name, "messages": messages}) for name in "ab"]
    files = [("talks.jsonl", BytesIO("\n".join(lines).encode()))]

    with pytest.raises(conversations.TooManyForSqlite, match=r"on SQLite.* most=1"):
        conversations.import_files(project_slug=project.slug, files=files)
    assert not Conversation.objects.exists()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL takes more")
def test_a_project_that_is_too_large_is_named(project, signed_in, monkeypatch):
    factories.make_conversations(project, 2)
    admin = User.objects.create_superuser("root")
    shown = "SQLite serves projects"
    assert shown not in signed_in(admin).get("/status/").content.decode()

    monkeypatch.setattr(planner, "SQLITE_CONVERSATIONS", 1)

    assert planner.beyond_sqlite() == [project]
    assert "too large for SQLite" in str(
        checks.run_checks(tags=[preflight.TAG], include_deployment_checks=True)
    )
    assert shown in signed_in(admin).get("/status/").content.decode()
