"""What a run put out, and its figures, are held against the audit log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evaluation.models import Aggregate, CaseRun, Run, Score
from evaluation.services import digests
from evaluation.services.work import endings
from labeling.gold import held
from tests.evaluation.conftest import perfect

pytestmark = pytest.mark.postgres


@pytest.fixture
def run(finished: Callable[..., Run], script: Any) -> Run:
    script(perfect)
    return finished()


FORGERIES: dict[str, tuple[Callable[[Run], object], str]] = {
    "output": (
        lambda run: CaseRun.objects.filter(run=run).update(output={"requirements": []}),
        "held.run_changed",
    ),
    "figure": (lambda run: Aggregate.objects.filter(run=run).update(mean=1), "held.run_changed"),
    "score": (
        lambda run: Score.objects.filter(case__run=run).update(numerator=7),
        "held.run_changed",
    ),
    "deleted": (lambda run: run.delete(), "held.run_gone"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_what_is_changed_of_a_finished_run_is_named(run: Run, name: str) -> None:
    project, (forge, code) = run.release.project, FORGERIES[name]
    assert list(digests.changed(project)) == []

    forge(run)

    assert [fact.code for fact in digests.changed(project)] == [code]
    assert digests.changed in held.CHECKS


def test_figures_that_are_computed_again_are_on_record(run: Run) -> None:
    endings.finished(run)

    assert list(digests.changed(run.release.project)) == []
