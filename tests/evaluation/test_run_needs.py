"""What runs need from those who launched them, on the first page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from evaluation.models import Run
from evaluation.templatetags.runs import run_needs
from labeling.domain.facts import Fact
from tests.evaluation.releases import following


@pytest.fixture
def run(launch: Callable[..., Run]) -> Run:
    return launch(pipeline="nothing")


def texts(user: User) -> list[str]:
    return [need.text for need in run_needs(user)]


def test_finished_and_failed_runs_of_the_last_days_are_named(run: Run) -> None:
    noor = run.requested_by
    assert noor
    assert texts(noor) == []

    Run.objects.update(scored_at=timezone.now())
    assert texts(noor) == [f"Run {run.pk} (nothing) has finished"]

    Run.objects.update(scored_at=None, failure=Fact("gate.no_shared_case"))
    assert texts(noor) == [f"Run {run.pk} (nothing) failed"]

    Run.objects.update(created_at=timezone.now() - timedelta(days=9))
    assert texts(noor) == []


def test_a_run_on_older_gold_is_named_until_it_is_scored_on_the_new(
    run, people, django_assert_num_queries
):
    Run.objects.update(scored_at=timezone.now() - timedelta(days=9))
    following(run.release)
    noor = run.requested_by
    others = [user for user in people.values() if user != noor]

    with django_assert_num_queries(1):
        assert texts(noor) == [
            f"Run {run.pk} (nothing) was compared with {run.release}, and there is newer gold"
        ]
    assert not any(map(texts, others))
