"""``assay generate_conversations``: synthetic conversations with their requirements."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluation.management import generating
from evaluation.services.launch import synthetic
from evaluation.synthetic.sample import DIFFICULTIES, MIXED
from evaluation.synthetic.templates import domains
from labeling.domain.errors import RuleError
from labeling.management.acting import ActingCommand
from labeling.models import Conversation
from labeling.services import acting
from labeling.words import in_english


class Command(ActingCommand):
    help = (
        "Make synthetic conversations and the requirements that are said in them, out of templates "
        "or by the language model of the settings. They are marked as synthetic wherever they go; "
        "what does not verify is thrown out and counted. The same seed makes the same again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        generating.add_options(parser, "write")
        parser.add_argument("--domain", choices=[synthetic.ALL, *domains()], default=synthetic.ALL)
        parser.add_argument(
            "--difficulty",
            choices=[MIXED, *DIFFICULTIES],
            default=MIXED,
            help="default: mixed, which is 30 %% easy, 50 %% medium and 20 %% hard",
        )
        parser.add_argument("--split", choices=Conversation.Split.values, default="")
        parser.add_argument(
            "--gold",
            metavar="NAME",
            help="freeze their labels under this name (default: the project's slug and -synthetic)",
        )
        parser.add_argument(
            "--without-gold", action="store_true", help="store the conversations alone"
        )

    def handle(self, **options: Any) -> None:
        named = ("count", "domain", "difficulty", "seed", "split")
        wish = synthetic.Wish(**{name: options[name] for name in named})
        gold = (
            "" if options["without_gold"] else options["gold"] or f"{options['project']}-synthetic"
        )
        try:
            generated = generating.make(synthetic, wish, options, else_="Templates")
            stored = synthetic.store(
                options["project"], generated, wish, gold=gold, actor=acting.chosen()
            )
        except RuleError as error:
            raise CommandError(in_english(error.fact)) from error
        self._report(generated, stored)
        generating.check_complete(generated, wish.count, why="The others did not verify.")

    def _report(self, generated: synthetic.GeneratedSamples, stored: synthetic.Stored) -> None:
        self.stdout.write(
            f"{stored.new} synthetic conversations are new, {stored.unchanged} were there already "
            f"({generated.generator})."
        )
        generating.report_losses(generated, self.stdout)
        if stored.release:
            summary = f"{stored.release}: {stored.release.items.count()} synthetic items"
            self.stdout.write(f"{summary}, sha256 {stored.release.sha256}")
