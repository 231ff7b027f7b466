from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from rich.markup import escape
from rich.table import Table

from labeling.agreement import agreement, measurements
from labeling.agreement.rules import label_tables
from labeling.agreement.rules.agreement import Agreement, read_agreement
from labeling.agreement.rules.kappa import LEVELS
from labeling.agreement.rules.label_tables import LabelTable
from labeling.domain.numbers import decimals_apart
from labeling.management.base import AssayCommand
from labeling.models import Project
from labeling.schema import LAYERS
from labeling.settling import processing
from labeling.words import in_english, worded

COLUMNS = ("a", "b", "kappa", "band", "n", "raw", "positive_f1", "ac1", "ci_low", "ci_high")
VERDICTS = {"passed": "passed", "failed": "not passed", "not_measured": "not measured"}


class Command(AssayCommand):
    acts = False
    help = (
        "Agreement of a round (default: the newest), or of any table with a row per label and "
        "the columns item, unit, annotator, label."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--project", metavar="SLUG")
        source.add_argument("--from-csv", type=Path, metavar="FILE")
        parser.add_argument(
            "--statistic",
            choices=LEVELS,
            help="of a file: how labels that differ are weighed; interval needs numbers "
            "(default: nominal)",
        )
        parser.add_argument("--round", type=int, metavar="N", help="default: the newest")
        parser.add_argument("--layer", choices=list(LAYERS), help="default: the project's first")
        parser.add_argument("--format", choices=["table", "json"], default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        table = None
        other = ("round", "layer") if options["from_csv"] else ("statistic",)
        if unused := next((name for name in other if options[name]), None):
            source = "--from-csv" if options["from_csv"] else "--project"
            raise CommandError(f"--{unused} does not go with {source}.")
        if path := options["from_csv"]:
            table = self._read(path, options["statistic"] or "nominal")
            result = table.measured()
        else:
            result = _of_project(self.project_named(options["project"]), options)
        if options["format"] == "json":
            figures = worded(result.as_json())
            if table:
                notes = [in_english(note) for note in table.notes]
                read = {"statistic": table.level, "missing": table.missing, "notes": notes}
                figures["file"] = read
            self.stdout.write(json.dumps(figures, indent=2, ensure_ascii=False))
            return
        shown = Table(*COLUMNS)
        for pair in result.as_json()["pairs"]:
            shown.add_row(*(_shown(pair[name]) for name in COLUMNS))
        self.print(shown)
        self.print(*map(escape, _explained(result)), soft_wrap=True)
        if table:
            self.stdout.write(f"statistic: {table.level}")
            self.stdout.write("\n".join(map(in_english, table.notes)))

    def _read(self, path: Path, statistic: Any) -> LabelTable:
        try:
            return label_tables.read(path.read_bytes(), statistic)
        except OSError as error:
            raise CommandError(f"{path.name} cannot be read: {error.strerror}.") from error


def _of_project(project: Project, options: dict[str, Any]) -> Agreement:
    from labeling.agreement.vectors import ruler

    number = options["round"]
    wanted = project.rounds.filter(number=number) if number else project.rounds.all()
    measured = wanted.order_by("-number").first()
    if measured is None:
        raise CommandError(f"{project.slug} has no round {number or 'yet'}: open one on its page.")
    if measured.is_blind:
        raise CommandError(f"Round {measured.number} is blind until its last answer is in.")
    layer = options["layer"] or agreement.first_layer(project)
    if layer not in project.layers:
        raise CommandError(f"The project labels {', '.join(project.layers)}.")
    processing.catch_up(project, ruler=ruler, conversations=(), measure=[measured])
    figures = measurements.figures_of(measured, layer)
    assert figures is not None, "this process measured them just now"
    return read_agreement(figures)


def _explained(result: Agreement) -> list[str]:
    lines = [
        f"{pair.a} and {pair.b}: no κ, {in_english(pair.undefined)}"
        for pair in result.pairs
        if pair.undefined
    ]
    lines += [
        f"not counted: {row.conversation}, {row.annotator}: {in_english(row.reason)}"
        for row in result.excluded
    ]
    verdict = VERDICTS[result.outcome]
    if result.value is None and result.outcome == "failed":
        verdict = "undefined, so not passed"
    lines.append(
        f"{result.statistic} {'F1' if result.measure == 'f1' else 'κ'} "
        f"{_shown(result.value, result.threshold)}, "
        f"more than {result.threshold} needed: {verdict}. "
        f"Fleiss' κ {_shown(result.fleiss_kappa)}, "
        f"Krippendorff's α {_shown(result.krippendorff_alpha)}"
    )
    if content := result.content:
        needed = f"at least {content.threshold} needed" if content.threshold else "no threshold"
        why = f" ({in_english(content.reason)})" if content.reason else ""
        said = "passed" if content.passed else "not passed"
        value = _shown(content.value, content.threshold)
        lines.append(f"labels match with F1 {value}, {needed}: {said}{why}")
    return lines


def _shown(value: Any, limit: float | None = None) -> str:
    if value is None:
        return "–"
    digits = 4 if limit is None else decimals_apart(value, limit, 4)
    return f"{value:z.{digits}f}" if isinstance(value, float) else str(value)
