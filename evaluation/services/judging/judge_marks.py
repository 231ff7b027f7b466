"""What the judges of many figures are worth, for lists: in a constant number of queries."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from evaluation import probes
from evaluation.metrics.gate import JUDGED
from evaluation.models import Aggregate, JudgeCertificate, Judgement

CERTIFIED, LOOKED, UNKNOWN = "certified", "looked", "unknown"
"""May decide; was compared with people, but has no certificate; nobody has compared it yet."""


WORST_LAST = (CERTIFIED, LOOKED, UNKNOWN)


class Figure(NamedTuple):
    """One judged metric of a run."""

    run: int
    metric: str


class _Judge(NamedTuple):
    project: int
    kind: str
    sha256: str


class _Look(NamedTuple):
    """The newest attempt of a judge; ``model`` is the one that it was, as the server named it."""

    passed: bool
    compared: bool
    model: str


def of_runs(runs: Collection[int]) -> dict[Figure, str]:
    """The mark of every judged figure of these runs."""
    aggregates = Aggregate.objects.filter(run__in=runs, metric__in=JUDGED, detail__has_key="judge")
    field = "detail__judge__"
    rows = aggregates.values_list(
        "run", "metric", "run__release__project", f"{field}judge_sha256", f"{field}judging"
    )
    judged = {
        Figure(run, metric): (_Judge(project, metric, sha256), judging)
        for run, metric, project, sha256, judging in rows
    }
    looks = _newest_looks({judge for judge, _judging in judged.values()})
    passed = {
        judging for judge, judging in judged.values() if judge in looks and looks[judge].passed
    }
    served = _served(passed)
    return {
        figure: _mark(looks.get(judge), served.get((judging, judge.kind), set()))
        for figure, (judge, judging) in judged.items()
    }


def _mark(look: _Look | None, served: set[str]) -> str:
    if look is None or not look.compared:
        return UNKNOWN
    return CERTIFIED if look.passed and served <= {look.model} else LOOKED


def _newest_looks(judges: Collection[_Judge]) -> dict[_Judge, _Look]:
    """One over older probes counts for none, nor one without a sample."""
    if not judges:
        return {}
    rows = JudgeCertificate.objects.filter(judge_sha256__in={judge.sha256 for judge in judges})
    fresh = probes.load().version
    return {
        _Judge(project, kind, sha256): _Look(
            passed and version == fresh and sample is not None, n > 0, model
        )
        for project, kind, sha256, passed, version, n, model, sample in rows.order_by(
            "pk"
        ).values_list(
            "project",
            "kind",
            "judge_sha256",
            "passed",
            "probes_version",
            "n",
            "served_model",
            "sample",
        )
    }


def _served(judgings: Collection[int]) -> dict[tuple[int, str], set[str]]:
    """By which models, as the server named them, each kind was judged."""
    if not judgings:
        return {}
    rows = Judgement.objects.filter(judging__in=judgings, score__isnull=False).order_by()
    models: dict[tuple[int, str], set[str]] = {}
    for judging, kind, model in rows.values_list("judging", "kind", "model").distinct():
        models.setdefault((judging, kind), set()).add(model)
    return models
