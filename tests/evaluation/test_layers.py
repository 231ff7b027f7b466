"""Layers are built once, and go on where they stopped."""

from __future__ import annotations

import pytest

from evaluation.models import BuiltLayer
from evaluation.services import memory_builds
from labeling.models import Conversation
from tests.evaluation.chats import build, make_chat

pytestmark = pytest.mark.postgres


@pytest.fixture
def chat(project) -> Conversation:
    return make_chat(project, "chat-1")


def test_layers_of_another_version_stay_beside(chat):
    first = build(chat)
    BuiltLayer.objects.update(config_sha256="1" * 64)

    now = build(chat)

    assert set(now) == set(first)
    assert set(BuiltLayer.objects.values_list("config_sha256", flat=True)) == {
        now["topics"].config_sha256,
        "1" * 64,
    }


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
    assert topics.kind == "topics"
    assert set(build(chat)) == {"topics", "signals", "threads"}
    assert BuiltLayer.objects.filter(pk=topics.pk).exists()

    monkeypatch.setattr(memory_builds.StoredRows, "put", None)  # nothing is built again
    build(chat)
