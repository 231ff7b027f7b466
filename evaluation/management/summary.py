"""What the command line shows of runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rich.table import Table

from evaluation.layers import gold_layer
from evaluation.metrics.registry import METRICS
from evaluation.metrics.yardsticks import Yardsticks
from evaluation.models import Aggregate, Run
from evaluation.services import looks
from evaluation.services.language_models import bills, budgets
from evaluation.services.launch.batches import Launched
from evaluation.services.run import results
from evaluation.templatetags.present import against, arrow, figure, interval, share, share_interval
from labeling.words import in_english

YARDSTICKS = ("floor", "people", "skill")
CHANCE = ("chance", "over chance")


def summary_tables(run: Run) -> Iterator[Table]:
    """The figures of a run and, where any were measured, its diagnostics in a separate table."""
    counts: Any = run
    figures, diagnostics = results.apart(gold_layer(run.spec.layer), results.aggregates_of(run))
    title = f"Run {run.pk}: {run.pipeline} on {run.release}, {counts.n_cases} cases"
    yield _table(title, figures)
    if diagnostics:
        yield _table(f"Diagnostics of run {run.pk}: not a goal in themselves", diagnostics)


def _table(title: str, rows: list[Aggregate]) -> Table:
    table = Table(title=title)
    table.add_column("metric", no_wrap=True)
    by_chance = CHANCE if any(row.chance is not None for row in rows) else ()
    counts = ("n", "undefined", "failed")
    for name in ("figure", "median", "std", "95 % interval", *by_chance, *counts, *YARDSTICKS):
        table.add_column(name, justify="right")
    for row in rows:
        metric = METRICS[row.metric]
        figures = [figure(value) for value in (row.mean, row.median, row.std)]
        counted = [str(value) for value in (row.n, row.n_undefined, row.n_failed)]
        chance = [figure(row.chance), figure(row.over_chance)] if by_chance else []
        beside = yardstick_cells(row)
        cells = [*figures, interval(row), *chance, *counted, *beside]
        averaged = " micro" if metric.scope == "micro" else ""
        table.add_row(f"{row.metric} {arrow(metric)}{averaged}", *cells)
    return table


def notes(run: Run) -> list[str]:
    """What nobody should read a figure without."""
    nothing = [
        f"Nothing was inferred in {row.detail['nothing']} of {row.n + row.n_undefined} cases: by "
        "definition they count with relevance 1 and false-inference rate 0."
        for row in results.aggregates_of(run)
        if row.detail.get("nothing")
    ]
    said = [in_english(fact) for fact in results.remarks(run, results.aggregates_of(run))]
    return [*_look(run), *nothing, *said]


def _look(run: Run) -> list[str]:
    look = looks.test_look(run)
    if look is None:
        return []
    limit = "no limit" if look["budget"] is None else f"budget {look['budget']:,}"
    sentence = (
        f"Look {look['number']} of {look['looks']} at the test items of {run.release} ({limit}); "
        f"items seen: {look['n_items']}."
    )
    return [f"{sentence} Why: {run.reason}" if run.reason else sentence]


def yardstick_cells(row: Aggregate) -> list[str]:
    """The floor, people and the run on the same cases, and its skill; ``!`` if above people."""
    stored: Yardsticks = row.yardsticks
    cells = ["–", "–", "–"]
    floors = stored.get("floors", {})
    if floors:
        name, floor = next(iter(floors.items()))
        cells[0] = f"{figure(floor['mean'])} ({name})"
    reached = stored.get("skill")
    if reached:  # the three on one basis
        cells[0] = f"{figure(reached['at_floor'])} ({reached['floor']})"
    if beside := stored.get("people"):
        mark = " !" if beside["above"] else ""
        cells[1] = f"{figure(beside['people']['mean'])} (n {beside['people']['n']}){mark}"
    if reached:
        cells[2] = f"{share(reached['mean'])} % [{share_interval(reached)}]"
    return cells


def usage_line(run: Run) -> str:
    usage = bills.usage_line(budgets.spent(run.pk))
    return f"Model {run.spec.model_label}: {usage}."


def batch_table(launched: Iterable[Launched]) -> Table:
    """Every run of a configuration file with the metrics that it wants to see."""
    table = Table(title="Summary")
    table.add_column("run", overflow="fold")
    table.add_column("metric", no_wrap=True)
    for name in ("mean", "95 % interval", "n", "undefined", "failed", *YARDSTICKS, "threshold"):
        table.add_column(name, justify="right")
    for launched_run in launched:
        table.add_section()
        rows = {row.metric: row for row in results.aggregates_of(launched_run.run)}
        thresholds = launched_run.run.spec.thresholds
        for metric in [
            *launched_run.shown,
            *(name for name in thresholds if name not in launched_run.shown),
        ]:
            if metric in rows:
                cells = _batch_row(rows[metric], thresholds.get(metric))
                table.add_row(
                    f"{launched_run.run.pk}: {launched_run.agent} on {launched_run.dataset}", *cells
                )
    return table


def _batch_row(row: Aggregate, threshold: float | None) -> list[str]:
    metric = METRICS[row.metric]
    sign = "≥" if metric.direction == "higher" else "≤"
    asked = "" if threshold is None else f"{sign} {threshold:g}"
    counted = [str(value) for value in (row.n, row.n_undefined, row.n_failed)]
    named = f"{row.metric} {arrow(metric)}"
    mean = figure(row.mean) if threshold is None else against(row.mean, threshold)
    return [named, mean, interval(row), *counted, *yardstick_cells(row), asked]
