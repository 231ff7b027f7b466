from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from django.core.management.base import CommandError, CommandParser
from rich.console import Console
from rich.table import Table

from labeling.agreement import agreement, measurements
from labeling.agreement.rules import label_tables
from labeling.agreement.rules.agreement import Agreement, ContentAgreement, read_agreement
from labeling.agreement.rules.kappa import LEVELS, Level
from labeling.agreement.rules.label_tables import LabelTable
from labeling.domain.csv_cells import csv_line
from labeling.domain.errors import FileFault
from labeling.domain.numbers import decimals_apart
from labeling.domain.stored import Stored
from labeling.management.base import AssayCommand
from labeling.models import Project, Round
from labeling.schema import LAYERS
from labeling.settling import processing
from labeling.templatetags.figures import chance
from labeling.words import in_english, worded

COLUMNS = ("a", "b", "kappa", "band", "n", "raw", "positive_f1", "ac1", "ci_low", "ci_high")
VERDICTS = {"passed": "passed", "failed": "not passed", "not_measured": "not measured"}
OF_PROJECT = ("round", "layer", "type", "annotator", "guideline", "origin", "records")
"""Options that choose among what the product has stored."""

RECORD_COLUMNS = (
    "a",
    "b",
    "record_f1",
    "micro_f1",
    "matches",
    "a_records",
    "b_records",
    "type_agreement",
    "actor_agreement",
    "priority_agreement",
    "source_overlap",
)


