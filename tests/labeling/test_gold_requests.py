"""A freeze asked for on a page is made once, whatever becomes of workers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError

from labeling.gold import gold, gold_requests, releases
from labeling.gold.views.gold import _requests
from labeling.models import Event, GoldRelease, Job, Project
from tests import factories
from tests.concurrency import closing

pytestmark = pytest.mark.postgres


@pytest.fixture
def asked(project: Project, rita: User, django_capture_on_commit_callbacks: Any) -> Event:
    factories.answer_all(factories.open_full(project, 1))
    factories.work(project)
    with django_capture_on_commit_callbacks(execute=True):
        gold_requests.request_freeze(project=project, layer="extraction", name="own", by=rita)
    return Event.objects.get(verb="gold.freeze_requested")


def work(asked: Event) -> None:
    assert asked.project is not None
    gold_requests.answer(asked.project, ruler=factories.ruler)


def test_a_request_is_made_as_it_was_asked_and_answered(asked, project):
    assert str(Job.objects.get()) == f"freeze {project.pk}"
    assert gold_requests.due() == {project.pk}

    for _ in range(2):  # done twice, it freezes once and refuses nothing
        work(asked)
    assert not Event.objects.filter(verb="gold.freeze_refused").exists()
    assert str(GoldRelease.objects.get()) == "own@1"
    assert Event.objects.get(verb="gold.frozen").data["request"] == asked.pk
    assert gold_requests.due() == set()


def test_a_refusal_answers_its_own_request_only(asked, project, rita):
    work(asked)
    gold_requests.request_freeze(project=project, layer="extraction", name="own", by=rita)
    gold_requests.request_freeze(project=project, layer="extraction", name="two", by=rita)
    second, third = Event.objects.filter(verb="gold.freeze_requested").order_by("pk")[1:]

    work(second)

    refusal = Event.objects.get(verb="gold.freeze_refused")
    assert refusal.data["message"]["code"] == "gold.nothing_changed"
    assert (refusal.data["request"], _requests(project)["waiting"]) == (second.pk, [third])


def test_a_busy_database_refuses_nothing(asked, monkeypatch):
    def locked(**fields: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(gold, "freeze", locked)

    with pytest.raises(OperationalError):
        work(asked)

    assert gold_requests.waiting(asked.project) == [asked]  # type: ignore[arg-type]


# --- one at a time ------------------------------------------------------------------------------


def test_who_asks_for_the_same_joins_and_another_release_waits(asked, project, rita):
    def ask(name: str) -> Event:
        return gold_requests.request_freeze(
            project=project, layer="extraction", name=name, message="Again", by=rita
        )

    assert ask("own") == asked
    other = ask("two")
    assert gold_requests.waiting(project) == [asked, other]

    gold_requests.answer(project, ruler=factories.ruler)

    assert [str(release) for release in GoldRelease.objects.all()] == ["own@1"]  # in their order
    assert gold_requests.waiting(project) == [other]
    assert ask("own") != asked  # it is done


@pytest.mark.django_db(transaction=True)
def test_nobody_freezes_while_somebody_does_and_then_it_goes_on(project, rita, monkeypatch):
    factories.answer_all(factories.open_full(project, 1))
    factories.work(project)
    ruler = factories.ruler()
    first = gold_requests.request_freeze(project=project, layer="extraction", name="own", by=rita)
    made = releases.publish

    def with_others(*given: Any, **said: Any) -> GoldRelease:
        second = gold_requests.request_freeze(
            project=project, layer="extraction", name="two", by=rita
        )
        with ThreadPoolExecutor(1) as other:
            other.submit(closing, lambda: work(second)).result()
            command = partial(gold.freeze, project=project, layer="extraction", ruler=ruler)
            with pytest.raises(gold.UnderWay):
                other.submit(closing, command).result()
        return made(*given, **said)

    with monkeypatch.context() as patch:
        patch.setattr(releases, "publish", with_others)
        work(first)

    assert [str(release) for release in GoldRelease.objects.all()] == ["own@1"]
    [second] = gold_requests.waiting(project)

    work(second)  # what the first one held is free

    assert gold_requests.waiting(project) == []
