from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from labeling.domain.errors import RuleError
from labeling.management import looks
from labeling.management.acting import ActingCommand
from labeling.management.arguments import project_named
from labeling.models import Look
from labeling.services.exchange import label_exports
from labeling.services.gold.looks import Sight, test_sets
from labeling.words import in_english


class Command(ActingCommand):
    help = (
        "Write everybody's submitted and skipped answers, and natively what was decided about "
        "them, into an empty folder. What is in an open calibration round is left out."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--format", default="native", choices=label_exports.FORMATS)
        parser.add_argument("--output", required=True, type=Path, metavar="DIR")
        looks.add_reason(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_named(options["project"])
        tested = test_sets(project)
        looks.state(tested, Sight(Look.Purpose.EXPORT), options["reason"], self.stderr)
        try:
            written = label_exports.export_labels(
                project, format=options["format"], folder=options["output"]
            )
        except RuleError as error:
            raise CommandError(in_english(error.fact)) from error
        except OSError as error:
            raise CommandError(str(error)) from error
        for path in written:
            self.stdout.write(str(path))
