"""Layers are built once, go on where they stopped, and say why they could not be built."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.utils import timezone

from evaluation.models import BuiltLayer
from evaluation.services import memory_builds
from evaluation.services.stores import FileStore
from labeling.models import Conversation, Event, Job
from labeling.words import in_english
from pipelines.memory.layers.config import LayersConfig
from tests.evaluation.chats import build, make_chat
from tests.fakes import WordOverlap

pytestmark = pytest.mark.postgres


@pytest.fixture(autouse=True)
def quick_encoder(monkeypatch):
    monkeypatch.setattr(memory_builds, "_encoder", WordOverlap)


@pytest.fixture
def chat(project) -> Conversation:
    return make_chat(project, "chat-1")


def state(chat: Conversation) -> str:
    return memory_builds.builds_of(chat)[0].state


def test_a_build_keeps_each_layer_with_what_made_it_and_is_done_once(chat):
    assert state(chat) == ""

    built = build(chat)

    assert (built.state, set(built.ready)) == ("finished", {"topics", "signals", "threads"})
    topics = built.ready["topics"]
    assert (topics.implementation, topics.config) == (
        "local",
        LayersConfig().model_dump(mode="json"),
    )
    assert [node["all_message_ids"] for node in topics.payload["nodes"]] == [
        [1, 2, 3, 4],
        [5, 6, 7, 8],
        [9, 10, 11, 12],
    ]
    assert not memory_builds.request(chat, by=None)
    assert not Event.objects.filter(verb="layers.requested").exists()
    build(chat)
    assert BuiltLayer.objects.count() == 3


def test_what_somebody_asks_for_waits_for_a_worker(chat, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        assert memory_builds.request(chat, by=None)

    job = Job.objects.get()
    assert (job.kind, job.key, state(chat)) == ("layers", chat.pk, "queued")
    assert Event.objects.filter(verb="layers.requested").count() == 1


def test_layers_of_another_version_stay_beside(chat):
    first = build(chat)
    BuiltLayer.objects.update(config_sha256="1" * 64)

    now, other = memory_builds.builds_of(chat)

    assert (now.state, other.state, set(other.ready)) == ("", "finished", set(first.ready))


def test_a_build_that_was_killed_goes_on_and_keeps_what_was_ready(chat, monkeypatch):
    put = memory_builds.StoredRows.put

    def stop(self, kind, *args, **kwargs):
        if kind == "signals":
            raise KeyboardInterrupt
        put(self, kind, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(memory_builds.StoredRows, "put", stop)
        with pytest.raises(KeyboardInterrupt):
            build(chat)

    topics = BuiltLayer.objects.get()
    assert (topics.kind, state(chat), Job.objects.get().attempts) == ("topics", "queued", 0)
    assert build(chat).state == "finished"
    assert BuiltLayer.objects.filter(pk=topics.pk).exists()


def test_a_build_that_kills_its_workers_is_given_up_in_words_and_can_be_asked_for_again(
    chat, django_capture_on_commit_callbacks
):
    Job.objects.create(kind="layers", key=chat.pk, attempts=3)

    failed = build(chat)

    assert (failed.state, Job.objects.exists()) == ("failed", False)
    assert "Given up after 3 attempts" in in_english(failed.failure)
    with django_capture_on_commit_callbacks(execute=True):
        memory_builds.request(chat, by=None)
    assert state(chat) == "queued"


def test_an_encoder_that_is_away_is_tried_again_later(chat, monkeypatch):
    def away(*args, **kwargs):
        raise ConnectionError("down")

    monkeypatch.setattr(memory_builds, "build_layers", away)

    assert build(chat).state == "queued"
    put_off = Job.objects.get()
    assert put_off.attempts == 1
    assert put_off.lease_expires_at > timezone.now()
    Job.objects.update(attempts=2, lease_expires_at=None)
    assert in_english(build(chat).failure) == "ConnectionError: down"


def test_whoever_lost_the_build_says_nothing_of_it(chat, monkeypatch):
    other = uuid4()

    def taken_over(*args, **kwargs):
        Job.objects.update(owner=other)
        raise ValueError("too late")

    monkeypatch.setattr(memory_builds, "build_layers", taken_over)

    assert build(chat).state == "running"
    assert Job.objects.get().owner == other
    assert not Event.objects.filter(verb="layers.failed").exists()


def test_a_build_is_alone_at_what_it_builds(chat, monkeypatch):
    free, build_layers = [], memory_builds.build_layers
    key = memory_builds.key_of(LayersConfig())

    def look(*args, **kwargs):
        with FileStore().alone(f"layers-{chat.pk}-{key}", at_most=0) as taken:
            free.append(taken)
        build_layers(*args, **kwargs)

    monkeypatch.setattr(memory_builds, "build_layers", look)

    build(chat)

    assert free == [False]
