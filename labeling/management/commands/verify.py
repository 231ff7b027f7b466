from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.template.defaultfilters import pluralize

from labeling.gold import gold, signing
from labeling.gold.exported import Folder
from labeling.gold.rules.proofs import ReleaseFault
from labeling.gold.verification import faults_of, faults_of_project
from labeling.management.base import AssayCommand
from labeling.models import GoldRelease, Project
from labeling.words import in_english


class Command(AssayCommand):
    acts = False
    nothing_stored = "."
    help = (
        "Recompute every hash of the gold of a project (default: of all projects), check who "
        "signed it, and hold releases, looks at test items and runs against the audit log. "
        " Or check an exported folder, without a database. Exit status 1 names whatever "
        "is not as it was, and what nobody known has signed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group()
        what.add_argument("project", metavar="PROJECT", nargs="?", default="", help="its slug")
        what.add_argument("--release", default="", metavar="RELEASE", help="only name or name@3")
        what.add_argument("--folder", type=Path, metavar="DIR", help="a native export of gold")
        parser.add_argument(
            "--key",
            action="append",
            metavar="FINGERPRINT",
            help="the key that the publisher told you, instead of those that this installation "
            "trusts; may be repeated",
        )
        parser.add_argument(
            "--any-key",
            action="store_true",
            help="whoever signed it, or nobody: compare hashes alone",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        self.n_faults, self.any_key = 0, options["any_key"]
        self.keys = None if options["key"] is None else {key.lower() for key in options["key"]}
        if self.keys is not None and self.any_key:
            raise CommandError("Name a key with --key, or say --any-key.")
        if options["folder"]:
            self._verify_folder(options["folder"])
        elif options["release"]:
            self._verify_release(gold.find(options["release"]))
        elif options["project"]:
            self._verify_project(self.project_named(options["project"]))
        else:
            for project in Project.objects.order_by("slug"):
                self._verify_project(project)
        if self.n_faults:
            raise CommandError(f"Not intact: {self.n_faults} fault{pluralize(self.n_faults)}.")

    def _verify_folder(self, path: Path) -> None:
        folder = Folder(path)
        about = folder.described
        trusted = signing.trusted() if self.keys is None else self.keys
        by_key = [] if self.any_key else folder.faults_of_key(trusted)
        if self._say(about.release, [*by_key, *folder.faults()]):
            return
        signed = f"signed with {about.key}" if about.key else "not signed"
        self.stdout.write(
            f"{about.release} is intact: {about.items} items, sha256 {about.sha256}, {signed}"
        )

    def _verify_project(self, project: Project) -> None:
        if not self._say(project.slug, faults_of_project(project)):
            self.stdout.write(f"{project.slug}: every row is there that the audit log names")
        for release in project.gold_releases.order_by("pk"):
            self._verify_release(release)

    def _verify_release(self, release: GoldRelease) -> None:
        if self._say(str(release), self._faults_of(release)):
            return
        n_items = release.items.count()
        self.stdout.write(f"{release} is intact: {n_items} items, sha256 {release.sha256}, signed")

    def _faults_of(self, release: GoldRelease) -> Iterable[ReleaseFault]:
        found = faults_of(release, trusted=self.keys)
        return (f for f in found if not self.any_key or f.fact.code != "verify.unknown_key")

    def _say(self, name: str, faults: Iterable[ReleaseFault]) -> bool:
        """Whether there were any; each is written as it is found, and once."""
        said = set()
        for fault in faults:
            line = f"{f'{name} {fault.item_id}'.strip()}: {in_english(fault.fact)}"
            if line not in said:
                self.stderr.write(line)
            said.add(line)
        self.n_faults += len(said)
        return bool(said)
