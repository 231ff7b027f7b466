from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.models import BuiltLayer
from evaluation.services import memory_builds
from labeling.conversations.rules.importing import Turn
from labeling.jobs import queue
from labeling.models import Conversation, Job
from tests.evaluation.chats import build, make_chat
from tests.factories import make_talk
from tests.fakes import WordOverlap

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def quick_encoder(monkeypatch):
    monkeypatch.setattr(memory_builds, "_encoder", WordOverlap)


@pytest.fixture
def chat(project) -> Conversation:
    return make_chat(project, "chat-1")


def address(chat: Conversation, name: str = "layers") -> str:
    return reverse(name, args=[chat.project.slug, chat.pk])


def text(response) -> str:
    return " ".join(response.content.decode().split())


def test_nobody_asked_yet_and_a_button_asks(chat, signed_in, django_capture_on_commit_callbacks):
    client = signed_in("noor")
    assert "Nobody has asked for the layers" in text(client.get(address(chat)))

    with django_capture_on_commit_callbacks(execute=True):
        response = client.post(address(chat, "layers-build"))

    assert (response.url, Job.objects.get().key) == (address(chat), chat.pk)
    page = text(client.get(address(chat)))
    assert "waiting for a worker" in page
    assert "hx-get" in page
    assert client.get(address(chat, "layers-progress")).status_code == 200


def test_what_is_ready_is_shown_while_the_rest_is_built_and_then_the_page_is_loaded_again(
    chat, signed_in
):
    build(chat).ready["threads"].delete()
    assert queue.claim("layers", chat.pk, uuid4())
    client = signed_in("noor")

    page = text(client.get(address(chat)))

    assert "3 topics in 3 bursts of 12 messages" in page
    assert page.count("in progress") == 1
    Job.objects.all().delete()
    build(chat)
    response = client.get(address(chat, "layers-progress"))
    assert (response.status_code, response["HX-Refresh"]) == (286, "true")


def test_topics_signals_and_threads_are_linked(chat, signed_in):
    build(chat)

    page = text(signed_in("rita").get(address(chat)))

    assert 'id="T003"' in page
    assert "again, after T001" in page
    assert f"{reverse('conversation', args=['demo', chat.pk])}#m8" in page  # localId 9
    assert "Undefined for every topic: the chat does not begin with pet names." in page
    assert "1 thread by 1 link from an earlier topic" in page


def test_a_failed_build_says_why_and_can_be_tried_again(chat, signed_in, monkeypatch):
    def broken(*args, **kwargs):
        raise ValueError("no luck")

    monkeypatch.setattr(memory_builds, "build_layers", broken)
    build(chat)

    page = text(signed_in("noor").get(address(chat)))

    assert "no luck" in page
    assert "Try again" in page


def test_each_configuration_has_its_tab(chat, signed_in):
    build(chat)
    BuiltLayer.objects.update(config_sha256="1" * 64)
    key = build(chat).key[:12]

    page = text(signed_in("noor").get(f"{address(chat)}?config=111111111111"))

    assert f"?config={key}" in page
    assert page.count('aria-current="page"') >= 1


@pytest.mark.parametrize(
    "query", ["?config=zzz", "?node=T999", "?page=x", "?page=-1", "?config=%00"]
)
def test_odd_addresses_show_the_page(chat, signed_in, query):
    build(chat)

    assert signed_in("noor").get(address(chat) + query).status_code in (200, 400)


def test_a_conversation_s_words_are_never_markup(project, signed_in):
    evil = make_chat(project, "<script>alert(1)</script>")
    build(evil)

    assert "<script>alert" not in signed_in("noor").get(address(evil)).content.decode()


def test_the_page_of_many_topics_asks_the_database_little(project, signed_in):
    turns = [Turn("speaker", f"w{at}", "ab"[at % 2]) for at in range(400)]
    many = make_talk(project, "many", turns)
    build(many)
    client = signed_in("noor")
    client.get(address(many))

    with CaptureQueriesContext(connection) as asked:
        page = client.get(address(many))

    assert page.status_code == 200
    assert len(asked) < 20
