"""``assay compare``: are these runs better than a baseline?"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from evaluation.management.base import RunCommand
from evaluation.services.run import conclusions
from evaluation.services.run.changes import value_text
from evaluation.services.run.comparisons import Compared, MetricComparison, compare_with
from evaluation.services.run.primary_metrics import sentences
from evaluation.templatetags.present import (
    arrow,
    figure,
    p_value,
    signed,
    signed_interval,
    verdict,
)
from labeling.management.looks import add_reason

FIGURES: dict[str, Callable[[MetricComparison], str]] = {
    "baseline": lambda row: figure(row.comparison.before),
    "run": lambda row: figure(row.comparison.after),
    "difference": lambda row: signed(row.comparison.difference),
    "interval": lambda row: signed_interval(row.comparison),
    "p": lambda row: p_value(row.comparison.p_value),
    "p corrected": lambda row: p_value(row.corrected_p),
    "won/lost/tied": lambda row: (
        f"{row.comparison.wins}/{row.comparison.losses}/{row.comparison.ties}"
    ),
    "n": lambda row: f"{row.comparison.n:,}",
    "undefined": lambda row: f"{row.comparison.n_undefined:,}",
    "conversations": lambda row: f"{row.comparison.conversations:,}",
}


class Command(RunCommand):
    help = (
        "Compare finished runs with a baseline on the same gold, case by case: the verdict in a "
        "sentence, and of every metric difference, interval, p value (of the main metrics, "
        "corrected for their number), wins and losses, cases and conversations."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("baseline", type=int, metavar="BASELINE")
        parser.add_argument("runs", type=int, nargs="+", metavar="RUN", help="up to five runs")
        parser.add_argument("--format", choices=["table", "json"], default="table")
        add_reason(parser)

    def handle(self, **options: Any) -> None:
        baseline, *runs = (
            self.run_numbered(number) for number in [options["baseline"], *options["runs"]]
        )
        self.state_comparison([baseline, *runs], options["reason"])
        compared = compare_with(baseline, runs)
        if options["format"] == "json":
            document = conclusions.document(baseline, compared)
            self.stdout.write(
                json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False, default=asdict)
            )
        else:
            for comparison in compared:
                self.print(*_tables(comparison))
                self.print(*map(Text, _sentences(comparison)), soft_wrap=True)


def _sentences(comparison: Compared) -> Iterator[str]:
    yield conclusions.whole_sentence(comparison)
    for name, (old, new) in comparison.changed.items():
        yield f"{name}: {value_text(old)} → {value_text(new)}"
    yield from _notes(comparison)


def _tables(comparison: Compared) -> Iterator[Table]:
    """Diagnostics, where any were measured, in a separate table."""
    before, after = comparison.before, comparison.after
    title = f"Run {after.pk} ({after.pipeline}) against {before.pk} ({before.pipeline}) "
    title += f"on {after.release}, {comparison.shared:,} cases"
    yield _table(title, [row for row in comparison.rows if not row.metric.diagnostic])
    measured = [row for row in comparison.rows if row.metric.diagnostic and row.comparison.n]
    if measured:
        yield _table("Diagnostics: not a goal in themselves", measured)


def _table(title: str, rows: Iterable[MetricComparison]) -> Table:
    table = Table(title=title)
    table.add_column("metric")
    for name in FIGURES:
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for row in rows:
        named = f"{row.metric.id} {arrow(row.metric)}"
        table.add_row(named, *(cell(row) for cell in FIGURES.values()), verdict(row.verdict))
    return table


def _notes(comparison: Compared) -> Iterator[str]:
    yield from sentences(comparison.declared, comparison.declared_after)
    if comparison.judges_differ:
        yield (
            f"The judges differ for {', '.join(comparison.judges_differ)}: a difference may be "
            "that of the judges."
        )
    if comparison.only_before or comparison.only_after:
        yield (
            f"Not compared: {comparison.only_before} cases only in run {comparison.before.pk}, "
            f"{comparison.only_after} only in run {comparison.after.pk}."
        )
