from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError, CommandParser

from labeling.domain.gold.meaning import LEVELS
from labeling.domain.gold.statement import SettledAnew, parsed
from labeling.domain.schema import DEFAULT_LAYER
from labeling.management import refusals
from labeling.management.acting import ActingCommand
from labeling.management.arguments import add_waivers, project_named, waivers_in
from labeling.management.lint_lines import waiver_line
from labeling.models import Project
from labeling.services import acting, processing
from labeling.services.gold import gold
from labeling.services.vectors import ruler
from labeling.words import in_english, words_of


class Command(ActingCommand):
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
        parser.add_argument(
            "--at-least",
            default="patch",
            choices=LEVELS,
            help="raise the version by meaning at least so far (default: as it follows from what "
            "has changed)",
        )
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="Say which version it would be and why, and freeze nothing.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_named(options["project"])
        with refusals.said_on(self.stderr):
            if options["dry_run"]:
                self._propose(project, options["layer"], options["name"])
                return
            release = gold.freeze(
                project=project,
                layer=options["layer"],
                ruler=ruler(),
                name=options["name"],
                by=acting.person(),
                message=options["message"],
                with_synthetic=options["with_synthetic"],
                at_least=options["at_least"],
                waive=waivers_in(options["waive"]),
            )
        n_items = release.items.count()
        self.stdout.write(f"{release}, {release.meaning}: {n_items} items, sha256 {release.sha256}")
        synthetic = release.items.filter(conversation__origin="synthetic").count()
        if synthetic:
            self.stdout.write(f"{synthetic} of its conversations are synthetic.")
        for waiver in release.waivers:
            self.stdout.write(waiver_line(waiver))
        for override in release.overrides:
            self.stdout.write(f"Gate overridden in round {override['round']}: {override['reason']}")
        self._settled_anew(parsed(release.header).get("settled_anew", []))
        for row in release.left_out:
            self.stdout.write(f"left out {row['conversation']}: {words_of(row['reason'])}")

    def _propose(self, project: Project, layer: str, name: str) -> None:
        processing.catch_up(project, ruler=ruler, measure=[])
        preview = gold.proposed(project, layer, name)
        if preview is None:
            raise CommandError("Answers have just come in: try again.")
        proposal = preview.proposal
        reasons = "; ".join(in_english(reason) for reason in proposal.reasons)
        self.stdout.write(f"It would be version {proposal.meaning}: {reasons}.")
        self._settled_anew(preview.settled_anew)

    def _settled_anew(self, rows: Sequence[SettledAnew]) -> None:
        for row in rows:
            fields = f" ({', '.join(row['fields'])})" if row["fields"] else ""
            now = row["after"] or "disputed, left out"
            self.stdout.write(f"settled differently {row['item']}: {row['before']} → {now}{fields}")
