from __future__ import annotations

from uuid import uuid4

import pytest
from django.urls import reverse

from evaluation.services import memory_builds
from labeling.jobs import queue
from labeling.models import Conversation, Job
from tests.evaluation.chats import build, make_chat
from tests.evaluation.screens import text
from tests.fakes import WordOverlap

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def quick_encoder(monkeypatch):
    monkeypatch.setattr(memory_builds, "_encoder", WordOverlap)


@pytest.fixture
def chat(project) -> Conversation:
    return make_chat(project, "<b>chat-1</b>")


def address(chat: Conversation, name: str = "layers") -> str:
    return reverse(name, args=[chat.project.slug, chat.pk])


def test_nobody_asked_yet_and_a_button_asks(chat, signed_in, django_capture_on_commit_callbacks):
    client = signed_in("noor")
    assert "Nobody has asked for the layers" in text(client.get(address(chat)))

    with django_capture_on_commit_callbacks(execute=True):
        response = client.post(address(chat, "layers-build"))

    assert (response.url, Job.objects.get().key) == (address(chat), chat.pk)
    page = text(client.get(address(chat)))
    assert "waiting for a worker" in page
    assert "hx-get" in page


def test_what_is_ready_is_shown_while_the_rest_is_built(chat, signed_in):
    build(chat).ready["threads"].delete()
    assert queue.claim("layers", chat.pk, uuid4())
    client = signed_in("noor")

    page = text(client.get(address(chat)))

    assert "3 topics in 3 bursts of 12 messages" in page
    assert "by 1 link" not in page
    assert "hx-get" in page
    Job.objects.all().delete()
    build(chat)
    assert "hx-get" not in text(client.get(address(chat)))


def test_topics_signals_and_threads_are_linked(chat, signed_in):
    build(chat)

    page = text(signed_in("rita").get(address(chat)))

    assert 'id="T003"' in page
    assert "again, after T001" in page
    assert f"{reverse('conversation', args=['demo', chat.pk])}#m8" in page  # localId 9
    assert "Undefined for every topic: the chat does not begin with pet names." in page
    assert "1 thread by 1 link from an earlier topic" in page
    assert "<b>chat-1" not in page


def test_a_failed_build_says_why_and_can_be_tried_again(chat, signed_in, monkeypatch):
    def broken(*args, **kwargs):
        raise ValueError("no luck")

    monkeypatch.setattr(memory_builds, "build_layers", broken)
    build(chat)

    page = text(signed_in("noor").get(address(chat)))

    assert "no luck" in page
    assert "Try again" in page
