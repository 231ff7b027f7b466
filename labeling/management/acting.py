"""The parent of every command that writes."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from labeling.services import acting
from labeling.words import in_english


class ActingCommand(BaseCommand):
    """A command that says who does what it does."""

    requires_system_checks = ("plugins",)
    """The others look at the code, for which they load every page: a third of a second. They are
    for ``assay check`` and ``make lint``."""

    refused = 1
    """Its exit status where nobody is called so."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
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
            with acting.acting(options["acting_as"]):
                return super().execute(*args, **options)
        except acting.UnknownPerson as error:
            raise CommandError(in_english(error.fact), returncode=self.refused) from error
