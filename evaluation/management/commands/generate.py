"""``assay generate``: synthetic conversations with requirements, or questions about stored ones."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from evaluation.management.base import add_model
from evaluation.management.foreground import bar
from evaluation.services.launch import generators
from evaluation.services.launch.generators import ALL, Wish
from evaluation.synthetic.talks import DIFFICULTIES, MIXED, domains
from labeling.core import acting
from labeling.management.base import AssayCommand
from labeling.models import Conversation
from labeling.words import in_english
from pipelines.chat.endpoint import DEFAULT

WHAT = ("conversations", "questions")
ONLY_WITH: dict[str, dict[str, Any]] = {
    "conversations": {"domain": ALL, "difficulty": MIXED, "without_gold": False},
    "questions": {"model": DEFAULT, "budget": None, "budget_tokens": None},
}
"""Options with their defaults that the other of the two has no use for."""


class Command(AssayCommand):
    help = (
        "Make synthetic conversations out of templates, with the requirements that are said in "
        "them; or let a language model ask questions about the conversations of a project, with "
        "the messages that answer them: what does not verify is thrown out and counted. They are "
        "marked as synthetic wherever they go, and questions become separate gold. The same seed "
        "makes the same again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", choices=WHAT)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--count", type=int, required=True, metavar="N")
        parser.add_argument("--seed", type=int, default=0)
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
        of_questions = parser.add_argument_group("of questions")
        add_model(of_questions)
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
        what = options["what"]
        for other, defaults in ONLY_WITH.items():
            for name, default in defaults.items():
                if what != other and options[name] != default:
                    raise CommandError(f"--{name.replace('_', '-')} does not go with {what}.")
        named = ("project", "count", "domain", "difficulty", "seed", "split")
        wish = Wish(**{name: options[name] for name in named})
        if what == "questions":
            self._questions(wish, options)
        else:
            self._conversations(wish, options)

    def _conversations(self, wish: Wish, options: dict[str, Any]) -> None:
        gold = options["gold"] or f"{wish.project}-synthetic"
        gold = "" if options["without_gold"] else gold
        stored = generators.store_talks(wish, gold=gold, actor=acting.chosen())
        self.stdout.write(
            f"{stored.new} synthetic conversations are new, {stored.unchanged} were there already."
        )
        if stored.release:
            summary = f"{stored.release}: {stored.release.items.count()} synthetic items"
            self.stdout.write(f"{summary}, sha256 {stored.release.sha256}")

    def _questions(self, wish: Wish, options: dict[str, Any]) -> None:
        model = generators.model_for(*(options[name] for name in ONLY_WITH["questions"]))
        with bar() as shown:
            task = shown.add_task("Asking", total=wish.count)
            made = generators.make_questions(
                wish, model, progress=lambda done: shown.update(task, completed=done)
            )
        name = options["gold"] or f"{wish.project}-synthetic-questions"
        release = generators.store_questions(made, wish, gold=name)
        about = len({question.talk for question in made.accepted})
        self.stdout.write(
            f"{len(made.accepted)} synthetic questions about {about} conversations "
            f"({made.generator}), {model.spent.tokens:,} tokens."
        )
        if made.n_rejected:
            lost = made.rejected.most_common()
            reasons = "; ".join(f"{in_english(why)} ({n})" for why, n in lost)
            self.stdout.write(f"{made.n_rejected} were thrown out: {reasons}.")
        if release:
            self.stdout.write(f"{release}, sha256 {release.sha256}")
        elif made.accepted:
            self.stdout.write("Nothing is new: the newest release holds exactly this already.")
        if len(made.accepted) < wish.count:
            why = "The conversations give no more that verify."
            why = in_english(made.stopped) if made.stopped else why
            raise CommandError(f"Only {len(made.accepted)} of {wish.count} were made. {why}")
