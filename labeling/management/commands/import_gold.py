from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import CommandError, CommandParser

from labeling.core import acting
from labeling.exchange import correction_files, gold_files
from labeling.gold import gold
from labeling.management.base import AssayCommand
from labeling.management.fault_tables import print_faults, project_message
from labeling.management.waivers import add_waivers, waiver_line, waivers_in
from labeling.schema import LAYERS
from labeling.schema.targets import END_TO_END
from labeling.words import in_english

ITEMS = "items.jsonl"
LAYERS_TO_IMPORT = [*LAYERS, END_TO_END]


class Command(AssayCommand):
    help = (
        "Freeze labels that were made elsewhere as a gold release: all of the files or none. Its "
        "provenance names the files; the same files again change nothing. The folder of a native "
        "export is taken over item by item, as it is."
    )

    nothing_stored = "; nothing was stored"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", metavar="FILE|FOLDER", nargs="+", type=Path)
        parser.add_argument("--project", metavar="SLUG")
        parser.add_argument("--layer", choices=LAYERS_TO_IMPORT)
        parser.add_argument(
            "--gold",
            metavar="RELEASE",
            help="freeze the next version of this release with the corrections of the one file, "
            "which names messages by their published ids and holds no text: all of them or none",
        )
        parser.add_argument(
            "--format",
            default="auto",
            choices=gold_files.GOLD_FORMATS,
            help="cases: a JSON list of questions or arcs; native: lines as export_gold writes "
            "them; duee: event lines (default: seen from the file)",
        )
        parser.add_argument(
            "--conversation",
            default="",
            metavar="ID",
            help="what a file of cases is about (default: by the names in the file's name)",
        )
        parser.add_argument("--name", default="", help="default: the project's slug and the layer")
        parser.add_argument("--message", default="", metavar="TEXT", help="what is new in it")
        add_waivers(parser)
        parser.add_argument(
            "--dry-run", action="store_true", help="Check and report, and store nothing."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["gold"]:
            self._correct(options["files"], options["gold"])
            return
        if not options["project"] or not options["layer"]:
            raise CommandError("Name --project and --layer; of a file of corrections, --gold.")
        gc.freeze()  # the collector looks at what comes in only
        outcome = self._import(options)
        print_faults(outcome.counts, outcome.faults, out=self.stdout)
        if outcome.project_created:
            self.stdout.write(project_message(options["project"], dry_run=options["dry_run"]))
        if outcome.new:
            self.stdout.write(f"{outcome.new} new conversations")
        for note in outcome.notes:
            self.stdout.write(f"  {in_english(note)}")
        release = outcome.release
        self.stdout.write(
            f"{release}, sha256 {release.sha256}"
            if release
            else "Nothing is new: the newest release holds exactly this already."
        )
        for waiver in release.waivers if release else []:
            self.stdout.write(waiver_line(waiver))
        if options["dry_run"]:
            self.stdout.write("Dry run: nothing was stored.")

    def _import(self, options: dict[str, Any]) -> gold_files.GoldOutcome:
        arguments = {key: options[key] for key in ("layer", "format", "name", "message", "dry_run")}
        return gold_files.import_gold(
            project_slug=options["project"],
            files=_opened(options["files"]),
            exports=_exports(options["files"]),
            conversation=options["conversation"],
            waive=waivers_in(options["waive"]),
            actor=acting.chosen(),
            **arguments,
        )

    def _correct(self, files: list[Path], release: str) -> None:
        if len(files) != 1:
            raise CommandError("Give one file of corrections.")
        frozen = correction_files.apply(files[0], gold.find(release), by=acting.person())
        self.stdout.write(f"{frozen}, sha256 {frozen.sha256}")


def _opened(paths: list[Path]) -> Iterator[tuple[str, BinaryIO]]:
    for path in paths:
        with (path / ITEMS if path.is_dir() else path).open("rb") as file:
            yield _name(path), file


def _exports(paths: list[Path]) -> dict[str, Path]:
    return {_name(folder): folder for folder in paths if folder.is_dir()}


def _name(path: Path) -> str:
    return f"{path.resolve().name}/{ITEMS}" if path.is_dir() else path.name
