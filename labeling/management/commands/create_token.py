from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from labeling.core import tokens
from labeling.core.rules.scopes import Scope
from labeling.management.base import AssayCommand
from labeling.models import Project


class Command(AssayCommand):
    help = (
        "Make an API token for a program that acts as an account, and print it. It is not shown "
        "again; its owner ends it on the page API tokens."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", metavar="USER")
        parser.add_argument("--name", required=True, help="what it is for: nightly export")
        parser.add_argument(
            "--scope",
            action="append",
            choices=[scope.value for scope in Scope],
            help="what it may be used for (may be repeated); default: everything",
        )
        parser.add_argument(
            "--project", action="append", default=[], help="only in this project (may be repeated)"
        )
        parser.add_argument(
            "--days",
            type=int,
            default=tokens.DAYS,
            help=f"how long it works: 1 to {tokens.MOST_DAYS}, default {tokens.DAYS}",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["username"], is_active=True).first()
        if user is None:
            raise CommandError(f"Nobody active is called “{options['username']}”.")
        slugs = set(options["project"])
        projects = list(Project.objects.filter(slug__in=slugs))
        if unknown := slugs - {project.slug for project in projects}:
            raise CommandError(f"No project is called “{min(unknown)}”.")
        issued = tokens.issue(
            user=user,
            name=options["name"],
            scopes=options["scope"] or list(Scope),
            projects=projects,
            days=options["days"],
        )
        self.stdout.write(issued.secret)
