"""``assay suspects``: where may gold be wrong, by what a run says with confidence?"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError
from rich.console import Console
from rich.table import Table

from evaluation.management.looks import state_results
from evaluation.models import Run
from evaluation.services.run.suspects import Suspect, suspects_of
from labeling.domain.errors import RuleError
from labeling.management.acting import ActingCommand
from labeling.management.looks import add_reason
from labeling.models import Dispute
from labeling.services import acting
from labeling.services.gold import disputes
from labeling.words import in_english

KINDS = ("beside", "mistyped", "contradicted", "missing")


class Command(ActingCommand):
    refused = 2
    help = (
        "List the labels of gold that a finished run contradicts with confidence, or misses by a "
        "few messages, the likeliest first. With --open, disputes are opened about the first N "
        "that have none, with what the run returned as the proposal."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", type=int, metavar="RUN")
        parser.add_argument("--kind", choices=KINDS, action="append", help="only this kind")
        parser.add_argument("--open", type=int, metavar="N", help="open disputes about the first N")
        parser.add_argument("--format", choices=["table", "json"], default="table")
        add_reason(parser)

    def handle(self, **options: Any) -> None:
        run = Run.objects.select_related("release__project").filter(pk=options["run"]).first()
        if run is None:
            raise CommandError(f"There is no run {options['run']}.", returncode=2)
        state_results([run], options["reason"], self.stderr)
        try:
            everything = suspects_of(run)
        except RuleError as error:
            raise CommandError(in_english(error.fact), returncode=2) from error
        chosen = [each for each in everything if each.kind in (options["kind"] or KINDS)]
        if options["open"] is not None:
            self._open(run, chosen, options["open"])
        elif options["format"] == "json":
            rows = [each._asdict() | {"why": in_english(each.why)} for each in chosen]
            self.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False))
        else:
            self.stdout.write(_table(run, chosen))

    def _open(self, run: Run, suspects: Sequence[Suspect], number: int) -> None:
        user = acting.chosen()
        if user is None:
            raise CommandError("Name the person who opens them: --as USER", returncode=2)
        wanted = [each for each in suspects if each.dispute is None and each.proposal]
        opened = 0
        for suspect in wanted[:number]:
            try:
                disputes.open_dispute(
                    item=run.release.items.get(pk=suspect.item),
                    layer=suspect.layer,
                    uid=suspect.uid,
                    proposal=suspect.proposal,
                    reason=in_english(suspect.why),
                    by=user,
                    origin=Dispute.Origin.SUSPECT,
                    source={"run": run.pk, "case": suspect.case, "suspect": suspect.kind},
                )
            except RuleError as error:
                self.stderr.write(f"{suspect.case_id}: {in_english(error.fact)}")
            else:
                opened += 1
        self.stdout.write(f"{opened} disputes opened.")


def _table(run: Run, suspects: Sequence[Suspect]) -> str:
    table = Table(title=f"Suspects of run {run.pk} on {run.release}")
    for name in ("case", "kind", "why", "weight", "dispute"):
        table.add_column(name, justify="right" if name == "weight" else "left")
    for each in suspects:
        opened = str(each.dispute or "")
        table.add_row(each.case_id, each.kind, in_english(each.why), f"{each.weight:.3f}", opened)
    console = Console(width=140, no_color=True)
    with console.capture() as captured:
        console.print(table)
    return captured.get()
