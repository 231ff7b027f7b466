"""What the judges of many figures are worth, for lists: in a constant number of queries."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from evaluation import probes
from evaluation.metrics.gate import JUDGED
from evaluation.models import Aggregate, JudgeCertificate, Judgement
from evaluation.services.judging import certificates
from evaluation.services.judging.certificates import System

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
    systems: Collection[System]
    """Whose answers people rated."""


def of_runs(runs: Collection[int]) -> dict[Figure, str]:
    """The mark of every judged figure of these runs."""
    aggregates = Aggregate.objects.filter(run__in=runs, metric__in=JUDGED, detail__has_key="judge")
    field = "detail__judge__"
    rows = aggregates.values_list(
        "run", "metric", "run__release__project", f"{field}judge_sha256", f"{field}judging",
        "run__pipeline", "run__release__layer",
    )  # fmt: skip
    judged = {
        Figure(run, metric): (_Judge(project, metric, sha256), judging, (pipeline, layer))
        for run, metric, project, sha256, judging, pipeline, layer in rows
    }
    looks = _newest_looks({judge for judge, _judging, _system in judged.values()})
    passed = {
        judging for judge, judging, _ in judged.values() if judge in looks and looks[judge].passed
    }
    served = _served(passed)
    return {
        figure: _mark(looks.get(judge), served.get((judging, judge.kind), set()), system)
        for figure, (judge, judging, system) in judged.items()
    }


def _mark(look: _Look | None, served: set[str], system: System) -> str:
    if look is None or not look.compared:
        return UNKNOWN
    decides = look.passed and served <= {look.model} and system in look.systems
    return CERTIFIED if decides else LOOKED


def _newest_looks(judges: Collection[_Judge]) -> dict[_Judge, _Look]:
    """One over older probes counts for none, nor one without a sample."""
    if not judges:
        return {}
    named = JudgeCertificate.objects.filter(judge_sha256__in={judge.sha256 for judge in judges})
    rows = list(named.defer("probes", "reasons").order_by("pk"))
    fresh, systems = probes.load().version, certificates.systems_of(rows)
    return {
        _Judge(row.project_id, row.kind, row.judge_sha256): _Look(
            row.passed and row.probes_version == fresh and row.sample_id is not None,
            row.n > 0,
            row.served_model,
            systems[row.pk],
        )
        for row in rows
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
