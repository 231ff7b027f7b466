from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.models import LayerBuild
from evaluation.services import memory_builds
from evaluation.views.layer_charts import signal_charts, time_line
from labeling.conversations.rules.importing import Turn
from labeling.domain.facts import Fact
from labeling.jobs import queue
from labeling.models import Conversation
from pipelines.memory.layers.config import LayersConfig
from pipelines.memory.layers.signals import measure_nodes
from tests.evaluation.chats import ask, make_chat
from tests.factories import make_talk
from tests.fakes import WordOverlap
from tests.pipelines.memory.layers.talks import node, talk

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


def test_nobody_asked_yet_and_a_button_asks(chat, signed_in):
    client = signed_in("noor")
    assert "Nobody has asked for the layers" in text(client.get(address(chat)))

    response = client.post(address(chat, "layers-build"))

    build = LayerBuild.objects.get()
    assert response.url == f"{address(chat)}?config={build.config_sha256[:12]}"
    assert build.requested_by.username == "noor"
    page = text(client.get(address(chat)))
    assert "waiting for a worker" in page
    assert "hx-get" in page


def test_what_is_ready_is_shown_while_the_rest_is_built(chat, signed_in):
    build = ask(chat)
    memory_builds.work(build.pk, uuid4())
    memory_builds.built(chat, build.config_sha256)["threads"].delete()
    LayerBuild.objects.update(finished_at=None, step="threads", done=3, total=7)
    assert queue.claim("layers", build.pk, uuid4())

    page = text(signed_in("noor").get(address(chat)))

    assert "3 topics in 3 bursts of 12 messages" in page
    assert "in progress" in page
    assert '<progress class="progress" max="7" value="3"' in page


def test_the_page_stops_asking_when_the_build_has_ended(chat, signed_in):
    build = ask(chat)
    client = signed_in("noor")
    assert client.get(address(chat, "layers-progress")).status_code == 200

    memory_builds.work(build.pk, uuid4())

    response = client.get(address(chat, "layers-progress"))
    assert (response.status_code, response["HX-Refresh"]) == (286, "true")


def test_topics_signals_and_threads_are_linked(chat, signed_in):
    memory_builds.work(ask(chat).pk, uuid4())

    page = text(signed_in("rita").get(address(chat)))

    assert 'id="T003"' in page
    assert "again, after T001" in page
    assert f"{reverse('conversation', args=['demo', chat.pk])}#m8" in page  # localId 9
    assert "Undefined for every topic: the chat does not begin with pet names." in page
    assert "1 thread by 1 link from an earlier topic" in page


def test_a_failed_build_says_why_and_can_be_tried_again(chat, signed_in):
    build = ask(chat)
    LayerBuild.objects.update(failure=Fact("model.unreachable", said="down"))
    client = signed_in("noor")
    page = text(client.get(address(chat)))
    assert "server cannot be reached: down" in page
    assert "Try again" in page

    client.post(address(chat, "layers-build"), {"config": build.config_sha256[:12]})

    build.refresh_from_db()
    assert build.state == "queued"


def test_each_configuration_has_its_tab(chat, signed_in):
    first = ask(chat)
    second = ask(chat, config=LayersConfig(window=6))

    page = text(signed_in("noor").get(f"{address(chat)}?config={first.config_sha256[:12]}"))

    assert f"?config={second.config_sha256[:12]}" in page
    assert page.count('aria-current="page"') >= 1


@pytest.mark.parametrize(
    "query", ["?config=zzz", "?node=T999", "?page=x", "?page=-1", "?config=%00"]
)
def test_odd_addresses_show_the_page(chat, signed_in, query):
    memory_builds.work(ask(chat).pk, uuid4())

    assert signed_in("noor").get(address(chat) + query).status_code in (200, 400)


def test_a_conversation_s_words_are_never_markup(project, signed_in):
    evil = make_chat(project, "<script>alert(1)</script>")
    memory_builds.work(ask(evil).pk, uuid4())

    assert "<script>alert" not in signed_in("noor").get(address(evil)).content.decode()


def test_the_page_of_many_topics_asks_the_database_little(project, signed_in):
    turns = [Turn("speaker", f"w{at}", "ab"[at % 2]) for at in range(400)]
    many = make_talk(project, "many", turns)
    memory_builds.work(ask(many).pk, uuid4())
    client = signed_in("noor")
    client.get(address(many))

    with CaptureQueriesContext(connection) as asked:
        page = client.get(address(many))

    assert page.status_code == 200
    assert len(asked) < 20


def test_a_chart_stands_on_its_ground_and_marks_what_is_undefined():
    messages = talk(("a", 0, "x"), ("b", 30, "x"), ("a", 60, "x"), ("b", 70, "x"), ("a", 80, "x"))
    nodes = [node(1, 1, 2), node(2, 3, 4), node(3, 5, 5)]

    charts = signal_charts(nodes, measure_nodes(nodes, messages, config=LayersConfig()), 5)

    delay = charts[0]
    # delays 30, 10 and none: the highest fills the 60 units, the next a third of them
    assert [(bar.y, bar.height, bar.undefined) for bar in delay.bars] == [
        (0.0, 60.0, False),
        (40.0, 20.0, False),
        (57, 3, True),
    ]
    assert (delay.n, delay.n_undefined) == (2, 1)
    assert "only one person speaks" in delay.bars[2].text


def test_the_time_line_gives_each_topic_its_share_of_the_messages():
    bars = time_line([node(1, 1, 3), node(2, 4, 4, burst=2)], 4, {"T002": []})

    # 4 messages over 1000 units; a tenth of each stays free
    assert [(bar.x, bar.width, bar.y, bar.anchor) for bar in bars] == [
        (0.0, 675.0, 0, False),
        (750.0, 225.0, 20, True),
    ]
