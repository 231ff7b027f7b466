"""``assay suggest``: have a pipeline suggest labels, here and now, with a progress bar."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from typing import Any
from uuid import uuid4

from django.core.management.base import CommandError

from evaluation.management.bars import bar
from evaluation.management.base import RunCommand
from evaluation.services.language_models import bills, budgets
from evaluation.services.launch import suggestions
from labeling.core import acting
from labeling.domain.facts import Fact
from labeling.jobs import runner
from labeling.models import SuggestionRequest
from labeling.schema import LAYERS
from labeling.words import in_english
from labeling.work import suggestion_requests as requests

WAIT_SECONDS = 1.0  # for what a worker holds


class Command(RunCommand):
    help = (
        "Have a pipeline suggest labels for the conversations of full labeling, in the "
        "foreground. Annotators see them after their own first pass. A run that was stopped goes "
        "on when it is called again; what was made is never made twice. Exit status: 0 made, "
        "2 refused, broken off, or failed on every conversation."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--pipeline", required=True, metavar="NAME")
        parser.add_argument(
            "--layer", choices=list(LAYERS), default="", help="default: the first that it makes"
        )
        parser.add_argument(
            "--budget", type=float, metavar="MONEY", help="what language models may cost"
        )
        parser.add_argument(
            "--budget-tokens", type=int, metavar="N", help="tokens that language models may use"
        )

    def handle(self, **options: Any) -> None:
        asked = suggestions.ask(
            self.project_named(options["project"]),
            pipeline=options["pipeline"],
            layer=options["layer"],
            by=acting.person(),
            queue=False,
            budget_cost=options["budget"],
            budget_tokens=options["budget_tokens"],
        )
        self._work(asked)
        self._report(_reload(asked))

    def _work(self, asked: SuggestionRequest) -> None:
        with bar() as shown:
            task = shown.add_task(asked.pipeline, total=None)

            def show() -> None:
                came = requests.progress(_reload(asked))
                shown.update(task, total=came.wanted, completed=came.done + came.failed)

            try:
                _work_until_done(asked, show)
            except KeyboardInterrupt:
                message = "Stopped. Run the same command to continue."
                raise CommandError(message, returncode=130) from None

    def _report(self, asked: SuggestionRequest) -> None:
        if asked.usage:
            usage = bills.usage_line(budgets.spent_in(asked.usage))
            self.stdout.write(f"Language model: {usage}.")
        if asked.failure:
            raise self.problem(in_english(asked.failure))
        came = requests.progress(asked)
        for why in sorted({in_english(Fact.from_json(why)) for why in asked.failures.values()}):
            self.stderr.write(f"No suggestion: {why}")
        self.stdout.write(
            f"{asked.pipeline} {asked.pipeline_version} has suggestions for {came.done} of "
            f"{came.wanted} conversations; {came.failed} failed."
        )
        if came.failed and not came.done:
            raise self.problem("The pipeline failed on every conversation.")


def _work_until_done(asked: SuggestionRequest, show: Any) -> None:
    while True:
        runner.run(suggestions.work, asked.pk, uuid4(), progress=show)
        if _reload(asked).finished_at:
            return
        time.sleep(WAIT_SECONDS)


def _reload(asked: SuggestionRequest) -> SuggestionRequest:
    return SuggestionRequest.objects.select_related("project").get(pk=asked.pk)
