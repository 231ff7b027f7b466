"""What may be said of runs next to a baseline: facts for the sentences, and the same as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from evaluation.metrics.comparison import (
    ALPHA,
    Comparison,
    conversations_seen_by,
    lies_within,
    margin_of,
)
from evaluation.models import Run
from evaluation.services.run import exposures
from evaluation.services.run.comparisons import Compared, MetricComparison
from evaluation.services.run.primary_metrics import PrimaryJson
from labeling.domain.facts import Fact
from labeling.domain.stored import as_json
from labeling.words import in_english

SMALLEST_P = 0.001
"""A smaller p value is not written out."""


def conclusion(row: MetricComparison, compared: Compared) -> list[Fact]:
    """What one metric says of new conversations, and what would decide what it leaves open.

    Empty for exploratory metrics: they explain, and get no verdict.
    """
    verdict = row.verdict
    if verdict == "exploratory":
        return []
    runs = {"run": compared.after.pk, "baseline": compared.before.pk}
    if verdict == "identical":
        return [Fact("conclusion.identical", **runs, cases=compared.shared)]
    if verdict == "not_measurable":
        return [Fact("conclusion.not_measurable", **runs, metric=_title(row))]
    margin = margin_of(row.metric, row.margin)
    said = [
        Fact(f"conclusion.{verdict}", **runs, basis=_basis(row, compared.together), margin=margin)
    ]
    result = row.comparison
    if result.n_before != result.n or result.n_after != result.n:
        counts = {"n": result.n, "before": result.n_before, "after": result.n_after}
        said.append(Fact("conclusion.other_cases", **runs, **counts))
    if verdict == "better" and row.role == "primary":
        said += _selected(compared)
    if verdict == "undecided":
        said += _open(row, compared.after)
    if result.detectable is not None:
        said.append(Fact("conclusion.detectable", value=result.detectable))
    elif result.ci_low is not None:
        said.append(Fact("conclusion.nothing_detectable"))
    return said


def badge(row: MetricComparison) -> Fact:
    """The verdict, and by which metric; that all outputs are the same holds for every metric."""
    verdict = Fact(f"comparison.{row.verdict}")
    if row.verdict == "identical":
        return verdict
    return Fact("conclusion.badge", metric=_title(row), verdict=verdict)


def exposed(runs: Sequence[Run]) -> list[Fact]:
    """Which of the runs were measured on conversations that were trained on."""
    counts = exposures.of_runs(run.pk for run in runs)
    return [said for pk, each in counts.items() if (said := exposures.warning(each, run=pk))]


class ComparedRun(TypedDict):
    run: int
    name: str
    pipeline: str
    pipeline_version: str
    config_sha256: str
    split: str | None


class Selection(TypedDict):
    """What choosing the best of several runs does to the test of the primary metric."""

    runs: Annotated[int, "Finished runs on this gold and split, without the baseline and floors"]
    p_value: Annotated[float | None, "If this run was chosen because it came out best of them"]


class Decides(PrimaryJson):
    """The primary metric, and the runs whose figures could be seen before it was declared."""

    declared_after_runs: list[int]


@dataclass(frozen=True, slots=True)
class MetricVerdict(Comparison):
    """A comparison by one metric with what follows from it."""

    direction: Annotated[str, "higher or lower is better"]
    role: Annotated[str, "primary, main or exploratory"]
    p_value_corrected: float | None
    level: Annotated[float, "Of the interval, which is that of the corrected test"]
    margin: Annotated[float | None, "Smallest difference of interest"]
    conversations_needed: int | None
    verdict: str
    sentence: Annotated[str, "Empty for exploratory metrics"]


class RunVerdict(ComparedRun):
    cases: Annotated[int, "Cases of both runs: these are compared"]
    only_baseline: int
    only_run: int
    changed: Annotated[dict[str, Any], "Settings that differ, with both values"]
    judges_differ: list[str]
    selection: Selection
    primary: Decides
    verdict: Annotated[str, "That of the primary metric"]
    sentence: str
    metrics: dict[str, MetricVerdict]


class Verdicts(TypedDict):
    """All comparisons with one baseline."""

    baseline: ComparedRun
    gold: str
    metrics_version: str
    runs: list[RunVerdict]
    exposure: Annotated[dict[str, exposures.Exposures], "By run"]


def document(baseline: Run, compared: Sequence[Compared]) -> Verdicts:
    """As the API and the command write them."""
    numbers = [baseline.pk, *(each.after.pk for each in compared)]
    return {
        "baseline": _run(baseline),
        "gold": str(baseline.release),
        "metrics_version": baseline.spec.metrics_version,
        "runs": [_compared(each) for each in compared],
        "exposure": {str(pk): counts for pk, counts in exposures.of_runs(numbers).items()},
    }


def _compared(compared: Compared) -> RunVerdict:
    return {
        **_run(compared.after),
        "cases": compared.shared,
        "only_baseline": compared.only_before,
        "only_run": compared.only_after,
        "changed": {name: list(values) for name, values in compared.changed.items()},
        "judges_differ": compared.judges_differ,
        "selection": {"runs": compared.tried, "p_value": compared.selected_p},
        "primary": {
            **compared.declared.as_json(),
            "declared_after_runs": compared.declared_after,
        },
        "verdict": compared.verdict,
        "sentence": whole_sentence(compared),
        "metrics": {row.metric.id: _metric(row, compared) for row in compared.rows},
    }


def _metric(row: MetricComparison, compared: Compared) -> MetricVerdict:
    return MetricVerdict(
        **as_json(row.comparison),
        direction=row.metric.direction,
        role=row.role,
        p_value_corrected=row.corrected_p,
        level=row.level,
        margin=margin_of(row.metric, row.margin),
        conversations_needed=row.conversations_needed,
        verdict=row.verdict,
        sentence=sentence(row, compared),
    )


def sentence(row: MetricComparison, compared: Compared) -> str:
    """Files, commands and the API keep English."""
    return " ".join(in_english(fact) for fact in conclusion(row, compared))


def whole_sentence(compared: Compared) -> str:
    """What the primary metric says, and every other main one that became worse."""
    return " ".join(sentence(row, compared) for row in compared.telling)


def p_value(value: float) -> Fact:
    if value < SMALLEST_P:
        return Fact("conclusion.p_below", limit=SMALLEST_P)
    return Fact("conclusion.p", value=value)


def _basis(row: MetricComparison, together: int) -> Fact:
    """What a verdict rests on: the figure, the test, and the number of conversations."""
    result = row.comparison
    rests: dict[str, Any] = {
        "metric": _title(row),
        "difference": result.difference,
        "role": Fact(f"conclusion.{row.role}"),
        "conversations": Fact("conclusion.conversations", n=result.conversations),
    }
    if together > 1:
        rests["role"] = Fact("conclusion.corrected", role=rests["role"], runs=together)
    if result.ci_low is None or row.corrected_p is None:
        return Fact("conclusion.basis_without_interval", **rests)
    interval = {"low": result.ci_low, "high": result.ci_high, "level": 100 * row.level}
    return Fact("conclusion.basis", **rests, **interval, p=p_value(row.corrected_p))


def _selected(compared: Compared) -> list[Fact]:
    """What is left of the verdict if the run was chosen among others because it came out best."""
    p, runs = compared.selected_p, compared.tried
    if p is None or runs <= compared.together:
        return []
    holds = "holds" if p < ALPHA else "open"
    return [Fact(f"conclusion.selected_{holds}", runs=runs, p=p_value(p))]


def _open(row: MetricComparison, run: Run) -> list[Fact]:
    """Of what is undecided: what these conversations show, and how many would decide it."""
    result = row.comparison
    if result.conversations < 2:
        return [*_here(row, run), Fact("conclusion.one_conversation")]
    if lies_within(result, row.metric, row.margin):
        least = conversations_seen_by(row.margin)
        return [Fact("conclusion.unseen", conversations=result.conversations, needed=least)]
    needed = row.conversations_needed
    enough = needed is not None and needed > result.conversations
    code = "conclusion.needed" if enough else "conclusion.not_decided"
    values = {"conversations": result.conversations} | ({"needed": needed} if enough else {})
    return [*_here(row, run), Fact(code, **values)]


def _here(row: MetricComparison, run: Run) -> list[Fact]:
    result = row.comparison
    if result.here_low is None or result.here_high is None or result.here_p_value is None:
        return []
    return [
        Fact(
            f"conclusion.here_{_side(result, row)}",
            run=run.pk,
            conversations=result.conversations,
            cases=result.n,
            p=p_value(result.here_p_value),
        )
    ]


def _side(result: Comparison, row: MetricComparison) -> str:
    low, high = result.here_low or 0.0, result.here_high or 0.0
    if low <= 0 <= high:
        return "open"
    return "better" if (low > 0) == (row.metric.direction == "higher") else "worse"


def _title(row: MetricComparison) -> Fact:
    if row.metric.compute:  # of an installed package, which may be gone when this is read
        return Fact("metric_title.as_said", title=row.metric.title)
    return Fact(f"metric_title.{row.metric.id}")


def _run(run: Run) -> ComparedRun:
    return {
        "run": run.pk,
        "name": run.name,
        "pipeline": run.pipeline,
        "pipeline_version": run.pipeline_version,
        "config_sha256": run.config_sha256,
        "split": run.split or None,
    }
