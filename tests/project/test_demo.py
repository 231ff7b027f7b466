"""The demo project as ``make serve`` loads it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from evaluation.models import Run
from labeling.gold.verification import verify
from labeling.models import Annotation, Conversation, GoldRelease, Reopening, Round
from labeling.work import admission

pytestmark = pytest.mark.postgres


@pytest.mark.django_db
def test_the_demo_loads_once_with_rounds_gold_and_runs(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("seed_demo")
    counts = _counts()
    call_command("seed_demo")

    assert _counts() == counts
    assert "The demo is there already." in capsys.readouterr().out
    states = dict(Round.objects.values_list("number", "state"))
    assert states == {1: "failed", 2: "passed", 3: "open"}
    release = GoldRelease.objects.get()
    assert str(release) == "demo@1"
    assert release.items.count() >= 14  # half of 28 decided, and what is settled by itself
    assert release.overrides == []
    assert verify(release) == []
    assert Reopening.objects.unsettled().count() == 1
    assert set(Run.objects.values_list("pipeline", flat=True)) == {
        "nothing",
        "everything",
        "requirements-local",
        "requirements-agent",
    }
    assert Run.objects.get(pipeline="requirements-agent").config["whole_way"]
    assert Client().login(username="ana", password="gold-ana")
    dora, project = User.objects.get(username="dora"), release.project
    assert admission.not_calibrated_on(project, dora) == ["extraction"]


def _counts() -> tuple[int, int, int, int]:
    return (
        Conversation.objects.count(),
        Annotation.objects.count(),
        GoldRelease.objects.count(),
        Run.objects.count(),
    )
