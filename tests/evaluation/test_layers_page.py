from __future__ import annotations

import pytest
from django.urls import reverse

from labeling.models import Conversation
from tests.evaluation.chats import build, make_chat
from tests.evaluation.screens import text

pytestmark = pytest.mark.django_db


@pytest.fixture
def chat(project) -> Conversation:
    return make_chat(project, "<b>chat-1</b>")


def address(chat: Conversation, name: str = "layers") -> str:
    return reverse(name, args=[chat.project.slug, chat.pk])


def test_without_a_run_there_are_no_layers_and_what_is_ready_is_shown(chat, signed_in):
    client = signed_in("noor")
    assert "No run has built the layers" in text(client.get(address(chat)))
    build(chat).ready["threads"].delete()

    page = text(client.get(address(chat)))

    assert "3 topics in 3 bursts of 12 messages" in page
    assert "by 1 link" not in page


def test_topics_signals_and_threads_are_linked(chat, signed_in):
    build(chat)

    page = text(signed_in("rita").get(address(chat)))

    assert 'id="T003"' in page
    assert "again, after T001" in page
    assert f"{reverse('conversation', args=['demo', chat.pk])}#m8" in page  # localId 9
    assert "Undefined for every topic: the chat does not begin with pet names." in page
    assert "1 thread by 1 link from an earlier topic" in page
    assert "<b>chat-1" not in page
