"""What waits, what is under way and what failed: on pages and by API."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evaluation.models import CaseRun, Run
from evaluation.services.work import endings, leases, slots
from labeling.core import clock, tokens
from labeling.domain.facts import Fact
from labeling.gold import gold_requests
from labeling.jobs import jobs, queue
from labeling.jobs.jobs import Job
from labeling.models import PendingUpdate, Project, WorkerPulse
from labeling.operation import health, status
from labeling.operation.views.status import ADVICE, TITLES
from tests import factories

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]
AN_HOUR = timedelta(hours=1)


def job(kind: str = "run") -> Job:
    [found] = [each for each in jobs.open_jobs() if each.kind == kind]
    return found


def held_case(run: Run, *, until: timedelta = timedelta(0)) -> tuple[CaseRun, Any]:
    """By a thread of worker one."""
    health.beat("one")
    slot = slots.take("one")
    case = leases.claim_case(run.pk, slot.owner)
    if until:
        CaseRun.objects.filter(pk=case.pk).update(lease_expires_at=timezone.now() + until)
    return case, slot.owner


def test_a_run_waits_for_a_worker_since_it_was_launched_until_one_is_at_it(queued):
    run = queued()
    waiting = job()
    assert (waiting.is_at_work, waiting.done, waiting.total) == (False, 0, 3)
    run.refresh_from_db()
    assert waiting.since == run.woken_at
    held_case(run)
    at_work = job()
    assert (at_work.is_at_work, at_work.workers) == (True, ("one",))
    Run.objects.update(paused=True)
    assert jobs.open_jobs() == []


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has the clock of its machine")
@pytest.mark.parametrize("hours", [2, -2])
def test_a_web_server_with_a_wrong_clock_calls_nobody_dead(queued, monkeypatch, hours):
    held_case(queued())
    right = timezone.now
    monkeypatch.setattr(connection, "clock_offset", timedelta(0), raising=False)
    monkeypatch.setattr(timezone, "now", lambda: right() + hours * AN_HOUR)
    clock.measure(connection)

    at_work, found = job(), status.now()

    assert at_work.is_at_work
    assert found.alive == 1
    assert abs(found.at - right()) < timedelta(seconds=30)
    assert health.has_worker()


def test_answers_and_a_freeze_wait_until_a_worker_is_at_them(project, people):
    for _ in range(3):
        PendingUpdate.objects.create(project=project)
    ask = {"project": project, "layer": "extraction", "by": people["rita"]}
    gold_requests.request_freeze(**ask, name="first")
    gold_requests.request_freeze(**ask, name="second")
    assert (job("answers").total, job("answers").is_at_work) == (3, False)
    assert [each.is_at_work for each in jobs.open_jobs() if each.kind == "freeze"] == [False] * 2
    with queue.held("freeze", project.pk), queue.held("answers", project.pk):
        freezes = [each for each in jobs.open_jobs() if each.kind == "freeze"]
        assert [(each.title, each.is_at_work) for each in freezes] == [
            ("first", True),
            ("second", False),
        ]
        assert job("answers").is_at_work
    assert set(jobs.kinds()) == set(TITLES)
    waiting = sorted(each.kind for each in jobs.open_jobs() if not each.is_at_work)
    assert waiting == ["answers", "freeze", "freeze"]


def test_readiness_fails_when_something_waits_for_too_long(project: Project) -> None:
    PendingUpdate.objects.create(project=project)
    assert health._queue().startswith("1 wait, the oldest for")
    PendingUpdate.objects.update(asked_at=timezone.now() - AN_HOUR)
    with pytest.raises(health.Missing, match="1 wait, the oldest for 36"):
        health._queue()


def test_failures_say_why_and_every_kind_has_words_and_advice(queued, signed_in):
    broken, partly = queued(), queued()
    endings.fail(broken.pk, Fact("run.scoring_too_long", hours=6))
    CaseRun.objects.filter(run=partly, pk=partly.cases.first().pk).update(
        state="failed", error=Fact("work.given_up", attempts=3), finished_at=timezone.now()
    )
    found = {each.key: each.why.code for each in jobs.failures()}
    assert found == {broken.pk: "run.scoring_too_long", partly.pk: "job.cases_failed"}
    page = signed_in("admin").get("/status/").content.decode()
    assert "1 cases failed, the last one so:" in page
    assert str(ADVICE["run"]) in page


def test_programs_of_administrators_read_the_same(queued, signed_in):
    run = queued()
    held_case(run)
    admin = signed_in("admin")
    said = admin.get("/api/status/").json()
    assert (said["workers_alive"], said["waiting_since"]) == (1, None)
    [known] = said["jobs"]
    assert (known["kind"], known["key"], known["project"]) == ("run", run.pk, "demo")
    assert "one" not in known.values()  # names of machines are on the page
    owner, project = admin.get("/").wsgi_request.user, run.release.project
    narrow = tokens.issue(user=owner, name="t", projects=[project]).secret
    for client in (signed_in("rita"), Client(headers={"Authorization": f"Bearer {narrow}"})):
        assert client.get("/api/status/").status_code == 403


def test_a_run_and_gold_that_wait_without_a_worker_say_so(queued, signed_in, project, people):
    run = queued()
    said = signed_in("noor").get(f"/api/runs/{run.pk}/").json()
    run.refresh_from_db()
    assert run.woken_at is not None
    assert datetime.fromisoformat(said["waiting_since"]) == run.woken_at
    assert said["has_worker"] is False
    held_case(run)
    said = signed_in("noor").get(f"/api/runs/{run.pk}/").json()
    assert (said["waiting_since"], said["has_worker"]) == (None, True)
    gold_requests.request_freeze(project=project, layer="extraction", by=people["rita"])
    rita, gold = signed_in("rita"), "/projects/demo/gold/"
    assert "No worker is running." not in rita.get(gold).content.decode()
    WorkerPulse.objects.all().delete()
    assert "No worker is running." in rita.get(gold).content.decode()


def test_more_projects_and_jobs_cost_no_more_queries(queued, project):
    spent = []
    for number in range(3):
        queued()
        PendingUpdate.objects.create(project=factories.make_project(f"other-{number}"))
        with CaptureQueriesContext(connection) as queries:
            assert len(status.now().jobs) == 2 * (number + 1)
        spent.append(len(queries))
    assert spent[0] == spent[1] == spent[2] <= 25