class Records(NamedTuple):
    """The labels of each pair, matched one to one."""

    pairs: list[Stored]

    def as_json(self) -> Mapping[str, list[Stored]]:
        return {"pairs": self.pairs}


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
            help="of a file: how labels that differ are weighed; all but nominal need numbers "
            "(default: what its column “statistic” says, or nominal)",
        )
        parser.add_argument("--round", type=int, metavar="N", help="default: the newest")
        parser.add_argument("--layer", choices=list(LAYERS), help="default: the project's first")
        parser.add_argument("--type", default="", help="only labels of this type")
        parser.add_argument("--annotator", default="", metavar="NAME", help="only their pairs")
        parser.add_argument(
            "--guideline", type=int, metavar="N", help="only answers under version N"
        )
        parser.add_argument(
            "--origin",
            choices=list(agreement.ORIGINS),
            default="",
            help="only labels typed by hand, or taken over from suggestions",
        )
        parser.add_argument(
            "--records", action="store_true", help="match the labels themselves: F1 and fields"
        )
        parser.add_argument("--format", choices=["table", "json", "csv"], default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        table = None
        other = OF_PROJECT if options["from_csv"] else ("statistic",)
        if unused := next((name for name in other if options[name]), None):
            source = "--from-csv" if options["from_csv"] else "--project"
            raise CommandError(f"--{unused} does not go with {source}.")
        if options["from_csv"]:
            table = _of_file(options["from_csv"], options["statistic"])
            result: Agreement | Records = table.measured()
        else:
            result = _of_project(self.project_named(options["project"]), options)
        if options["format"] == "json":
            _json(result, table, self.stdout)
            return
        {"table": _table, "csv": _csv}[options["format"]](result, self.stdout)
        if table:
            (self.stdout if options["format"] == "table" else self.stderr).write(_told(table))


def _of_project(project: Project, options: dict[str, Any]) -> Agreement | Records:
    from labeling.agreement.vectors import ruler

    measured = _round(project, options["round"])
    if measured.is_blind:
        raise CommandError(f"Round {measured.number} is blind until its last answer is in.")
    layer = options["layer"] or agreement.first_layer(measured.project)
    if layer not in measured.project.layers:
        raise CommandError(f"The project labels {', '.join(measured.project.layers)}.")
    if options["records"] and not LAYERS[layer].has_records:
        matched = [name for name, each in LAYERS.items() if each.has_records]
        raise CommandError(f"Labels are matched for {', '.join(matched)} only.")
    chosen = agreement.Selection(
        options["type"], options["annotator"], options["guideline"], options["origin"]
    )
    processing.catch_up(
        measured.project,
        ruler=ruler,
        conversations=(),
        measure=[measured],
        selections=[(layer, chosen)],
    )
    if options["records"]:
        row = measurements.read(measured, layer, chosen)
        return Records(_of_annotator((row and row.records) or [], chosen.annotator))
    figures = measurements.figures_of(measured, layer, chosen)
    assert figures is not None, "this process measured them just now"
    return read_agreement({**figures, "pairs": _of_annotator(figures["pairs"], chosen.annotator)})


def _of_annotator(pairs: Sequence[Any], name: str) -> list[Any]:
    return [pair for pair in pairs if name in ("", pair["a"], pair["b"])]


def _round(project: Project, number: int | None) -> Round:
    wanted = project.rounds.filter(number=number) if number else project.rounds.all()
    round_ = wanted.order_by("-number").first()
    if round_ is None:
        raise CommandError(f"{project.slug} has no round {number or 'yet'}: open one on its page.")
    return round_


def _of_file(path: Path, statistic: Level | None) -> LabelTable:
    try:
        return label_tables.read(path.read_bytes(), statistic)
    except OSError as error:
        raise CommandError(f"{path.name} cannot be read: {error.strerror}.") from error
    except FileFault as fault:
        raise CommandError(f"{path.name}: {in_english(fault.fact)}.") from None


def _told(table: LabelTable) -> str:
    return "\n".join([f"statistic: {table.level}", *map(in_english, table.notes)])


def _columns(result: Agreement | Records) -> tuple[str, ...]:
    return RECORD_COLUMNS if isinstance(result, Records) else COLUMNS


def _json(result: Agreement | Records, table: LabelTable | None, out: Any) -> None:
    figures = worded(result.as_json())
    if table:
        notes = [in_english(note) for note in table.notes]
        figures["file"] = {"statistic": table.level, "missing": table.missing, "notes": notes}
    out.write(json.dumps(figures, indent=2, ensure_ascii=False))


def _csv(result: Agreement | Records, out: Any) -> None:
    out.write(csv_line([*_columns(result), "undefined"]))
    for pair in worded(result.as_json())["pairs"]:
        why = pair["undefined"]
        reasons = "; ".join(why.values()) if isinstance(why, dict) else why
        out.write(csv_line([*_row(result, pair), reasons]))


def _row(result: Agreement | Records, pair: Mapping[str, Any]) -> list[Any]:
    return [pair[name] for name in _columns(result)]


def _table(result: Agreement | Records, out: Any) -> None:
    width = 150 if isinstance(result, Records) else 110
    console = Console(file=out, width=None if sys.stdout.isatty() else width)
    table = Table(*_columns(result))
    for pair in result.as_json()["pairs"]:
        table.add_row(*map(_shown, _row(result, pair)))
    console.print(table)
    if isinstance(result, Agreement):
        _explain(result, console)


def _explain(result: Agreement, console: Console) -> None:
    for pair in result.pairs:
        if pair.undefined:
            console.print(f"{pair.a} and {pair.b}: no κ, {in_english(pair.undefined)}")
    for row in result.excluded:
        why = in_english(row.reason)
        console.print(f"not counted: {row.conversation}, {row.annotator}: {why}")
    verdict = VERDICTS[result.outcome]
    if result.value is None and result.outcome == "failed":
        verdict = "undefined, so not passed"
    value = _shown(result.value, result.threshold)
    console.print(
        f"{result.statistic} {'F1' if result.measure == 'f1' else 'κ'} {value}, "
        f"more than {result.threshold} needed: {verdict}. "
        f"Fleiss' κ {_shown(result.fleiss_kappa)}, "
        f"Krippendorff's α {_shown(result.krippendorff_alpha)}"
    )
    _explain_chances(result, console)
    if result.content:
        _explain_content(result.content, console)
    for origin, figures in result.by_origin.items():
        console.print(
            f"{origin} labels alone: {figures['statistic']} {_shown(figures['value'])}, "
            f"Krippendorff's α {_shown(figures['krippendorff_alpha'])}"
        )


def _explain_chances(result: Agreement, console: Console) -> None:
    if result.chance_above is not None:
        console.print(f"true figure above {result.threshold}: {chance(result.chance_above)}")
    if result.outlook:
        passes = ", ".join(f"{chance(row.passes)} at {row.true:.2f}" for row in result.outlook)
        console.print(f"of rounds of this size would pass, by the true figure: {passes}")


def _explain_content(content: ContentAgreement, console: Console) -> None:
    needed = f"at least {content.threshold} needed" if content.threshold else "no threshold"
    why = f" ({in_english(content.reason)})" if content.reason else ""
    verdict = "passed" if content.passed else "not passed"
    value = _shown(content.value, content.threshold)
    console.print(f"labels match with F1 {value}, {needed}: {verdict}{why}")


def _shown(value: Any, limit: float | None = None) -> str:
    if value is None:
        return "–"
    digits = 4 if limit is None else decimals_apart(value, limit, 4)
    return f"{value:z.{digits}f}" if isinstance(value, float) else str(value)
