from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from labeling.exchange import export
from labeling.gold import gold
from labeling.gold.looks import Sight
from labeling.management import looks
from labeling.management.base import AssayCommand
from labeling.models import Look


class Command(AssayCommand):
    help = (
        "Write a gold release as files: natively as items.jsonl with what "
        "proves it, or for other tools."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("release", metavar="RELEASE", help="name or name@version")
        parser.add_argument("--format", default="native", choices=export.FORMATS)
        parser.add_argument("--output", required=True, type=Path, metavar="DIR")
        parser.add_argument(
            "--license",
            default="",
            metavar="TEXT",
            help="what the card of huggingface says about the licence",
        )
        looks.add_reason(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        release = gold.find(options["release"])
        looks.state([release], Sight(Look.Purpose.EXPORT), options["reason"], self.stderr)
        try:
            written = export.export(
                release,
                format=options["format"],
                folder=options["output"],
                license=options["license"],
            )
        except OSError as error:
            raise CommandError(str(error)) from error
        for path in written:
            self.stdout.write(str(path))
