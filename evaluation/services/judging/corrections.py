"""Judged means corrected by people: only where the judge is certified and enough was rated."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from evaluation.metrics.gate import JUDGED
from evaluation.metrics.judges import Corrected, corrected_mean
from evaluation.metrics.registry import METRICS
from evaluation.models import CaseRun, Run, Score
from evaluation.services.judging import certificates

LEAST_RATED = 50


def of_run(run: Run) -> dict[str, Corrected]:
    """By metric; in a number of queries that does not depend on how many cases there are."""
    if not run.spec.has_answers:
        return {}
    by_metric = {kind: _of_metric(run, kind) for kind in sorted(JUDGED)}
    return {kind: corrected for kind, corrected in by_metric.items() if corrected is not None}


def as_json(run: Run) -> dict[str, dict[str, Any]]:
    return {kind: asdict(corrected) for kind, corrected in of_run(run).items()}


def _of_metric(run: Run, kind: str) -> Corrected | None:
    """Cases that failed have the worst value for every judge: there is nothing to correct."""
    if certificates.standing_of(run, kind).why is not None:
        return None
    rows = Score.objects.filter(case__run=run, metric=kind, metric_version=METRICS[kind].version)
    judged: dict[str, list[float]] = {}
    written: dict[int, float] = {}
    for case, conversation, value, state in rows.values_list(
        "case", "case__item__conversation", "value", "case__state"
    ):
        if value is None:
            continue
        judged.setdefault(str(conversation), []).append(value)
        if state == CaseRun.State.DONE:
            written[case] = value
    distances = certificates.distances(run, kind, written)
    if sum(map(len, distances.values())) < LEAST_RATED:
        return None
    share = len(written) / sum(map(len, judged.values()))
    weighed = {name: [share * value for value in values] for name, values in distances.items()}
    return corrected_mean(judged, weighed)
