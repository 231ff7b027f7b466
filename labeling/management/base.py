"""The parent of every command."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console, RenderableType

from labeling.conversations.conversations import ImportRefused
from labeling.core import acting
from labeling.domain.errors import FileFault, RuleError
from labeling.gold.lint import LintOpen
from labeling.management.waivers import open_lines
from labeling.models import Project
from labeling.words import in_english

WIDTH = 160


class AssayCommand(BaseCommand):
    """It says who does what it does, and ends with a sentence where a rule refuses it."""

    requires_system_checks = ("plugins",)
    """The others look at the code, for which they load every page: a third of a second. They are
    for ``assay check`` and ``make lint``."""

    refused = 1
    """Its exit status where it is refused."""

    acts = True
    """Whether it writes, and so takes ``--as``."""

    nothing_stored = ""
    """What it says of a file that cannot be read; empty: the error is not of such a file."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        if self.acts:
            parser.add_argument(
                "--as",
                "--by",
                dest="acting_as",
                default="",
                metavar="USER",
                help="who does this, for the audit log (default: the account of the command line, "
                "named after the user of the operating system)",
            )
        return parser

    def execute(self, *args: Any, **options: Any) -> Any:
        try:
            with acting.acting(options["acting_as"]) if self.acts else nullcontext():
                return super().execute(*args, **options)
        except ImportRefused as refused:
            for problem in refused.problems:
                self.stderr.write(in_english(problem))
            raise SystemExit(self.refused) from None
        except LintOpen as error:
            self.stderr.write("\n".join(open_lines(error)))
            raise self.problem(in_english(error.fact)) from None
        except (RuleError, FileFault) as error:
            raise self.problem(in_english(error.fact)) from error
        except OSError as error:
            if not self.nothing_stored or not error.filename:
                raise
            name, why = Path(error.filename).name, error.strerror
            self.stderr.write(f"{name}: cannot be read ({why}){self.nothing_stored}")
            raise SystemExit(self.refused) from None

    def print(self, *parts: RenderableType, soft_wrap: bool = False) -> None:
        """Tables, as wide as a terminal is; where there is none, as wide as they need."""
        out: Any = self.stdout
        width = None if sys.stdout.isatty() else WIDTH
        console = Console(file=out, width=width, highlight=False)
        for part in parts:
            console.print(part, soft_wrap=soft_wrap)

    def problem(self, text: str) -> CommandError:
        return CommandError(text, returncode=self.refused)

    def project_named(self, slug: str) -> Project:
        project = Project.objects.filter(slug=slug).first()
        if project is None:
            slugs = list(Project.objects.values_list("slug", flat=True))
            near = get_close_matches(slug, slugs, n=1) or slugs[:5]
            hint = f" Did you mean {', '.join(near)}?" if near else " There are no projects yet."
            raise self.problem(f"There is no project “{slug}”.{hint}")
        return project
