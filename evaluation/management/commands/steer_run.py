"""``assay steer_run``: pause, resume, cancel, retry or score runs again, for workers to do."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluation.models import Run
from evaluation.services.work import steering
from labeling.domain.errors import RuleError
from labeling.management.acting import ActingCommand
from labeling.services import acting
from labeling.words import in_english


class Command(ActingCommand):
    help = (
        "Steer runs that workers carry out: pause, resume, cancel, try again what failed (retry), "
        "score the stored outputs again (rescore), or change how many cases are worked on at a "
        "time (concurrency). Exit status: 0 done, 2 refused."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=sorted(steering.CONTROLS))
        parser.add_argument("runs", type=int, nargs="+", metavar="RUN")
        parser.add_argument(
            "--concurrency", type=int, metavar="N", help="with concurrency: cases at a time"
        )
        parser.add_argument(
            "--budget", type=float, metavar="MONEY", help="with resume: a new budget"
        )
        parser.add_argument("--budget-tokens", type=int, metavar="N", help="the same in tokens")

    def handle(self, **options: Any) -> None:
        values = {
            "concurrency": options["concurrency"],
            "budget_cost": options["budget"],
            "budget_tokens": options["budget_tokens"],
        }
        for number in options["runs"]:
            run = Run.objects.select_related("release__project").filter(pk=number).first()
            if run is None:
                raise CommandError(f"There is no run {number}.", returncode=2)
            try:
                steering.control(run, options["action"], by=acting.person(), **values)
            except RuleError as error:
                raise CommandError(
                    f"Run {number}: {in_english(error.fact)}", returncode=2
                ) from error
            self.stdout.write(f"Run {number}: {options['action']}.")
