"""Why results on test items are looked at, for commands that print any of them."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.management.base import OutputWrapper

from evaluation.models import Run
from evaluation.services import looks
from labeling.gold.looks import Sight
from labeling.management.looks import state
from labeling.models import Look


def state_results(runs: Sequence[Run], reason: str, notes: OutputWrapper) -> None:
    """For the figures of runs; refused without a reason where any had test items."""
    named = ",".join(str(run.pk) for run in runs if run.look_id)
    sight = Sight(Look.Purpose.RESULTS, Look.Subject.RUNS, named)
    state(looks.tested(runs), sight, reason, notes, returncode=2)


def state_comparison(runs: Sequence[Run], reason: str, notes: OutputWrapper) -> None:
    """For runs next to each other."""
    state(looks.tested(runs), looks.sight_of(runs), reason, notes, returncode=2)
