"""Which run a thread of a worker takes up, when it leaves it, and what a dead worker leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from threading import Barrier
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from evaluation.management import foreground
from evaluation.models import CaseRun, Run, Slot
from evaluation.services.language_models import budgets
from evaluation.services.run import execution
from evaluation.services.work import leases, slots, steering
from labeling.domain.facts import Fact
from labeling.models import WorkerPulse
from labeling.operation import health
from tests import llm_server

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def workers(db: None) -> None:
    health.beat("one")
    health.beat("two")


def runs_of(*taken: Slot | None) -> list[int | None]:
    return [slot and slot.run_id for slot in taken]


def test_threads_share_the_runs_and_no_run_has_more_than_its_concurrency(queued):
    long, short = queued(concurrency=3), queued(concurrency=1)

    taken = [slots.take(worker) for worker in ("one", "two", "one", "two", "two")]

    assert runs_of(*taken) == [long.pk, short.pk, long.pk, long.pk, None]
    assert [slot.number for slot in long.slots.all()] == [1, 2, 3]


def test_of_runs_with_as_many_threads_the_one_that_waited_longest_is_next(queued):
    first, second = queued(), queued()

    def one_turn() -> int:
        slot = slots.take("one")
        slots.let_go(slot.owner)
        return slot.run_id

    assert [one_turn() for _ in range(4)] == [first.pk, second.pk, first.pk, second.pk]


def test_a_thread_leaves_after_its_turn_only_if_another_run_needs_it_more(queued, monkeypatch):
    monkeypatch.setattr(slots, "LOOK_SECONDS", 0.0)
    run = queued()
    taken = slots.take("one")
    fresh = slots.Turn(taken.owner)
    monkeypatch.setattr(slots, "TURN_SECONDS", 0.0)
    over = slots.Turn(taken.owner)

    assert over.goes_on()  # nobody else waits
    other = queued()
    assert (fresh.goes_on(), over.goes_on()) == (True, False)
    slots.take("two")
    assert over.goes_on()  # the other run has as many now
    assert runs_of(slots.take("two"), slots.take("two")) == [run.pk, other.pk]


def test_a_lower_concurrency_sends_threads_away_and_a_higher_one_calls_them(queued, monkeypatch):
    monkeypatch.setattr(slots, "LOOK_SECONDS", 0.0)
    run = queued(concurrency=2)
    first, second = slots.take("one"), slots.take("two")

    Run.objects.filter(pk=run.pk).update(concurrency=1)
    assert slots.Turn(first.owner).goes_on()
    assert not slots.Turn(second.owner).goes_on()

    Run.objects.filter(pk=run.pk).update(concurrency=3)
    assert slots.Turn(second.owner).goes_on()
    assert slots.take("one") is not None


@pytest.mark.parametrize("late", [False, True])
def test_what_a_silent_worker_held_is_free_at_once(queued: Callable[..., Run], late: bool) -> None:
    """Its death counts also if it is noticed after its lease, as on a machine that was off."""
    run = queued(concurrency=2)
    dead, alive = slots.take("one"), slots.take("two")
    held, other = (leases.claim_case(run.pk, slot.owner) for slot in (dead, alive))

    slots.bury_silent()
    assert run.slots.count() == 2
    silent = timezone.now() - timedelta(seconds=2 * slots.SILENT_SECONDS)
    WorkerPulse.objects.filter(name="one").update(seen_at=silent)
    if late:
        CaseRun.objects.filter(pk=held.pk).update(lease_expires_at=silent)
    slots.bury_silent()

    assert [slot.owner for slot in run.slots.all()] == [alive.owner]
    assert not slots.Turn(dead.owner).goes_on()  # should it have been asleep only
    successor = slots.take("two")
    again = leases.claim_case(run.pk, successor.owner)
    assert (again.pk, again.attempts) == (held.pk, 2)
    other.refresh_from_db()
    assert other.owner == alive.owner


def test_a_worker_that_died_while_it_scored_is_replaced_at_once(queued):
    run = queued()
    run.cases.update(state="failed", error=Fact("answer.called_off"))
    dead = slots.take("one")
    assert leases.claim_scoring(run.pk, dead.owner)
    assert slots.take("two") is None  # somebody scores it

    slots.bury(["one"])

    assert runs_of(slots.take("two")) == [run.pk]


def test_runs_that_are_paused_ended_or_only_for_a_command_are_left_alone(launch, queued, people):
    steering.pause(queued(), by=people["rita"])
    steering.cancel(queued(), by=people["rita"])
    Run.objects.filter(pk=queued().pk).update(failure=Fact("launch.broken_off"))
    of_command = launch()
    assert slots.take("one") is None

    long_ago = timezone.now() - timedelta(seconds=2 * slots.COMMAND_SECONDS)
    Run.objects.filter(pk=of_command.pk).update(created_at=long_ago)
    case = leases.claim_case(of_command.pk, uuid4())
    assert slots.take("one") is None  # the command is at it

    CaseRun.objects.filter(pk=case.pk).update(
        lease_expires_at=timezone.now() - timedelta(seconds=1)
    )
    assert runs_of(slots.take("one")) == [of_command.pk]


def test_a_spare_thread_takes_up_only_what_nobody_is_at(queued: Callable[..., Run]) -> None:
    busy = queued()
    slots.take("one")
    assert slots.take("two", alone=True) is None

    fresh = queued()

    assert runs_of(slots.take("two", alone=True)) == [fresh.pk]
    assert busy.slots.count() == 1


def test_the_look_for_work_takes_two_queries_whatever_waits_and_one_short_one_if_nothing_does(
    queued, django_assert_num_queries
):
    with django_assert_num_queries(1):
        assert slots.take("two") is None
    for _ in range(7):
        queued(concurrency=1)
    for _ in range(7):
        slots.take("one")

    with django_assert_num_queries(2):
        assert slots.take("two") is None


# --- what a command works on, and what asks a model ---


def test_what_a_command_works_on_is_taken_away_by_no_worker_however_old_it_is(queued):
    run = queued()
    long_ago = timezone.now() - timedelta(days=1)
    Run.objects.filter(pk=run.pk).update(created_at=long_ago, woken_at=long_ago)

    with foreground.kept([run.pk]):
        assert slots.take("one") is None
    assert runs_of(slots.take("one")) == [run.pk]


def test_a_command_that_died_keeps_its_run_for_a_minute_and_a_clock_in_the_future_no_longer(queued):
    run = queued()
    for apart in (-1, 10 * slots.COMMAND_SECONDS):
        Slot.objects.all().delete()
        Run.objects.filter(pk=run.pk).update(
            command_until=timezone.now() + timedelta(seconds=apart)
        )
        assert runs_of(slots.take("one")) == [run.pk]


@pytest.mark.usefixtures("asking")
def test_a_worker_leaves_what_asks_another_model_to_one_that_has_it(queued, server, settings):
    asking, plain = queued(pipeline="asking"), queued()
    Run.objects.filter(pk=asking.pk).update(turn_at=None)
    settings.LLM_MODEL = "another-1"
    assert runs_of(slots.take("one"), slots.take("one")) == [plain.pk, plain.pk]
    settings.LLM_MODEL = ""
    assert slots.take("one", alone=True) is None
    asking.refresh_from_db()
    assert not asking.paused

    settings.LLM_MODEL = llm_server.MODEL
    assert runs_of(slots.take("two", alone=True)) == [asking.pk]


# --- several cases of one run at a time ---


@pytest.mark.usefixtures("asking")
def test_a_slot_of_a_run_that_asks_a_model_has_sixteen_of_its_cases_at_a_time(queued, server):
    run = queued(pipeline="asking", concurrency=20)
    taken = [slots.take("one"), slots.take("two"), slots.take("two")]
    assert runs_of(*taken) == [run.pk, run.pk, None]

    assert [slots.Turn(slot.owner).look() for slot in taken if slot] == [16, 4]
    Run.objects.filter(pk=run.pk).update(concurrency=3)
    first, second = (slots.Turn(slot.owner) for slot in taken if slot)
    assert [first.goes_on(thread) for thread in (0, 2, 3)] == [True, True, False]
    assert not second.goes_on(0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("asking")
def test_a_turn_has_as_many_requests_in_flight_and_does_each_case_once(
    make_release, queued, server
):
    run = queued(release=make_release(40, name="forty"), pipeline="asking", concurrency=16)
    together = Barrier(16)  # no request is answered until sixteen wait

    def all_at_once(body: Any) -> str:
        together.wait(60)
        return server.answer

    server.planned.extend([all_at_once] * 16)
    slot = slots.take("one")

    execution.take_turn(run.pk, slot.owner)

    run.refresh_from_db()
    assert server.most_at_once == 16
    assert run.scored_at is not None
    assert Counter(run.cases.values_list("state", "attempts")) == {("done", 1): 40}
    assert len(server.requests) == 80  # two for each case
    assert budgets.spent(run.pk).calls == 80


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("asking")
def test_what_a_death_has_left_is_done_alone_before_anything_else(make_release, queued, server):
    run = queued(release=make_release(6, name="six"), pipeline="asking", concurrency=6)
    dead, heir = slots.take("one"), uuid4()
    lost = [leases.claim_case(run.pk, dead.owner) for _ in range(2)]
    slots.bury(["one"])

    execution.work(run.pk, heir, at_once=6)

    asked = [body["messages"][-1]["content"].split(",")[0] for body in server.requests[:4]]
    assert asked == [case.case_id for case in lost if case for _ in range(2)]
    assert Counter(run.cases.values_list("state", "attempts")) == {("done", 2): 2, ("done", 1): 4}
