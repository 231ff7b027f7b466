"""The parent of the commands about pipelines and runs, and what they read."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from evaluation.judge import KINDS
from evaluation.management import foreground
from evaluation.models import Run
from evaluation.services import looks
from evaluation.services.launch import config_files
from evaluation.services.work import steering
from labeling.core import acting
from labeling.gold.looks import Sight
from labeling.management.base import AssayCommand
from labeling.management.looks import state
from labeling.models import Look
from labeling.words import in_english
from pipelines.chat.endpoint import DEFAULT

REFUSED = 2


class RunCommand(AssayCommand):
    refused = REFUSED

    def execute(self, *args: Any, **options: Any) -> Any:
        """A file that cannot be read or written is the caller's to mend, too."""
        try:
            return super().execute(*args, **options)
        except OSError as error:
            said = f"{error.filename}: {error.strerror}." if error.filename else str(error)
            raise self.problem(said) from error

    def run_numbered(self, number: int) -> Run:
        runs = Run.objects.with_progress()
        related = runs.select_related("release__project", "look", "requested_by")
        run = related.filter(pk=number).first()
        if run is None:
            raise self.problem(f"There is no run {number}.")
        return run

    def state_results(self, runs: Sequence[Run], reason: str) -> None:
        """Why figures of runs are looked at: refused without it where any had test items."""
        named = ",".join(str(run.pk) for run in runs if run.look_id)
        self._state(runs, Sight(Look.Purpose.RESULTS, Look.Subject.RUNS, named), reason)

    def state_comparison(self, runs: Sequence[Run], reason: str) -> None:
        """The same of runs next to each other."""
        self._state(runs, looks.sight_of(runs), reason)

    def _state(self, runs: Sequence[Run], sight: Sight, reason: str) -> None:
        state(looks.tested(runs), sight, reason, self.stderr, returncode=REFUSED)

    def work(self, numbers: Sequence[int]) -> None:
        """Here and now; what is not done waits for the person who stops it."""
        with foreground.kept(numbers):
            for at, number in enumerate(numbers):
                try:
                    with foreground.progress_bar(number) as show:
                        foreground.work_until_done(number, show)
                except KeyboardInterrupt:
                    left = list(map(str, numbers[at:]))
                    for run in Run.objects.select_related("release__project").filter(pk__in=left):
                        steering.pause(run, by=acting.person())
                    raise CommandError(f"Stopped. {self.again(left)}", returncode=130) from None

    def again(self, left: Sequence[str]) -> str:
        return f"Go on with: assay evaluate --resume {' '.join(left)}"


def problem(text: str) -> CommandError:
    return CommandError(text, returncode=REFUSED)


def add_model(parser: Any) -> None:
    parser.add_argument(
        "--model",
        default=DEFAULT,
        metavar="NAME",
        help="which of the declared language models is asked (default: that of LLM_MODEL)",
    )
    add_budget(parser, "language models may")


def add_budget(parser: Any, what: str) -> None:
    parser.add_argument("--budget", type=float, metavar="MONEY", help=f"what {what} cost")
    parser.add_argument("--budget-tokens", type=int, metavar="N", help=f"tokens that {what} use")


def budget_in(options: Mapping[str, Any]) -> dict[str, Any]:
    return {"budget_cost": options["budget"], "budget_tokens": options["budget_tokens"]}


def read_settings(path: Path | None) -> dict[str, Any]:
    """The settings in a YAML file; none without one."""
    if path is None:
        return {}
    try:
        settings = config_files.read_settings(path)
    except config_files.ConfigRefused as error:
        raise problem(in_english(error.fact)) from error
    if settings is not None and not isinstance(settings, dict):
        raise problem(f"{path} must hold settings as “name: value”.")
    return settings or {}


def settings_in(settings: dict[str, Any], group: str) -> dict[str, Any]:
    """Take a group of settings out of the others; in the file it is a nested mapping."""
    values = settings.pop(group, None) or {}
    if not isinstance(values, dict):
        raise problem(f"“{group}” must hold its own settings.")
    return values


def add_prompt(parser: ArgumentParser, option: str, when: str = "") -> None:
    parser.add_argument(
        option,
        action="append",
        default=[],
        metavar="KIND=FILE",
        help=f"{when}another prompt for {', '.join(KINDS)}; may be given more than once",
    )


def read_prompts(arguments: Iterable[str]) -> dict[str, str]:
    """By kind; a file alone is the prompt for faithfulness."""
    texts = {}
    for argument in arguments:
        kind, separator, name = argument.partition("=")
        if not separator:
            kind, name = "faithfulness", argument
        if not name:
            raise problem(f"“{argument}” is not KIND=FILE.")
        try:
            texts[kind] = Path(name).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise problem(f"{name} is not UTF-8 text.") from error
    return texts
