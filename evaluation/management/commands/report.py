"""``assay report``: what a run says and does not say, as a file for people or programs."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from evaluation.management.base import RunCommand
from evaluation.report.cases import MOST_CASES
from evaluation.report.content import CASES, Report
from evaluation.report.reading import FORMS, public_address
from labeling.exchange import building
from labeling.management.looks import add_reason


class Command(RunCommand):
    help = (
        "Write a report of a finished run: HTML to read and print, Markdown for a pull request, "
        "JUnit XML for continuous integration, JSON, CSV with a line for each case, or what the "
        "run returned as a file of predictions, which evaluate reads. Exit "
        "status: 0 written, 2 the run has no figures or cannot be compared."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", type=int, metavar="RUN")
        parser.add_argument("--format", choices=list(FORMS), default="html")
        parser.add_argument(
            "--output", type=Path, metavar="FILE", help="write it here (default: print it)"
        )
        parser.add_argument(
            "--baseline",
            type=int,
            metavar="RUN",
            help="the run to compare with (default: the chosen one, else the "
            "finished run before it on the same cases)",
        )
        parser.add_argument(
            "--cases",
            type=int,
            default=CASES,
            metavar="N",
            help=f"worst cases to show, at most {MOST_CASES} (default: {CASES})",
        )
        parser.add_argument(
            "--repetition",
            type=int,
            default=1,
            metavar="N",
            help="of the predictions, where a run was repeated (default: 1)",
        )
        add_reason(parser)

    def handle(self, **options: Any) -> None:
        run, other = self.run_numbered(options["run"]), options["baseline"]
        baseline = None if other is None else self.run_numbered(other)
        if baseline is None:
            self.state_results([run], options["reason"])
        else:
            self.state_comparison([baseline, run], options["reason"])
        report = Report(run, None, baseline, options["cases"], options["repetition"])
        text = FORMS[options["format"]].text(report, public_address(run))
        if options["output"] is None:
            for piece in text:
                self.stdout.write(piece, ending="")
            return
        with building.whole(options["output"]) as file:
            file.writelines(text)
        self.stderr.write(f"Written: {options['output']}")
