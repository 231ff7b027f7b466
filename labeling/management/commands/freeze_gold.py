from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from labeling.domain.errors import RuleError
from labeling.domain.schema import DEFAULT_LAYER
from labeling.management.arguments import project_named
from labeling.services.gold import gold
from labeling.services.vectors import ruler
from labeling.words import in_english, words_of


class Command(BaseCommand):
    help = "Freeze what is settled as a new gold release, and list what is left out and why."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--layer", default=DEFAULT_LAYER, help="default: %(default)s")
        parser.add_argument("--name", default="", help="default: the project's slug")
        parser.add_argument("--message", default="", metavar="TEXT", help="what is new in it")
        parser.add_argument(
            "--with-synthetic",
            action="store_true",
            help="allow synthetic conversations",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_named(options["project"])
        try:
            release = gold.freeze(
                project=project,
                layer=options["layer"],
                ruler=ruler(),
                name=options["name"],
                message=options["message"],
                with_synthetic=options["with_synthetic"],
            )
        except RuleError as error:
            raise CommandError(in_english(error.fact)) from error
        self.stdout.write(f"{release}: {release.items.count()} items, sha256 {release.sha256}")
        synthetic = release.items.filter(conversation__origin="synthetic").count()
        if synthetic:
            self.stdout.write(f"{synthetic} of its conversations are synthetic.")
        for override in release.overrides:
            self.stdout.write(f"Gate overridden in round {override['round']}: {override['reason']}")
        for row in release.left_out:
            self.stdout.write(f"left out {row['conversation']}: {words_of(row['reason'])}")
