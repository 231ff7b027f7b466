"""Two who do something with a run at the same moment; see tests/labeling/test_concurrency.py."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.models import RatingSample, Run
from evaluation.services.judging import samples
from labeling.models import Event, Project
from tests.concurrency import Pause, both
from tests.evaluation.requirement_releases import inferred, make_release

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def run(project: Project, script: Any, finished: Any) -> Run:
    result = {"inferred_requirements": [inferred("Lock", confidence=0.9)]}
    script(lambda case: result)
    made: Run = finished(release=make_release(project, "inference", result))
    return made


def test_of_two_who_draw_a_sample_of_a_run_one_has_it(run, people, monkeypatch):
    pause = Pause(monkeypatch, samples, "_record")

    one, other = both(
        lambda: samples.draw(run, by=people["rita"]),
        pause,
        lambda: samples.draw(run, by=people["admin"]),
    )

    assert [sample.kind for sample in one.result()] == ["need"]
    with pytest.raises(samples.RatingRefused, match="nothing_left"):
        other.result()
    assert RatingSample.objects.count() == 1
    assert Event.objects.filter(verb="answers.sample_drawn").count() == 1
