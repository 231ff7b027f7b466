"""``assay experiments``: every finished run with what was changed and what it gave."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from functools import partial
from typing import Any

from evaluation.management.looks import state_results
from evaluation.models import Run
from evaluation.services import looks
from evaluation.services.run import experiments
from labeling.management.acting import ActingCommand
from labeling.management.looks import add_reason


class Command(ActingCommand):
    help = "The log of experiments as CSV or JSON; figures of a split that was not run are empty."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--gold", metavar="NAME", help="only runs on gold of this name")
        parser.add_argument("--format", choices=["csv", "json"], default="csv")
        add_reason(parser, without="figures of test items stay empty")

    def handle(self, **options: Any) -> None:
        runs = Run.objects.all()
        if options["gold"]:
            runs = runs.filter(release__name=options["gold"])
        if options["reason"]:
            state_results(
                list(runs.filter(scored_at__isnull=False).select_related("release__project")),
                options["reason"],
                self.stderr,
            )
            rows = experiments.rows(runs)
        else:
            rows = experiments.rows(runs, sealed=partial(looks.sealed_among, None))
        if options["format"] == "json":
            self.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False, allow_nan=False))
        else:
            self.stdout.write("".join(experiments.csv_lines(rows)), ending="")
