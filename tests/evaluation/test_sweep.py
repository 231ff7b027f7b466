"""The sweep wakes runs that nobody holds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from evaluation.models import CaseRun, Run
from evaluation.services.work import leases, steering
from labeling.domain.facts import Fact

pytestmark = pytest.mark.django_db


def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    woken: list[int] = []
    monkeypatch.setattr(steering, "wake", woken.append)
    return woken


def test_the_sweep_wakes_a_run_that_nobody_holds(
    launch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken = sent(monkeypatch)
    run = launch()

    steering.wake_unattended()
    assert woken == [run.pk]

    leases.claim_case(run.pk, uuid4())
    steering.wake_unattended()
    assert woken == [run.pk]  # somebody is at it

    CaseRun.objects.filter(state="running").update(
        lease_expires_at=timezone.now() - timedelta(seconds=1)
    )
    steering.wake_unattended()
    assert woken == [run.pk, run.pk]


def test_a_silent_worker_keeps_what_it_holds_and_nothing_else(
    make_release: Any, launch: Any, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.CASE_LEASE_SECONDS = 120
    run, woken = launch(release=make_release(2, name="two")), sent(monkeypatch)
    silent = leases.claim_case(run.pk, uuid4())
    assert silent is not None

    def last_renewed(seconds: int) -> list[int]:
        end = timezone.now() + timedelta(seconds=120 - seconds)
        CaseRun.objects.filter(pk=silent.pk).update(lease_expires_at=end)
        woken.clear()
        steering.wake_unattended()
        return woken

    assert last_renewed(41) == []  # a lease of 120 seconds is renewed after 40
    assert last_renewed(50) == [run.pk]
    other = leases.claim_case(run.pk, uuid4())
    assert other is not None
    assert other.pk != silent.pk
    assert leases.claim_case(run.pk, uuid4()) is None


def test_the_sweep_leaves_alone_what_is_paused_finished_or_just_sent(
    launch: Any, finished: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, people: Any
) -> None:
    finished()
    paused, just_sent = launch(), launch()
    steering.pause(paused, by=people["rita"])
    Run.objects.filter(pk=just_sent.pk).update(woken_at=timezone.now())
    woken = sent(monkeypatch)

    steering.wake_unattended()

    assert woken == []


def test_the_sweep_finds_a_run_that_only_lacks_its_scores(
    launch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = launch()
    CaseRun.objects.filter(run=run).update(state="failed", error=Fact("answer.called_off"))
    woken = sent(monkeypatch)

    steering.wake_unattended()

    assert woken == [run.pk]
