from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from labeling.services import tokens


class Command(BaseCommand):
    help = (
        "Make an API token for a program that acts as an account, and print it. It is not shown "
        "again; its owner ends it on the page API tokens."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", metavar="USER")
        parser.add_argument("--name", required=True, help="what it is for: nightly export")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["username"], is_active=True).first()
        if user is None:
            raise CommandError(f"Nobody active is called “{options['username']}”.")
        self.stdout.write(tokens.issue(user=user, name=options["name"]).secret)
