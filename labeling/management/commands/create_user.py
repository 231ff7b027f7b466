from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.urls import reverse

from labeling.accounts import accounts, passwords
from labeling.accounts.accounts import NewAccount
from labeling.core import acting
from labeling.management.base import AssayCommand
from labeling.models import Membership


class Command(AssayCommand):
    help = (
        "Make an account, with a role in a project if you name one, and print a link by which the "
        "person sets a password; it works once, for a day."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", metavar="USER", help="the name to sign in with")
        parser.add_argument("--name", default="", metavar="NAME", help="shown next to it")
        parser.add_argument("--email", default="", metavar="ADDRESS")
        parser.add_argument("--project", metavar="SLUG", help="with --role: a project to work in")
        parser.add_argument("--role", choices=Membership.Role.values)
        rights = parser.add_mutually_exclusive_group()
        rights.add_argument("--staff", action="store_true", help="may open the administration")
        rights.add_argument("--admin", action="store_true", help="may do everything")

    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["project"]) != bool(options["role"]):
            raise CommandError("--project and --role belong together: give both, or neither.")
        project = self.project_named(options["project"]) if options["project"] else None
        account = NewAccount(
            options["username"],
            None,
            options["name"],
            options["email"],
            is_staff=options["staff"],
            is_superuser=options["admin"],
        )
        role = options["role"] or ""
        with transaction.atomic():
            try:
                user = accounts.create_at_console(
                    account, project=project, role=role, by=acting.person()
                )
                link = self._link(user)
            except ValidationError as error:
                raise CommandError(" ".join(error.messages)) from None
        place = f", {role} of {project.slug}" if project else ""
        self.stderr.write(f"The account {user.username} is ready{place}.")
        self.stdout.write(link)

    def _link(self, user: User) -> str:
        path = reverse("password-set", args=passwords.make_link(user, by=acting.chosen()))
        if not settings.PUBLIC_URL:
            self.stderr.write("ASSAY_PUBLIC_URL is not set: put the server's address before this.")
        return f"{settings.PUBLIC_URL}{path}"
