"""``assay carry_run``: score the outputs of a run on another version of its gold."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluation.management.foreground import kept, progress_bar, why_not_measurable, work_until_done
from evaluation.management.foreground import reload as reload_run
from evaluation.models import Run
from evaluation.models.spec import CarriedSpec
from evaluation.services.launch import carrying
from labeling.domain.errors import RuleError
from labeling.management.acting import ActingCommand
from labeling.services.gold import gold
from labeling.words import in_english


class Command(ActingCommand):
    help = (
        "Take the stored outputs of finished runs over to another release of the same gold, and "
        "score them there in the foreground. No pipeline runs and no language model is asked; "
        "cases that the release asks otherwise are left out and named."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("runs", type=int, nargs="+", metavar="RUN")
        parser.add_argument("--gold", required=True, metavar="RELEASE", help="name or name@version")
        parser.add_argument("--reason", default="", help="why test items are looked at")

    def handle(self, **options: Any) -> None:
        for number in options["runs"]:
            self._carry(number, options["gold"], options["reason"])

    def _carry(self, number: int, address: str, reason: str) -> None:
        run = Run.objects.select_related("release__project").filter(pk=number).first()
        if run is None:
            raise CommandError(f"There is no run {number}.", returncode=2)
        try:
            carried = carrying.carry(run, gold.find(address), reason=reason)
        except RuleError as error:
            raise CommandError(in_english(error.fact), returncode=2) from error
        with kept([carried.pk]), progress_bar(carried.pk) as show:
            work_until_done(carried.pk, show)
        if problem := why_not_measurable(reload_run(carried.pk)):
            raise CommandError(problem, returncode=2)
        taken = carried.spec.carried or CarriedSpec()
        self.stdout.write(
            f"Run {number} was carried to {carried.release} as run {carried.pk}: {taken.taken} "
            f"outputs, {len(taken.left_out)} cases left out, "
            f"{len(taken.unanswered)} without output."
        )
        for case in taken.left_out:
            self.stdout.write(f"left out: {case}")
