"""What the command line shows of runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rich.table import Table

from evaluation.layers import gold_layer
from evaluation.metrics.registry import METRICS
from evaluation.models import Aggregate, Run
from evaluation.services import looks
from evaluation.services.language_models import bills, budgets
from evaluation.services.launch.batches import Asked
from evaluation.services.run import results
from evaluation.templatetags.present import COLUMNS, Group, against, arrow, bound, figure_table
from labeling.words import in_english

WORTH = ("n", "n_undefined", "n_failed", "floors", "people", "skill")
FIGURES = ("mean", "median", "std", "interval", "chance", "over_chance", *WORTH)
BATCH = ("mean", "interval", *WORTH)


def summary_tables(run: Run) -> Iterator[Table]:
    """The figures of a run and, where any were measured, its diagnostics in a separate table."""
    counts: Any = run
    figures, diagnostics = results.apart(gold_layer(run.spec.layer), results.aggregates_of(run))
    title = f"Run {run.pk}: {run.pipeline} on {run.release}, {counts.n_cases} cases"
    yield _table(title, figures)
    if diagnostics:
        yield _table(f"Diagnostics of run {run.pk}: not a goal in themselves", diagnostics)


def _table(title: str, rows: list[Aggregate]) -> Table:
    shown = figure_table([Group("", rows)], FIGURES)
    table = Table(title=title)
    table.add_column("metric", no_wrap=True)
    for name in shown.heads:
        table.add_column(name, justify="right")
    for row, cells in shown.groups[0][1]:
        table.add_row(_named(row), *(cell.text for cell in cells))
    return table


def _named(row: Aggregate) -> str:
    metric = METRICS[row.metric]
    averaged = " micro" if metric.scope == "micro" else ""
    return f"{row.metric} {arrow(metric)}{averaged}"


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
    sentence = (
        f"Look {look['number']} of {look['looks']} at the test items of {run.release}; "
        f"items seen: {look['n_items']}."
    )
    return [f"{sentence} Why: {run.reason}" if run.reason else sentence]


def usage_line(run: Run) -> str:
    usage = bills.usage_line(budgets.spent(run.pk))
    return f"Model {run.spec.model_label}: {usage}."


def batch_table(launched: Iterable[tuple[Asked, Run]]) -> Table:
    """Every run of a configuration file with the metrics that it wants to see."""
    table = Table(title="Summary")
    table.add_column("run", overflow="fold")
    table.add_column("metric", no_wrap=True)
    for name in BATCH:
        table.add_column(str(COLUMNS[name].title), justify="right")
    table.add_column("threshold", justify="right")
    for each, run in launched:
        table.add_section()
        rows = {row.metric: row for row in results.aggregates_of(run)}
        limits = run.spec.thresholds
        for name in dict.fromkeys([*each.shown, *limits]):
            if name in rows:
                cells = [COLUMNS[column].cell(rows[name]).text for column in BATCH]
                asked = ""
                if (limit := limits.get(name)) is not None:
                    cells[0] = against(rows[name].mean, limit)
                    asked = f"{bound(METRICS[name])} {limit:g}"
                named = f"{run.pk}: {each.agent} on {each.dataset}"
                table.add_row(named, _named(rows[name]), *cells, asked)
    return table
