from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import CommandParser

from evaluation.models import OPEN, Run
from evaluation.services.launch.launch import LaunchRequest, launch
from labeling.agreement.vectors import ruler
from labeling.management.base import AssayCommand
from labeling.models import GoldRelease, Project
from labeling.overview import demo

FOLDER = settings.BASE_DIR / "fixtures" / "demo"
RUNS: tuple[dict[str, Any], ...] = (
    {"pipeline": "nothing", "split": OPEN},
    {"pipeline": "everything", "split": OPEN},
    {"pipeline": "requirements-local", "split": OPEN},
    {
        "pipeline": "requirements-agent",
        "config": {"whole_way": True},
        "name": "with requirements documents",
        "split": OPEN,
    },
    {
        "pipeline": "requirements-local",
        "name": "final figure",
        "split": "test",
        "reason": "The one final figure of the demo, after everything was chosen on train and dev",
    },
)


class Command(AssayCommand):
    acts = False
    help = (
        "Load the demo: people, a labeled project, a gold release, and runs for the worker to do. "
        "What is there already is left alone, so it may be repeated."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--no-runs", action="store_true", help="load data only")

    def handle(self, *args: Any, **options: Any) -> None:
        release = None
        if not Project.objects.filter(slug="demo").exists():
            release = demo.load(FOLDER, ruler=ruler())
        self.stdout.write(f"Demo loaded: {release}." if release else "The demo is there already.")
        if release and not options["no_runs"]:
            self._launch(release)
        for person in demo.people(FOLDER):
            roles = ", ".join(person["roles"]) or "superuser"
            self.stdout.write(f"  {person['username']:<6} {person['password']:<11} {roles}")

    def _launch(self, release: GoldRelease) -> None:
        noor = User.objects.get(username="noor")
        for settings_of_run in RUNS:
            launch(LaunchRequest(release=release, requested_by=noor, **settings_of_run))
        self.stdout.write(f"{Run.objects.count()} runs wait for the worker.")
