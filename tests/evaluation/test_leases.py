"""What a worker holds for a while: cases and scoring are never done by two, nor left undone."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError, connection, connections
from django.db.models.functions import Now
from django.utils import timezone

from evaluation.models import CaseRun, Run
from evaluation.services.run import execution, scoring
from evaluation.services.work import leases
from labeling.domain.facts import Fact
from labeling.jobs.queue import KeepAlive
from labeling.models import WorkerPulse
from labeling.operation import health
from labeling.words import in_english
from tests.evaluation.conftest import perfect, work

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


def test_a_dead_workers_case_is_taken_over_when_its_lease_ends(launch: Any) -> None:
    run = launch()
    dead, alive = uuid4(), uuid4()
    held = leases.claim_case(run.pk, dead)
    others = {leases.claim_case(run.pk, alive).pk for _ in range(2)}
    assert held.pk not in others
    assert leases.claim_case(run.pk, alive) is None

    CaseRun.objects.filter(pk=held.pk).update(
        lease_expires_at=timezone.now() - timedelta(seconds=1)
    )
    taken = leases.claim_case(run.pk, alive)

    # nobody has proved that it failed: a clock may have been set, or the machine slept
    assert (taken.pk, taken.attempts, taken.owner) == (held.pk, 1, alive)


def test_a_worker_that_lost_its_lease_stores_nothing(launch: Any) -> None:
    run = launch()
    slow, quick = uuid4(), uuid4()
    case = leases.claim_case(run.pk, slow)
    CaseRun.objects.filter(pk=case.pk).update(
        lease_expires_at=timezone.now() - timedelta(seconds=1)
    )
    CaseRun.objects.filter(run=run).exclude(pk=case.pk).update(
        state="failed", error=Fact("answer.called_off")
    )
    assert leases.claim_case(run.pk, quick) == case

    stored = leases.finish(case, slow, state="done", output={"from": "slow"})

    assert not stored
    assert not leases.lease_of(case, slow).renew()
    assert leases.finish(case, quick, state="done", output={"from": "quick"})
    case.refresh_from_db()
    assert case.output == {"from": "quick"}


def test_a_case_that_kills_its_workers_is_given_up_after_three_attempts(launch, script):
    script(perfect)
    run = launch()
    for _ in range(3):
        owner = uuid4()
        case = leases.claim_case(run.pk, owner)
        leases.lease_of(case, owner).abandon()
        leases.lease_of(case, owner).abandon()  # whoever notices it too

    run = work(run)

    case.refresh_from_db()
    assert (case.state, case.attempts) == ("failed", 3)
    assert case.error == Fact("work.given_up", attempts=3)
    assert run.status == "finished"


@pytest.mark.postgres
@pytest.mark.parametrize(("living_for", "attempts"), [(60, 4), (600, 1)])
def test_work_that_ended_its_whole_worker_counts_once_no_holder_can_be_alive(
    launch, living_for, attempts
):
    """Its last sign was 121 s ago: a worker that was there then may just have slept."""
    run = launch()
    WorkerPulse.objects.create(
        name="this", seen_at=Now(), started_at=Now() - timedelta(seconds=living_for)
    )
    case = leases.claim_case(run.pk, uuid4())
    others = CaseRun.objects.filter(run=run).exclude(pk=case.pk)
    others.update(state="failed", error=Fact("answer.called_off"))
    for _ in range(3):
        CaseRun.objects.filter(pk=case.pk).update(lease_expires_at=Now() - timedelta(seconds=1))
        taken = leases.claim_case(run.pk, uuid4())

    assert (taken is None) == (attempts > leases.MAX_ATTEMPTS)
    case.refresh_from_db()
    assert case.attempts == min(attempts, leases.MAX_ATTEMPTS)
    assert case.state == ("failed" if taken is None else "running")


@pytest.mark.postgres
@pytest.mark.parametrize("hours", [2, -2])
def test_a_wrong_clock_neither_lengthens_nor_shortens_what_a_worker_holds(
    launch, monkeypatch, hours
):
    run, owner, right = launch(), uuid4(), timezone.now
    monkeypatch.setattr(timezone, "now", lambda: right() + timedelta(hours=hours))

    case = leases.claim_case(run.pk, owner)

    assert leases.lease_of(case, owner).renew()
    case.refresh_from_db()
    assert timedelta(seconds=60) < case.lease_expires_at - right() <= timedelta(seconds=121)
    others = {leases.claim_case(run.pk, uuid4()).pk for _ in range(2)}
    assert leases.claim_case(run.pk, uuid4()) is None  # what it holds is not taken from it
    assert case.pk not in others


def test_what_ended_last_is_known_by_the_clock_of_the_database(finished, script, monkeypatch):
    """Or a run would not pause: failures in a row end at what a clock that is ahead has written."""
    at_work = []

    def fails_once(case: Any) -> Any:
        at_work.append(case)
        if len(at_work) == 1:
            raise ValueError("no")
        return perfect(case)

    script(fails_once)
    monkeypatch.setattr(timezone, "now", lambda now=timezone.now: now() + timedelta(hours=2))
    run = finished()

    assert run.cases.filter(state="failed").count() == 1
    assert not run.cases.filter(finished_at__gt=Now()).exists()


@pytest.mark.postgres
def test_leases_from_the_future_end_with_the_next_one_and_use_up_no_attempt(launch: Any) -> None:
    run, dead = launch(), uuid4()
    ahead = timezone.now() + timedelta(hours=2)
    case = leases.claim_case(run.pk, dead)
    CaseRun.objects.filter(pk=case.pk).update(lease_expires_at=ahead)
    Run.objects.filter(pk=run.pk).update(scoring_owner=dead, scoring_expires_at=ahead)
    WorkerPulse.objects.create(name="dead", seen_at=ahead, started_at=Now() - timedelta(hours=1))

    assert leases.cap() == 2
    assert leases.cap() == 0
    assert health.silent(3.5) == []  # the sign is from now on now, and grows old
    WorkerPulse.objects.filter(pk="dead", seen_at__lte=Now()).update(
        seen_at=Now() - timedelta(seconds=4)
    )
    assert health.silent(3.5) == ["dead"]

    latest = timezone.now() + timedelta(seconds=121)
    assert CaseRun.objects.get(pk=case.pk).lease_expires_at <= latest
    assert Run.objects.get(pk=run.pk).scoring_expires_at <= latest
    for _ in range(5):  # as a clock that jumps makes them run out
        CaseRun.objects.filter(pk=case.pk).update(lease_expires_at=Now())
        taken = leases.claim_case(run.pk, uuid4())
        assert (taken.pk, taken.attempts) == (case.pk, 1)


def test_a_lease_outlives_a_database_that_is_away_for_a_moment(settings: Any) -> None:
    held = Renewed(OperationalError("database is locked"))
    settings.CASE_LEASE_SECONDS = 0.03

    with KeepAlive(held):
        assert held.renewed.wait(60)


@pytest.mark.parametrize(
    ("fate", "left"), [("give_back", ("queued", 0)), ("abandon", ("running", 2))]
)
def test_work_that_is_let_go_can_be_taken_at_once(launch, fate, left):
    run = launch()
    owner = uuid4()
    case = leases.claim_case(run.pk, owner)

    getattr(leases.lease_of(case, owner), fate)()

    row = CaseRun.objects.claimable().get(pk=case.pk)
    assert (row.state, row.attempts) == left


def test_work_at_its_limit_fails_with_its_reason_and_is_not_tried_again(launch: Any) -> None:
    run = launch()
    owner = uuid4()
    case = leases.claim_case(run.pk, owner)

    leases.lease_of(case, uuid4()).end_late()  # another's is left alone
    assert leases.lease_of(case, owner).renew()
    leases.lease_of(case, owner).end_late()

    case.refresh_from_db()
    assert (case.state, case.error_class, case.owner) == ("failed", "transient", None)
    assert "ASSAY_CASE_TIMEOUT_SECONDS" in in_english(case.error)


class Renewed:
    """A lease that is renewed once, perhaps after something went wrong."""

    def __init__(self, *problems: Exception) -> None:
        self.renewed = threading.Event()
        self._problems = list(problems)

    def renew(self) -> bool:
        if self._problems:
            raise self._problems.pop()
        self.renewed.set()
        return False


def test_scoring_may_take_longer_than_a_case(launch, script, settings, monkeypatch):
    kept = threading.Event()
    score, claim = scoring.score, leases.claim_scoring

    def claim_in_haste(*given: Any) -> bool:  # the cases before it have their time
        settings.CASE_LEASE_SECONDS, settings.CASE_TIMEOUT_SECONDS = 0.03, 0.01
        return claim(*given)

    def score_slowly(*given: Any) -> None:
        assert kept.wait(60)
        score(*given)

    monkeypatch.setattr(leases, "claim_scoring", claim_in_haste)
    monkeypatch.setattr(leases.ScoringLease, "renew", lambda held: kept.set() or True)
    monkeypatch.setattr(scoring, "score", score_slowly)
    script(perfect)
    run = launch()

    execution.work(run.pk, uuid4())

    assert Run.objects.with_progress().get(pk=run.pk).status == "finished"


def test_only_one_worker_scores_a_run(launch: Any) -> None:
    run = launch()
    first, second = uuid4(), uuid4()
    assert not leases.claim_scoring(run.pk, first)  # cases are open
    CaseRun.objects.filter(run=run).update(state="failed", error=Fact("answer.called_off"))

    assert leases.claim_scoring(run.pk, first)

    assert not leases.claim_scoring(run.pk, second)
    Run.objects.filter(pk=run.pk).update(scoring_expires_at=timezone.now() - timedelta(seconds=1))
    assert leases.claim_scoring(run.pk, second)
    assert not leases.finish_scoring(run.pk, first)


@pytest.mark.django_db(transaction=True)
def test_no_case_is_held_by_two_workers_at_once(make_release: Any, launch: Any) -> None:
    run = launch(release=make_release(40, name="forty"))
    claimed: list[int] = []
    errors: list[Exception] = []

    def take_all() -> None:
        try:
            owner = uuid4()
            while case := leases.claim_case(run.pk, owner):
                claimed.append(case.pk)
                leases.finish(case, owner, state="failed", error=Fact("answer.called_off"))
        except Exception as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=take_all) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    assert len(claimed) == len(set(claimed)) == 40
    assert connection.vendor in ("sqlite", "postgresql")
