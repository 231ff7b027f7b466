from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from labeling.domain.errors import RuleError
from labeling.management import looks
from labeling.management.acting import ActingCommand
from labeling.management.arguments import release_named
from labeling.models import GoldRelease, Look
from labeling.services.exchange import building, export, native_files
from labeling.services.gold.looks import TEST, Sight
from labeling.words import in_english


class Command(ActingCommand):
    help = (
        "Write a gold release as files: natively as items.jsonl, manifest.json and guidelines.md, "
        "or for other tools."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("release", metavar="RELEASE", help="name or name@version")
        ours = ", ".join(export.FORMATS)
        parser.add_argument(
            "--format",
            default="native",
            metavar="FORMAT",
            help=f"{ours}, or one of an installed package (default: native)",
        )
        parser.add_argument(
            "--output", required=True, type=Path, metavar="DIR", help="with --item, a file"
        )
        parser.add_argument(
            "--item",
            default="",
            metavar="ID",
            help="instead of the release, one item with its proof, for verify_gold --proof",
        )
        parser.add_argument(
            "--license",
            default="",
            metavar="TEXT",
            help="what the metadata of huggingface and croissant say about the licence",
        )
        looks.add_reason(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        release = release_named(options["release"])
        others = release.items.filter(item_id=options["item"]).exclude(split=TEST)
        if not (options["item"] and others.exists()):
            looks.state([release], Sight(Look.Purpose.EXPORT), options["reason"], self.stderr)
        try:
            written = self._write(release, options)
        except RuleError as error:
            raise CommandError(in_english(error.fact)) from error
        except OSError as error:
            raise CommandError(str(error)) from error
        for path in written:
            self.stdout.write(str(path))

    def _write(self, release: GoldRelease, options: dict[str, Any]) -> list[Path]:
        output: Path = options["output"]
        if not options["item"]:
            return export.export(
                release, format=options["format"], folder=output, license=options["license"]
            )
        item = release.items.filter(item_id=options["item"]).first()
        if item is None:
            raise CommandError(f"{release} has no item “{options['item']}”.")
        with building.whole(output) as file:
            file.write(native_files.proof_text(item))
        return [output]
