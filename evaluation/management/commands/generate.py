"""``assay generate``: synthetic conversations with requirements, or questions about stored ones."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluation.management import generating
from evaluation.services.launch import generators
from evaluation.services.launch.generators import ALL, Wish
from evaluation.synthetic.talks import DIFFICULTIES, MIXED, domains
from labeling.core import acting
from labeling.management.base import AssayCommand
from labeling.models import Conversation


class Command(AssayCommand):
    help = (
        "Make synthetic conversations with the requirements that are said in them, out of "
        "templates, or questions about the conversations of a project with the messages that "
        "answer them, out of their words; or either by the language model of the settings. They "
        "are marked as synthetic wherever they go, and questions become separate gold; what does "
        "not verify is thrown out and counted. The same seed makes the same again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", choices=["conversations", "questions"])
        generating.add_options(parser)
        parser.add_argument(
            "--split",
            choices=Conversation.Split.values,
            default="",
            help="of the conversations; questions are only about those of this split",
        )
        parser.add_argument(
            "--gold",
            metavar="NAME",
            help="freeze the labels under this name (default: the project's slug and -synthetic, "
            "of questions -synthetic-questions)",
        )
        of_talks = parser.add_argument_group("of conversations")
        of_talks.add_argument("--domain", choices=[ALL, *domains()], default=ALL)
        of_talks.add_argument(
            "--difficulty",
            choices=[MIXED, *DIFFICULTIES],
            default=MIXED,
            help="default: mixed, which is 30 %% easy, 50 %% medium and 20 %% hard",
        )
        of_talks.add_argument(
            "--without-gold", action="store_true", help="store the conversations alone"
        )

    def handle(self, **options: Any) -> None:
        if options["what"] == "questions":
            self._questions(options)
        else:
            self._conversations(options)

    def _conversations(self, options: dict[str, Any]) -> None:
        named = ("project", "count", "domain", "difficulty", "seed", "split")
        wish = Wish(**{name: options[name] for name in named})
        gold = (
            "" if options["without_gold"] else options["gold"] or f"{options['project']}-synthetic"
        )
        made = generating.make("conversations", wish, options, else_="Templates")
        stored = generators.store_talks(made, wish, gold=gold, actor=acting.chosen())
        self.stdout.write(
            f"{stored.new} synthetic conversations are new, {stored.unchanged} were there already "
            f"({made.generator})."
        )
        generating.report_losses(made, self.stdout)
        if stored.release:
            summary = f"{stored.release}: {stored.release.items.count()} synthetic items"
            self.stdout.write(f"{summary}, sha256 {stored.release.sha256}")
        generating.check_complete(made, wish.count, why="The others did not verify.")

    def _questions(self, options: dict[str, Any]) -> None:
        ours = {"domain": ALL, "difficulty": MIXED, "without_gold": False}
        for name, default in ours.items():
            if options[name] != default:
                option = f"--{name.replace('_', '-')}"
                raise CommandError(f"{option} does not go with questions.")
        named = ("project", "count", "seed", "split")
        wish = Wish(**{name: options[name] for name in named})
        batch = generating.make("questions", wish, options, else_="Questions out of words")
        name = options["gold"] or f"{wish.project}-synthetic-questions"
        release = generators.store_questions(batch, wish, gold=name)
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
        why = "The conversations give no more that verify."
        generating.check_complete(batch, wish.count, why=why)
