"""``assay generate_questions``: synthetic questions about stored conversations."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluation.management import generating
from evaluation.services.launch import questions
from labeling.domain.errors import RuleError
from labeling.management.acting import ActingCommand
from labeling.models import Conversation, GoldRelease
from labeling.words import in_english


class Command(ActingCommand):
    help = (
        "Make questions about the conversations of a project, each with the messages that answer "
        "it, out of the words of the messages or by the language model of the settings. They "
        "become separate gold, marked as synthetic wherever they go; what does not verify is "
        "thrown out and counted. The same seed makes the same again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        generating.add_options(parser, "ask")
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

    def handle(self, **options: Any) -> None:
        named = ("project", "count", "seed", "split")
        wish = questions.Wish(**{name: options[name] for name in named})
        try:
            batch = generating.make(questions, wish, options, else_="Questions out of words")
            name = options["gold"] or f"{wish.project}-synthetic-questions"
            release = questions.store(batch, gold=name)
        except RuleError as error:
            raise CommandError(in_english(error.fact)) from error
        self._report(batch, release)
        why = "The conversations give no more that verify."
        generating.check_complete(batch, wish.count, why=why)

    def _report(self, batch: questions.GeneratedQuestions, release: GoldRelease | None) -> None:
        about = len({question.talk for question in batch.accepted})
        self.stdout.write(
            f"{len(batch.accepted)} synthetic questions about {about} conversations "
            f"({batch.generator})."
        )
        generating.report_losses(batch, self.stdout)
        if release:
            self.stdout.write(f"{release}, sha256 {release.sha256}")
        elif batch.accepted:
            self.stdout.write("Nothing is new: the newest release holds exactly this already.")
