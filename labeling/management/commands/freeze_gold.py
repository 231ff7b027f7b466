from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from labeling.agreement.vectors import ruler
from labeling.core import acting
from labeling.gold import gold
from labeling.management.base import AssayCommand
from labeling.management.waivers import add_waivers, waiver_line, waivers_in
from labeling.schema import DEFAULT_LAYER
from labeling.words import words_of


class Command(AssayCommand):
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
        add_waivers(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project_named(options["project"])
        release = gold.freeze(
            project=project,
            layer=options["layer"],
            ruler=ruler(),
            name=options["name"],
            by=acting.person(),
            message=options["message"],
            with_synthetic=options["with_synthetic"],
            waive=waivers_in(options["waive"]),
        )
        n_items = release.items.count()
        self.stdout.write(f"{release}: {n_items} items, sha256 {release.sha256}")
        synthetic = release.items.filter(conversation__origin="synthetic").count()
        if synthetic:
            self.stdout.write(f"{synthetic} of its conversations are synthetic.")
        for waiver in release.waivers:
            self.stdout.write(waiver_line(waiver))
        for override in release.overrides:
            self.stdout.write(f"Gate overridden in round {override['round']}: {override['reason']}")
        for row in release.left_out:
            self.stdout.write(f"left out {row['conversation']}: {words_of(row['reason'])}")
