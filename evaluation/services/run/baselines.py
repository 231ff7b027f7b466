"""Which run a run is measured against where nobody names one, and by whose choice."""

from __future__ import annotations

from typing import Literal, NamedTuple

from evaluation.layers import gold_layer
from evaluation.models import GateResult, Run
from evaluation.services.run import chosen_baselines, lists

Choice = Literal["chosen", "gate", "marked", "pipeline", "gold"]
"""Chosen by somebody for this gold and split; else when the thresholds of this run were checked, or
when those of another one on this gold were, which the list of runs marks; else the run before of
its pipeline; else any before apart from floors, which are measured for every run."""


class Baseline(NamedTuple):
    run: Run
    choice: Choice
    said: list[str]
    """Since when somebody has chosen it, and whether this run had been scored by then."""


def baseline_of(run: Run) -> Baseline | None:
    """A finished run on the same cases; the gate's baseline may have others."""
    beside = Run.objects.beside(run).select_related("release__project")
    choice = chosen_baselines.choice_on(run.release_id, run.split)
    chosen = beside.filter(pk=choice.run_id).first() if choice else None
    if choice is not None and chosen is not None:
        return Baseline(chosen, "chosen", chosen_baselines.sentences(choice, [run]))
    checks = GateResult.objects.filter(run=run, baseline__isnull=False)
    checked = checks.select_related("baseline__release__project").first()
    if checked is not None and checked.baseline is not None:
        return Baseline(checked.baseline, "gate", [])
    marked = beside.filter(pk__in=lists.baselines([run])).first()
    if marked is not None:
        return Baseline(marked, "marked", [])
    others = beside.filter(pk__lt=run.pk)
    same = others.filter(pipeline=run.pipeline).first()
    if same is not None:
        return Baseline(same, "pipeline", [])
    before = others.exclude(pipeline__in=gold_layer(run.release.layer).floors).first()
    return Baseline(before, "gold", []) if before is not None else None
