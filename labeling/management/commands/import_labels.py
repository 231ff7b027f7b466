from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import CommandParser

from labeling.conversations.formats.answers import Unnamed
from labeling.exchange import label_imports
from labeling.management.base import AssayCommand
from labeling.words import in_english


class Command(AssayCommand):
    help = (
        "Store answers of several annotators from files, and what was decided about them. What is "
        "stored already is left alone. If anything cannot be taken, nothing is stored, and each "
        "fault is named with its line."
    )

    nothing_stored = "; nothing was stored"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--format", default="native", choices=list(label_imports.READERS))
        parser.add_argument(
            "--create-annotators",
            action="store_true",
            help="make inactive accounts for people who are not in the project",
        )
        parser.add_argument(
            "--reason",
            default="",
            metavar="TEXT",
            help="why the labels count although no calibration round has passed",
        )
        parser.add_argument(
            "--conversation",
            default="",
            metavar="ID",
            help="of samples: what they are about, if they do not say it (default: the name of "
            "the file)",
        )
        parser.add_argument(
            "--annotator",
            default="",
            metavar="NAME",
            help="of samples: who labeled them, if they do not say it",
        )
        parser.add_argument("--dry-run", action="store_true", help="check and report only")

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project_named(options["project"])
        with ExitStack() as stack:
            report = label_imports.import_labels(
                project=project,
                files=_opened(options["files"], stack),
                format=options["format"],
                dry_run=options["dry_run"],
                create_annotators=options["create_annotators"],
                reason=options["reason"],
                unnamed=Unnamed(options["conversation"], options["annotator"]),
            )
        self._say(report, dry_run=options["dry_run"])

    def _say(self, report: label_imports.LabelReport, *, dry_run: bool) -> None:
        self.stdout.write(
            f"{report.read} answers read, {report.new} new ({report.empty} empty, "
            f"{report.skipped} skipped), {report.unchanged} unchanged"
        )
        if report.decisions:
            self.stdout.write(f"Decisions about them: {report.decisions} new.")
        if report.older:
            self.stdout.write(f"Left out: {report.older} decisions older than those made here.")
        if report.new:
            self.stdout.write(f"By {', '.join(report.annotators)}.")
        if report.created:
            self.stdout.write(f"New inactive accounts: {', '.join(report.created)}.")
        for loss in report.losses:
            self.stdout.write(f"  {in_english(loss)}")
        if dry_run and report.needs_reason:
            self.stdout.write("No calibration round has passed: --reason will be needed.")
        if dry_run:
            self.stdout.write("Dry run: nothing was stored.")
        elif report.rounds:
            self.stdout.write(f"Stored as round {', '.join(map(str, report.rounds))}.")


def _opened(paths: list[Path], stack: ExitStack) -> Iterator[tuple[str, BinaryIO]]:
    for path in paths:
        yield path.name, stack.enter_context(path.open("rb"))
