"""Layers are built once, go on where they stopped, and are asked for by those who may."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.utils import timezone

from evaluation.models import BuiltLayer, LayerBuild
from evaluation.services import memory_builds
from evaluation.services.launch.launch import PipelineRefused
from evaluation.services.stores import FileStore
from labeling.models import Conversation, Job
from labeling.models import Event as Logged
from labeling.words import in_english
from pipelines.memory.layers.config import LayersConfig
from tests.evaluation.chats import ask, make_chat
from tests.fakes import WordOverlap
from tests.refusals import refused

pytestmark = pytest.mark.postgres

CONFIG = LayersConfig()


@pytest.fixture(autouse=True)
def quick_encoder(monkeypatch):
    monkeypatch.setattr(memory_builds, "_encoder", WordOverlap)


@pytest.fixture
def chat(project) -> Conversation:
    return make_chat(project, "chat-1")


def kinds(build: LayerBuild) -> set[str]:
    return set(memory_builds.built(build.conversation, build.config_sha256))


def test_a_build_keeps_each_layer_with_what_made_it(chat):
    build = ask(chat)

    assert memory_builds.work(build.pk, uuid4())

    build.refresh_from_db()
    assert build.state == "finished"
    rows = memory_builds.built(chat, build.config_sha256)
    assert set(rows) == {"topics", "signals", "threads"}
    assert rows["topics"].implementation == "local"
    assert rows["topics"].config == CONFIG.model_dump(mode="json")
    assert [node["all_message_ids"] for node in rows["topics"].payload["nodes"]] == [
        [1, 2, 3, 4],
        [5, 6, 7, 8],
        [9, 10, 11, 12],
    ]


def test_asking_again_builds_nothing_again(chat):
    memory_builds.work(ask(chat).pk, uuid4())
    before = list(BuiltLayer.objects.values_list("pk", "built_at"))

    build = ask(chat)

    assert not memory_builds.work(build.pk, uuid4())
    assert list(BuiltLayer.objects.values_list("pk", "built_at")) == before
    assert Logged.objects.filter(verb="layers.requested").count() == 1


def test_another_configuration_is_another_build(chat):
    first, second = ask(chat), ask(chat, config=LayersConfig(window=6))
    memory_builds.work(first.pk, uuid4())

    assert kinds(second) == set()


def test_a_build_that_was_killed_goes_on_and_keeps_what_was_ready(chat, monkeypatch):
    build = ask(chat)
    steps = []

    def stop(progress):
        def tell(kind, done, total):
            steps.append(kind)
            progress(kind, done, total)
            if kind == "signals":
                raise KeyboardInterrupt

        return tell

    with monkeypatch.context() as patch:
        patch.setattr(memory_builds, "_sparing", stop)
        with pytest.raises(KeyboardInterrupt):
            memory_builds.work(build.pk, uuid4())

    assert kinds(build) == {"topics"}
    topics = BuiltLayer.objects.get().pk
    build.refresh_from_db()
    assert (build.state, Job.objects.get().attempts) == ("queued", 0)
    memory_builds.work(build.pk, uuid4())
    assert kinds(build) == {"topics", "signals", "threads"}
    assert BuiltLayer.objects.filter(pk=topics).exists()


def test_a_build_that_kills_its_workers_is_given_up_in_words_and_can_be_asked_for_again(chat):
    build = ask(chat)
    Job.objects.create(kind="layers", key=build.pk, attempts=3)

    assert not memory_builds.work(build.pk, uuid4())

    build.refresh_from_db()
    assert "Given up after 3 attempts" in in_english(build.failure)
    assert ask(chat).state == "queued"


def test_an_encoder_that_is_away_is_tried_again_later(chat, monkeypatch):
    def away(*args, **kwargs):
        raise ConnectionError("down")

    monkeypatch.setattr(memory_builds, "build_layers", away)
    build = ask(chat)

    memory_builds.work(build.pk, uuid4())

    build.refresh_from_db()
    put_off = Job.objects.get()
    assert (build.state, put_off.attempts) == ("queued", 1)
    assert put_off.lease_expires_at > timezone.now()
    Job.objects.update(attempts=2, lease_expires_at=None)
    memory_builds.work(build.pk, uuid4())
    build.refresh_from_db()
    assert in_english(build.failure) == "ConnectionError: down"


def test_whoever_lost_the_build_changes_nothing(chat, monkeypatch):
    build = ask(chat)
    other, went_on = uuid4(), []

    def taken_over(*args, progress, **kwargs):
        Job.objects.update(owner=other)
        progress("topics", 0, 0)
        went_on.append(True)

    monkeypatch.setattr(memory_builds, "build_layers", taken_over)
    memory_builds.work(build.pk, uuid4())

    build.refresh_from_db()
    assert (Job.objects.get().owner, build.state) == (other, "running")
    assert not went_on


def test_a_build_is_alone_at_what_it_builds(chat, monkeypatch):
    build, free, build_layers = ask(chat), [], memory_builds.build_layers

    def look(*args, **kwargs):
        with FileStore().alone(f"layers-{chat.pk}-{build.config_sha256}", at_most=0) as taken:
            free.append(taken)
        build_layers(*args, **kwargs)

    monkeypatch.setattr(memory_builds, "build_layers", look)

    memory_builds.work(build.pk, uuid4())

    assert free == [False]


def test_a_build_asked_for_under_another_version_is_refused_in_words(chat):
    build = ask(chat)
    LayerBuild.objects.update(config_sha256="1" * 64)

    memory_builds.work(build.pk, uuid4())

    build.refresh_from_db()
    assert "ask for them again" in in_english(build.failure)


@pytest.mark.parametrize("settings", [{"windw": 3}, {"window": 0}, {"implementation": "model"}])
def test_wrong_settings_are_refused_by_name(settings):
    with refused(PipelineRefused, match=next(iter(settings))):
        memory_builds.checked_config(settings)
