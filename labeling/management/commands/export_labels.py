from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from labeling.exchange import label_exports
from labeling.gold.looks import Sight, test_sets
from labeling.management import looks
from labeling.management.base import AssayCommand
from labeling.models import Look
from labeling.schema import json_schema, yaml_schema


def _json_schema() -> str:
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


SCHEMAS = {"json": _json_schema, "yaml": yaml_schema}


class Command(AssayCommand):
    help = (
        "Write everybody's submitted and skipped answers, and what was decided about them, into "
        "an empty folder. What is in an open calibration round is left out."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", metavar="SLUG")
        parser.add_argument("--output", type=Path, metavar="DIR")
        parser.add_argument(
            "--schema",
            nargs="?",
            choices=sorted(SCHEMAS),
            const="yaml",
            help="only print the schema of labels: as labeling-schema.yaml, or as JSON Schema",
        )
        looks.add_reason(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["schema"]:
            self.stdout.write(SCHEMAS[options["schema"]](), ending="")
            return
        if not options["project"] or not options["output"]:
            raise CommandError("Name --project and --output, or ask for the --schema.")
        project = self.project_named(options["project"])
        tested = test_sets(project)
        looks.state(tested, Sight(Look.Purpose.EXPORT), options["reason"], self.stderr)
        try:
            written = label_exports.export_labels(project, folder=options["output"])
        except OSError as error:
            raise CommandError(str(error)) from error
        for path in written:
            self.stdout.write(str(path))
