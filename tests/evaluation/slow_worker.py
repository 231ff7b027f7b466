"""A worker with a pipeline that takes its time, so that a test can kill it in the middle of a run.

Started as ``celery -A tests.evaluation.slow_worker worker``. Every call of the pipeline leaves a
line in the file that ``SLOW_LOG`` names; the one that ``SLOW_LAST`` counts never comes to an end.
Its clock is ``SLOW_AHEAD`` seconds ahead.
"""

from __future__ import annotations

import itertools
import os
import re
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.utils import timezone
from pydantic import BaseModel, ConfigDict

from config.celery import app as celery_app
from labeling.jobs import runner
from pipelines import registry
from pipelines.types import Case, Output

SECONDS = 0.05  # per case
CALLS = itertools.count(1)


class NoConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Slow:
    name, version = "slow", "1"
    config: dict[str, Any] = {}

    def run(self, case: Case) -> Output:
        with Path(os.environ["SLOW_LOG"]).open("a") as log:
            log.write(f"{case.case_id}\n")
        time.sleep(SECONDS)
        if str(next(CALLS)) == os.environ.get("SLOW_LAST"):
            time.sleep(600)  # to be killed meanwhile
        return {"requirements": [], "model": None}


class Hanging(Slow):
    """Never comes back from its first case, nor lets another thread of its process run."""

    name = "hanging"

    def run(self, case: Case) -> Output:
        is_first = not Path(os.environ["SLOW_LOG"]).exists()
        output = super().run(case)
        if is_first:
            re.fullmatch(r"(a+)+", "a" * 60 + "b")
        return output


ENTRY = registry.Entry(
    name="slow",
    title="Slow",
    summary="Takes its time.",
    layers=("extraction",),
    config=NoConfig,
    make=lambda config, encoder: Slow(),
)


HANGING = replace(ENTRY, name="hanging", make=lambda config, encoder: Hanging())


def set_clock_ahead(seconds: float) -> None:
    right = timezone.now
    timezone.now = lambda: right() + timedelta(seconds=seconds)


def prepare() -> None:
    from labeling.agreement import vectors
    from labeling.agreement.matching.similarity import Ruler
    from tests.fakes import WordOverlap

    set_clock_ahead(float(os.environ.get("SLOW_AHEAD", "0")))
    registry.PIPELINES.update({"slow": ENTRY, "hanging": HANGING})
    vectors.ruler = lambda: Ruler(WordOverlap())


if "SLOW_LOG" in os.environ:
    app = celery_app
    app.conf.sweep_seconds = 1
    app.on_after_finalize.connect(lambda **_: prepare(), weak=False)
    runner.PREPARE.append(prepare)
