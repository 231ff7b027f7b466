from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from labeling.domain.errors import RuleError
from labeling.management.arguments import release_named
from labeling.services.exchange import export
from labeling.words import in_english


class Command(BaseCommand):
    help = (
        "Write a gold release as files: natively as items.jsonl, manifest.json and guidelines.md, "
        "or for other tools."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("release", metavar="RELEASE", help="name or name@version")
        parser.add_argument("--format", default="native", choices=export.FORMATS)
        parser.add_argument("--output", required=True, type=Path, metavar="DIR")
        parser.add_argument(
            "--license",
            default="",
            metavar="TEXT",
            help="what the metadata of huggingface and croissant say about the licence",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        release = release_named(options["release"])
        try:
            written = export.export(
                release,
                format=options["format"],
                folder=options["output"],
                license=options["license"],
            )
        except RuleError as error:
            raise CommandError(in_english(error.fact)) from error
        except OSError as error:
            raise CommandError(str(error)) from error
        for path in written:
            self.stdout.write(str(path))
