"""``assay judge``: score the answers of a run by another judge, without writing them again."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from evaluation.management import foreground, summary
from evaluation.management.base import RunCommand, add_budget, add_prompt, budget_in, read_prompts
from evaluation.models import Judging, Run
from evaluation.services.judging import judgings
from labeling.core import acting
from labeling.management.looks import add_reason
from labeling.words import in_english


class Command(RunCommand):
    help = (
        "Judge the answers of a finished run again, in the foreground: no answer is written again, "
        "and what is known of the same judge comes from the cache. The newest judging counts; the "
        "earlier ones are kept, and count on where no judgment of it can be used. Exit status: 0 "
        "judged, 2 not measurable, or no judgment can be used."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", type=int, metavar="RUN")
        add_prompt(parser, "--prompt")
        add_reason(parser)
        add_budget(parser, "the run may altogether")

    def handle(self, **options: Any) -> None:
        run = self.run_numbered(options["run"])
        self.state_results([run], options["reason"])
        judging = judgings.request(
            run,
            by=acting.person(),
            prompts=read_prompts(options["prompt"]),
            **budget_in(options),
            queue=False,
        )
        self.work([run.pk])
        self._report(foreground.reload(run.pk), judging)

    def _report(self, run: Run, judging: Judging) -> None:
        self.print(*summary.summary_tables(run))
        for line in summary.notes(run):
            self.stdout.write(line)
        self.stdout.write(summary.usage_line(run))
        problem = foreground.why_not_measurable(run)
        if problem:
            raise self.problem(problem)
        unusable = judgings.why_unusable(judging)
        if unusable:
            raise self.problem(in_english(unusable))
