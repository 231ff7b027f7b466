"""Two who do something with a run at the same moment; see tests/labeling/test_concurrency.py."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from evaluation.models import Run
from evaluation.services.run import ratings
from labeling.models import Event, Project
from tests.concurrency import Pause, both
from tests.evaluation.requirement_releases import inferred, make_release

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(project: Project, script: Any, finished: Any) -> Run:
    result = {"inferred_requirements": [inferred("Lock", confidence=0.9)]}
    script(lambda case: result)
    made: Run = finished(release=make_release(project, "inference", result))
    return made


def test_two_who_open_the_rating_of_a_run_have_the_same_one(
    run: Run, people: dict[str, User], monkeypatch: pytest.MonkeyPatch
) -> None:
    pause = Pause(monkeypatch, ratings, "record")

    one, other = both(
        lambda: ratings.open_panel(run, by=people["rita"]),
        pause,
        lambda: ratings.open_panel(run, by=people["admin"]),
    )

    assert one.result() == other.result()
    assert one.result().labels.count() == 1
    assert Event.objects.filter(verb="rating.opened").count() == 1
