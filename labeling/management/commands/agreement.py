from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.table import Table

from labeling.domain.agreement import Agreement
from labeling.domain.agreement import agreement as compute
from labeling.domain.csv_cells import safe_cell
from labeling.management.arguments import project_named
from labeling.models import Round
from labeling.services import agreement

COLUMNS = ("a", "b", "kappa", "band", "n", "raw", "positive_f1", "ac1", "ci_low", "ci_high")
LONG_COLUMNS = ["item", "unit", "annotator", "label"]


class Command(BaseCommand):
    help = (
        "Agreement of a round (default: the newest), or of any long CSV with the columns "
        "item, unit, annotator, label."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--project", metavar="SLUG")
        source.add_argument("--from-csv", type=Path, metavar="FILE")
        parser.add_argument("--round", type=int, metavar="N", help="default: the newest")
        parser.add_argument("--format", choices=["table", "json", "csv"], default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["from_csv"]:
            result = _of_file(options["from_csv"])
        else:
            result = agreement.of_round(_round(options["project"], options["round"]))
        show = {"table": _table, "json": _json, "csv": _csv}[options["format"]]
        show(result, self.stdout)


def _round(slug: str, number: int | None) -> Round:
    project = project_named(slug)
    wanted = project.rounds.filter(number=number) if number else project.rounds.all()
    found = wanted.order_by("-number").first()
    if found is None:
        raise CommandError(f"{slug} has no round {number or 'yet'}: open one on its page.")
    return found


def _of_file(path: Path) -> Agreement:
    """Any long CSV; the units of an item are told apart by their name."""
    labels: dict[str, dict[str, dict[str, str]]] = {}
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            if missing := set(LONG_COLUMNS) - set(reader.fieldnames or []):
                raise CommandError(f"{path.name}:1: columns missing: {', '.join(sorted(missing))}.")
            for row in reader:
                given = labels.setdefault(row["annotator"], {}).setdefault(row["item"], {})
                if row["unit"] in given:
                    where = f"{path.name}:{reader.line_num}"
                    raise CommandError(f"{where}: {row['annotator']} labels this unit twice.")
                given[row["unit"]] = row["label"]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CommandError(f"{path.name} cannot be read: {error}") from error
    return _compute(path, labels)


def _compute(path: Path, labels: dict[str, dict[str, dict[str, str]]]) -> Agreement:
    """A unit that somebody has not labelled, in an item that they have, is missing."""
    units = _units(labels)
    ratings = {
        annotator: {
            item: [_label(given.get(unit)) for unit in units[item]] for item, given in items.items()
        }
        for annotator, items in labels.items()
    }
    if not ratings:
        raise CommandError(f"{path.name} holds no labels.")
    return compute(ratings)


def _units(labels: dict[str, dict[str, dict[str, str]]]) -> dict[str, list[str]]:
    found: dict[str, set[str]] = {}
    for items in labels.values():
        for item, given in items.items():
            found.setdefault(item, set()).update(given)
    return {item: sorted(units) for item, units in found.items()}


def _label(text: str | None) -> int | str | None:
    return int(text) if text in ("0", "1") else text


def _json(result: Agreement, out: Any) -> None:
    out.write(json.dumps(result.as_json(), indent=2, ensure_ascii=False))


def _csv(result: Agreement, out: Any) -> None:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*COLUMNS, "undefined"])
    for pair in result.as_json()["pairs"]:
        writer.writerow([safe_cell(pair[name]) for name in (*COLUMNS, "undefined")])


def _table(result: Agreement, out: Any) -> None:
    console = Console(file=out, width=110 if not sys.stdout.isatty() else None)
    table = Table(*COLUMNS)
    for pair in result.as_json()["pairs"]:
        table.add_row(*[_shown(pair[name]) for name in COLUMNS])
    console.print(table)
    for pair in result.pairs:
        if pair.undefined:
            console.print(f"{pair.a} and {pair.b}: no κ, {pair.undefined}")
    verdict = "passed" if result.passed else "not passed"
    console.print(
        f"{result.statistic} κ {_shown(result.value)}, "
        f"more than {result.threshold} needed: {verdict}. "
        f"Fleiss' κ {_shown(result.fleiss_kappa)}, "
        f"Krippendorff's α {_shown(result.krippendorff_alpha)}"
    )


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
