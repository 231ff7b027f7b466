"""``assay gate``: may this run's pipeline be let through?"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from rich.table import Table

from evaluation.management.base import RunCommand
from evaluation.metrics.gate import Check
from evaluation.models import GateResult
from evaluation.services.run import gates
from evaluation.templatetags.present import asked_for, interval, limited, measured, verdict
from labeling.management.looks import add_reason
from labeling.words import in_english

FAILED = 1
STRICT = {
    False: "Strict mode is off: a drop beyond its limit that is undecided passes (see --strict).",
    True: "Strict mode is on: a drop beyond its limit that is undecided fails.",
}


class Command(RunCommand):
    help = (
        "Compare a run with its thresholds and, if a baseline is named, with an earlier run on the "
        "same gold. Exit status: 0 passed, 1 failed, 2 the run could not finish or nothing can be "
        "said."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", type=int, metavar="RUN")
        parser.add_argument(
            "--baseline", type=int, metavar="RUN", help="an earlier run: fails if RUN is worse"
        )
        parser.add_argument(
            "--strict",
            action="store_true",
            help="a drop beyond its limit fails also where it is undecided",
        )
        parser.add_argument("--format", choices=["text", "json"], default="text")
        add_reason(parser)

    def handle(self, **options: Any) -> None:
        run, earlier = self.run_numbered(options["run"]), options["baseline"]
        baseline = self.run_numbered(earlier) if earlier else None
        self.state_results([run, *([baseline] if baseline else [])], options["reason"])
        result = gates.ask(run, baseline=baseline, strict=options["strict"])
        if options["format"] == "json":
            self.stdout.write(json.dumps(gates.as_json(result), indent=2, allow_nan=False))
        else:
            self.print(_table(result))
            if result.baseline_id:
                self.print(STRICT[gates.is_strict(result)])
        if not result.passed:
            named = sorted({check.metric for check in gates.failed(result)})
            raise CommandError(
                f"Run {result.run_id} failed the gate: {', '.join(named)}.", returncode=FAILED
            )


def _table(result: GateResult) -> Table:
    against = f" against run {result.baseline_id}" if result.baseline_id else ""
    said = "passed" if result.passed else "failed"
    table = Table(title=f"Gate of run {result.run_id}{against}: {said}")
    for name in ("metric", "what", "value", "limit", "verdict", "result", "why"):
        is_number = name in ("value", "limit")
        table.add_column(name, justify="right" if is_number else "left", no_wrap=name == "metric")
    for check in gates.checks_of(result):
        ends = "" if check.ci_low is None else f" [{interval(check)}]"
        table.add_row(
            check.metric,
            asked_for(check),
            f"{measured(check)}{ends}",
            limited(check),
            verdict(check.verdict),
            "passed" if check.passed else "failed",
            _why(check),
        )
    return table


def _why(check: Check) -> str:
    why = in_english(check.reason) if check.reason else ""
    if check.chance is None:
        return why
    passes = f"the true figure passes with a chance of {check.chance:.0%}"
    return f"{why}; {passes}" if why else passes
