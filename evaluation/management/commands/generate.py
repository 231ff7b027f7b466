"""``assay generate``: synthetic conversations with requirements, or questions about stored ones."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError

from evaluation.management.base import add_budget
from evaluation.management.foreground import bar
from evaluation.services.language_models.metering import CountedModel
from evaluation.services.launch import generators
from evaluation.services.launch.generators import ALL, Batch, Wish
from evaluation.synthetic.talks import DIFFICULTIES, MIXED, domains
from labeling.core import acting
from labeling.management.base import AssayCommand
from labeling.models import Conversation
from labeling.words import in_english
from pipelines.chat.endpoint import DEFAULT

TASKS = {"conversations": "generate_conversations", "questions": "ask_questions"}
OF_TALKS = {"domain": ALL, "difficulty": MIXED, "without_gold": False}


class Command(AssayCommand):
    help = (
        "Make synthetic conversations with the requirements that are said in them, out of "
        "templates or by a language model; or let a language model ask questions about the "
        "conversations of a project, with the messages that answer them. They are marked as "
        "synthetic wherever they go, and questions become separate gold; what does not verify is "
        "thrown out and counted. The same seed makes the same again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", choices=TASKS)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--count", type=int, required=True, metavar="N")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument(
            "--model",
            nargs="?",
            const=DEFAULT,
            default="",
            metavar="NAME",
            help="let a declared language model write them (without a name: that of LLM_MODEL)",
        )
        add_budget(parser, "it may")
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
        named = ("project", "count", "domain", "difficulty", "seed", "split")
        wish = Wish(**{name: options[name] for name in named})
        model = self._model(options)
        made = self._questions if options["what"] == "questions" else self._conversations
        batch, why = made(wish, model, options)
        if model and model.spent.tokens:
            self.stdout.write(f"{model.spent.tokens:,} tokens were used.")
        if len(batch.accepted) < wish.count:
            why = in_english(batch.stopped) if batch.stopped else why
            raise CommandError(f"Only {len(batch.accepted)} of {wish.count} were made. {why}")

    def _model(self, options: dict[str, Any]) -> CountedModel | None:
        budget, asks = (options["budget"], options["budget_tokens"]), options["what"] == "questions"
        if not options["model"] and asks:
            raise CommandError("Questions are asked by a language model: give --model.")
        if not options["model"] and budget != (None, None):
            raise CommandError("Templates cost nothing: give a budget only with --model.")
        for name, default in OF_TALKS.items():
            if asks and options[name] != default:
                option = f"--{name.replace('_', '-')}"
                raise CommandError(f"{option} does not go with questions.")
        name, task = options["model"], TASKS[options["what"]]
        return generators.model_for(task, name, *budget) if name else None

    def _conversations(
        self, wish: Wish, model: CountedModel | None, options: dict[str, Any]
    ) -> tuple[Batch[Any], str]:
        with _progress(wish.count) as show:
            made = generators.make_talks(wish, model, progress=show)
        gold = options["gold"] or f"{wish.project}-synthetic"
        gold = "" if options["without_gold"] else gold
        stored = generators.store_talks(made, wish, gold=gold, actor=acting.chosen())
        self.stdout.write(
            f"{stored.new} synthetic conversations are new, {stored.unchanged} were there already "
            f"({made.generator})."
        )
        self._say_losses(made)
        if stored.release:
            summary = f"{stored.release}: {stored.release.items.count()} synthetic items"
            self.stdout.write(f"{summary}, sha256 {stored.release.sha256}")
        return made, "The others did not verify."

    def _questions(
        self, wish: Wish, model: CountedModel | None, options: dict[str, Any]
    ) -> tuple[Batch[Any], str]:
        assert model is not None  # asked for before
        with _progress(wish.count) as show:
            made = generators.make_questions(wish, model, progress=show)
        name = options["gold"] or f"{wish.project}-synthetic-questions"
        release = generators.store_questions(made, wish, gold=name)
        about = len({question.talk for question in made.accepted})
        self.stdout.write(
            f"{len(made.accepted)} synthetic questions about {about} conversations "
            f"({made.generator})."
        )
        self._say_losses(made)
        if release:
            self.stdout.write(f"{release}, sha256 {release.sha256}")
        elif made.accepted:
            self.stdout.write("Nothing is new: the newest release holds exactly this already.")
        return made, "The conversations give no more that verify."

    def _say_losses(self, batch: Batch[Any]) -> None:
        if batch.n_rejected:
            lost = batch.rejected.most_common()
            reasons = "; ".join(f"{in_english(why)} ({n})" for why, n in lost)
            self.stdout.write(f"{batch.n_rejected} were thrown out: {reasons}.")


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int], None]]:
    with bar() as shown:
        task = shown.add_task("Generating", total=total)
        yield lambda done: shown.update(task, completed=done)
