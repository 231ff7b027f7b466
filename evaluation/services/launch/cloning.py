"""A run launched again, with some things changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from evaluation.models import EVERY, OPEN, Run
from evaluation.services.judging import answers
from evaluation.services.language_models import endpoints
from evaluation.services.launch.launch import LaunchRequest
from evaluation.services.work.steering import RunRefused
from pipelines.chat.endpoint import DEFAULT
from pipelines.registry import PIPELINES

FIXED = {"predictions", "configuration", "cloned_from", "requested_by"}
CHANGEABLE = {field.name for field in fields(LaunchRequest)} - FIXED
AS_BEFORE = (
    *("release", "pipeline", "repetitions", "seed", "name"),
    *("budget_cost", "budget_tokens", "concurrency"),
)


def every(run: Run) -> str:
    """How to ask for what a run on every split measured; other gold may have test items."""
    return EVERY if run.look_id else OPEN


def gone(run: Run) -> list[str]:
    """Settings of the run that its pipeline has no longer: they are left out, and that is said."""
    entry = PIPELINES.get(run.pipeline)
    return [name for name in run.config if entry and name not in entry.config.model_fields]


def request(run: Run, changes: Mapping[str, Any] | None = None, *, by: Any) -> LaunchRequest:
    """What launches the run again. ``changes``: fields of ``LaunchRequest`` with other values.

    Settings of the same pipeline are merged into those of the run; another pipeline has its own.
    Why test items are looked at is asked of the person who clones: it may be another one.
    """
    if run.spec.predictions is not None or run.carried_from_id is not None:
        raise RunRefused("run.no_pipeline_to_clone", details={"run": run.pk})
    changed = {name: value for name, value in (changes or {}).items() if name in CHANGEABLE}
    if changed.get("pipeline", run.pipeline) == run.pipeline:
        left = {name: value for name, value in run.config.items() if name not in gone(run)}
        changed["config"] = {**left, **changed.get("config", {})}
    asks = changed.get("release", run.release).layer in answers.asking_layers()
    own = {
        **{name: getattr(run, name) for name in AS_BEFORE},
        "split": run.split or every(run),
        "size": run.spec.size,
        "metrics": run.spec.metrics_config or {},
        "thresholds": run.spec.thresholds or {},
        "evaluate_answers": run.spec.asks_for_answers and asks,
        "judge_prompts": answers.judge_prompts_of(run),
        "model": endpoints.name_in(run.spec.model) if run.spec.model else DEFAULT,
    }
    if not changed.get("evaluate_answers", own["evaluate_answers"]):
        own["judge_prompts"] = {}  # there is nothing to judge
    return LaunchRequest(**{**own, **changed}, cloned_from=run.pk, requested_by=by)
