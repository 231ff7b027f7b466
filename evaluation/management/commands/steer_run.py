"""``assay steer_run``: what becomes of runs that are there."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from evaluation.management import foreground
from evaluation.management.base import RunCommand, budget_in
from evaluation.models.spec import CarriedSpec
from evaluation.services.launch import carrying
from evaluation.services.work import steering
from labeling.core import acting
from labeling.domain.errors import RuleError
from labeling.gold import gold
from labeling.words import in_english

CARRY = "carry"


class Command(RunCommand):
    help = (
        "Steer runs that workers carry out: pause, resume, cancel, try again what failed (retry), "
        "score the stored outputs again (rescore), or change how many cases are worked on at a "
        "time (concurrency). Or carry the stored outputs of finished runs over to another release "
        "of the same gold, and score them there in the foreground: no pipeline runs, and cases "
        "that the release asks otherwise are left out and named. Exit status: 0 done, 2 refused."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("action", choices=sorted([*steering.CONTROLS, CARRY]))
        parser.add_argument("runs", type=int, nargs="+", metavar="RUN")
        parser.add_argument(
            "--concurrency", type=int, metavar="N", help="with concurrency: cases at a time"
        )
        parser.add_argument(
            "--budget", type=float, metavar="MONEY", help="with resume: a new budget"
        )
        parser.add_argument("--budget-tokens", type=int, metavar="N", help="the same in tokens")
        parser.add_argument(
            "--gold", metavar="RELEASE", help="with carry: where to, name or name@version"
        )
        parser.add_argument("--reason", default="", help="with carry: why test items are looked at")

    def handle(self, **options: Any) -> None:
        if options["action"] == CARRY and not options["gold"]:
            raise self.problem("Say where to: --gold RELEASE.")
        for number in options["runs"]:
            if options["action"] == CARRY:
                self._carry(number, options["gold"], options["reason"])
            else:
                self._steer(number, options)

    def _steer(self, number: int, options: dict[str, Any]) -> None:
        run = self.run_numbered(number)
        values = {"concurrency": options["concurrency"], **budget_in(options)}
        try:
            steering.control(run, options["action"], by=acting.person(), **values)
        except RuleError as error:
            raise self.problem(f"Run {number}: {in_english(error.fact)}") from error
        self.stdout.write(f"Run {number}: {options['action']}.")

    def _carry(self, number: int, address: str, reason: str) -> None:
        carried = carrying.carry(self.run_numbered(number), gold.find(address), reason=reason)
        self.work([carried.pk])
        if problem := foreground.why_not_measurable(foreground.reload(carried.pk)):
            raise self.problem(problem)
        taken = carried.spec.carried or CarriedSpec()
        self.stdout.write(
            f"Run {number} was carried to {carried.release} as run {carried.pk}: {taken.taken} "
            f"outputs, {len(taken.left_out)} cases left out, "
            f"{len(taken.unanswered)} without output."
        )
        for case in taken.left_out:
            self.stdout.write(f"left out: {case}")
