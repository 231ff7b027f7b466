from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError

from evaluation.models import CaseRun, Run
from evaluation.services.launch.launch import LaunchRefused
from evaluation.services.work import slots, steering
from labeling.operation import health
from tests.refusals import refused

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


SENSELESS = [
    ({"pipeline": "evrything"}, "Did you mean “everything”"),
    ({"config": {"confidense": 1}}, "Did you mean “confidence”"),
    ({"split": "dve"}, "There is no split “dve”. Known are: train, dev, test."),
    ({"split": "test", "reason": "\u200b \ufeff"}, "Say why you look at test items"),
]


def test_a_launch_that_makes_no_sense_is_refused_in_a_sentence(launch):
    for options, sentence in SENSELESS:
        with refused(LaunchRefused, match=sentence):
            launch(**options)

        assert not Run.objects.exists()


def test_a_worker_is_told_when_the_launch_is_stored(
    launch, monkeypatch, django_capture_on_commit_callbacks
):
    woken: list[int] = []
    monkeypatch.setattr(steering, "wake", woken.append)

    with django_capture_on_commit_callbacks(execute=True):
        run = launch(queue=True)
        assert woken == []

    assert woken == [run.pk]


def test_a_queue_that_is_away_keeps_no_run_waiting(
    launch, monkeypatch, django_capture_on_commit_callbacks
):
    def away(*args: Any, **options: Any) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr("celery.current_app.send_task", away)

    with django_capture_on_commit_callbacks(execute=True):
        run = launch(queue=True)

    health.beat("a worker")
    slot = slots.take("a worker")
    assert slot.run_id == run.pk


def test_a_launch_that_breaks_off_leaves_nothing(launch, monkeypatch):
    run = launch()

    def broken(*args: Any, **data: Any) -> None:
        raise OperationalError("the server has gone")

    monkeypatch.setattr(steering, "record", broken)
    with pytest.raises(OperationalError):
        launch()
    monkeypatch.undo()
    assert (Run.objects.get().pk, CaseRun.objects.count()) == (run.pk, 3)
