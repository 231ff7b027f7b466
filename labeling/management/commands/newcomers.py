from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from labeling.management import refusals
from labeling.management.acting import ActingCommand
from labeling.management.arguments import project_named
from labeling.models import Membership, Project, Qualification
from labeling.services.quality import newcomers
from labeling.services.quality.newcomers import Standing
from labeling.services.work import assignments

State = Qualification.State
STATES = {
    "": "has not begun to calibrate",
    State.TRYING: "calibrates",
    State.BETWEEN: "did not pass, may try again",
    State.FAILED: "did not pass, no try is left",
    State.PASSED: "passed earlier, on other layers",
    State.WAIVED: "was let in earlier, on other layers",
}


class Command(ActingCommand):
    help = (
        "Say which annotators of a project may do full labeling, by layer, and how they got there; "
        "begin somebody's calibration, allow another try, or let somebody in with a reason."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--begin", metavar="USER", help="hand out conversations to calibrate on")
        what.add_argument("--let-in", metavar="USER", help="full labeling without calibration")
        what.add_argument("--another-try", metavar="USER", help="after the last one")
        parser.add_argument("--reason", default="", metavar="TEXT", help="for --let-in")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_named(options["project"])
        with refusals.said_on(self.stderr):
            if name := options["begin"]:
                person = _annotator(project, name)
                newcomers.begin(project, person)
                number = newcomers.parts_of(person, project).exclude(newcomers.DONE).count()
                self.stdout.write(f"{name} has {number} conversations to calibrate on.")
            elif name := options["let_in"]:
                by, person = _lead(project, options["acting_as"]), _annotator(project, name)
                layers = newcomers.let_in(project, person, by=by, reason=options["reason"])
                self.stdout.write(f"{name} may do full labeling of {', '.join(layers)}.")
            elif name := options["another_try"]:
                by, person = _lead(project, options["acting_as"]), _annotator(project, name)
                if not newcomers.allow_another_try(project, person, by=by):
                    raise CommandError(f"{name} needs no other try.")
                self.stdout.write(f"{name} may try again.")
            else:
                self._list(project)

    def _list(self, project: Project) -> None:
        standings = newcomers.by_person(project)
        if not standings:
            self.stdout.write("No calibration round has passed, so nobody has to calibrate.")
        for standing in standings:
            self.stdout.write(f"{standing.user.get_username()}: {_where(standing)}")
            for row in standing.rows:
                why = f" ({row.let_in_by}: {row.reason})" if row.let_in_by else ""
                self.stdout.write(f"  {row.layer}: {row.get_how_display()}{why}")
            for layer in standing.missing:
                self.stdout.write(f"  {layer}: not yet")


def _where(standing: Standing) -> str:
    if standing.is_in:
        return "full labeling"
    where = STATES[standing.state]
    if standing.state == State.TRYING:
        where += f": {standing.done} of {standing.parts} conversations answered"
    return where


def _annotator(project: Project, name: str) -> User:
    person = assignments.annotators(project).filter(username=name).first()
    if person is None:
        raise CommandError(f"{project.slug} has no annotator {name}.")
    return person


def _lead(project: Project, name: str | None) -> User:
    user = User.objects.filter(username=name or "", is_active=True).first()
    if user is None or Membership.Role.LEAD not in project.roles_of(user):
        raise CommandError(f"Name a lead of {project.slug} with --as.")
    return user
