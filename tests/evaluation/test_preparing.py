"""What a conversation takes once is made before its first question."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any
from uuid import uuid4

import pytest

from evaluation.services import memory_builds
from evaluation.services.run import execution
from evaluation.services.stores import FileStore
from evaluation.services.work import leases
from labeling.models import Conversation
from pipelines import registry
from pipelines.memory.layers.config import LayersConfig
from pipelines.types import Case
from tests.evaluation.chat_gold import answer
from tests.evaluation.conftest import Scripted

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


class Preparing(Scripted):
    """A pipeline that gets ready first, as the test says."""

    def __init__(self, prepare: Callable[[Case], None]) -> None:
        super().__init__(lambda case: answer([4]))
        self.get_ready = prepare

    def prepare(self, case: Case) -> None:
        self.seen.append(f"before {case.case_id}")
        self.get_ready(case)


@pytest.fixture
def preparing(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Case], None]], Preparing]:
    def use(prepare: Callable[[Case], None]) -> Preparing:
        pipeline = Preparing(prepare)
        monkeypatch.setattr(registry, "build", lambda *_, **__: pipeline)
        return pipeline

    return use


def test_a_conversation_is_prepared_once_outside_the_limit_of_a_question(
    chat, preparing, finished, monkeypatch, settings
):
    settings.CASE_LEASE_SECONDS, settings.CASE_TIMEOUT_SECONDS = 0.03, 0.01
    held, renewed = [], Event()
    monkeypatch.setattr(leases.WorkLease, "renew", lambda _: not renewed.set())

    def take_long(case: Case) -> None:
        held.append(renewed.wait(60))  # nobody renews after the limit of a question
        settings.CASE_LEASE_SECONDS, settings.CASE_TIMEOUT_SECONDS = 120, 900.0

    pipeline = preparing(take_long)

    run = finished(release=chat())

    assert set(run.cases.values_list("state", "error")) == {("done", None)}
    assert held == [True]
    ids = [f"Chat_1:QA-00{number}" for number in (1, 2, 3)]
    assert pipeline.seen == [f"before {ids[0]}", *ids]


def test_what_cannot_be_prepared_is_told_by_its_cases_alone(chat, preparing, finished):
    def fail(case: Case) -> None:
        raise ValueError("no")

    preparing(fail)
    run = finished(release=chat())  # whose questions are answered all the same

    assert set(run.cases.values_list("state", "error")) == {("done", None)}


def test_who_is_stopped_while_preparing_gives_the_case_back(chat, preparing, launch):
    def stop(case: Case) -> None:
        raise KeyboardInterrupt

    preparing(stop)
    run = launch(release=chat())

    with pytest.raises(KeyboardInterrupt):
        execution.work(run.pk, uuid4())

    held = run.cases.values_list("state", "owner", "attempts")
    assert set(held) == {("queued", None, 0)}


def test_a_run_is_alone_at_what_it_prepares(chat: Any, preparing: Any, finished: Any) -> None:
    release = chat()
    conversation = Conversation.objects.get(external_id="Chat_1")
    key = f"layers-{conversation.pk}-{memory_builds.key_of(LayersConfig())}"
    free: list[bool] = []

    def look(case: Case) -> None:
        with FileStore().alone(key, at_most=0) as taken:
            free.append(taken)

    preparing(look)

    finished(release=release)

    assert free == [False]
