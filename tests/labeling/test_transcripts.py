"""A conversation's text is one row, which says what its messages said before and never changes."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime

import pytest

from labeling.conversations.rules.importing import Turn
from labeling.conversations.rules.transcripts import Message
from labeling.models import Conversation, Project, Transcript
from tests import factories
from tests.labeling.domain.formats import rich

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
