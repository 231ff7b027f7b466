"""``manage.py generate_questions``: synthetic questions about stored conversations."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.management.generating import bar, check_budget, report_losses
from evaluation.services import questions
from labeling.domain.errors import RuleError
from labeling.models import Conversation, GoldRelease


class Command(BaseCommand):
    help = (
        "Make questions about the conversations of a project, each with the messages that answer "
        "it, out of the words of the messages or by the language model of the settings. They "
        "become gold of their own, marked as synthetic wherever they go; what does not verify is "
        "thrown out and counted. The same seed makes the same again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--count", type=int, required=True, metavar="N")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument(
            "--split",
            choices=Conversation.Split.values,
            default="",
            help="only about conversations of this split",
        )
        parser.add_argument(
            "--gold",
            metavar="NAME",
            help="the name of the release (default: the project's slug and -synthetic-questions)",
        )
        parser.add_argument(
            "--model", action="store_true", help="let the language model of the settings ask them"
        )
        parser.add_argument("--budget", type=float, metavar="MONEY", help="what it may cost")
        parser.add_argument("--budget-tokens", type=int, metavar="N", help="tokens that it may use")

    def handle(self, **options: Any) -> None:
        named = ("project", "count", "seed", "split")
        wish = questions.Wish(**{name: options[name] for name in named})
        try:
            made = _made(wish, options)
            name = options["gold"] or f"{wish.project}-synthetic-questions"
            release = questions.store(made, gold=name)
        except RuleError as error:
            raise CommandError(error.message) from error
        self._report(made, release)
        if len(made.questions) < wish.count:
            why = made.stopped or "The conversations give no more that verify."
            raise CommandError(f"Only {len(made.questions)} of {wish.count} were made. {why}")

    def _report(self, made: questions.Made, release: GoldRelease | None) -> None:
        about = len({one.talk for one in made.questions})
        self.stdout.write(
            f"{len(made.questions)} synthetic questions about {about} conversations "
            f"({made.generator})."
        )
        report_losses(made, self.stdout)
        if release:
            self.stdout.write(f"{release}, sha256 {release.sha256}")
        elif made.questions:
            self.stdout.write("Nothing is new: the newest release holds exactly this already.")


def _made(wish: questions.Wish, options: dict[str, Any]) -> questions.Made:
    budget = check_budget(options, "Questions out of words")
    with bar(wish.count) as show:
        if options["model"]:
            return questions.make_by_model(wish, progress=show, **budget)
        return questions.make(wish, progress=show)
