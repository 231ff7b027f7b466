from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.template.defaultfilters import pluralize

from labeling.domain.gold.proofs import ReleaseFault
from labeling.management import refusals
from labeling.management.arguments import release_named
from labeling.services.gold import signing
from labeling.services.gold.exported import Exported, ExportedFolder, ExportedProof
from labeling.services.gold.verification import check, faults_of
from labeling.words import in_english

NOT_SIGNED = "It is not signed: releases of format 1 have hashes alone."


class Command(BaseCommand):
    help = (
        "Recompute every hash of a gold release, check its signature, and compare it with what "
        "pages show, its conversations and the audit log; or check an exported folder, or the "
        "proof of one item, without a database. Exit status 1 names each item and each column that "
        "is not as it was frozen."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "release",
            metavar="RELEASE",
            nargs="?",
            default="",
            help="name, name@3 or name@1.2.0; or the folder of a native export",
        )
        parser.add_argument("--proof", type=Path, metavar="FILE", help="one item with its proof")
        parser.add_argument(
            "--key",
            default="",
            metavar="FINGERPRINT",
            help="the key that the publisher told you: anything else is a fault",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        address, key = options["release"], options["key"].lower()
        if bool(address) == bool(options["proof"]):
            raise CommandError("Name a release, a folder, or a file with --proof.")
        if options["proof"] or Path(address).is_dir():
            self._verify_files(options["proof"], Path(address), key)
        else:
            self._verify_release(address, key)

    def _verify_release(self, address: str, key: str) -> None:
        release = release_named(address)
        name = str(release)
        if key:
            self._report(name, faults_of(release, trusted={key}))
        else:  # the page of the release says when this was
            self._fail(name, check(release, report=partial(self._write, name)).n_faults)
        n_items = release.items.count()
        self.stdout.write(f"{release} is intact: {n_items} items, sha256 {release.sha256}")
        if not release.signature:
            self.stdout.write(NOT_SIGNED)

    def _verify_files(self, proof: Path | None, folder: Path, key: str) -> None:
        with refusals.said_on(self.stderr):
            exported = ExportedProof(proof) if proof else ExportedFolder(folder)
            described = exported.described
            name = described.release or str(proof or folder)
            self._report(name, exported.faults(trusted={key} if key else None))
        if isinstance(exported, ExportedProof):
            self.stdout.write(f"{exported.item_id} is in {name}, sha256 {described.sha256}")
        else:
            n_items = described.items
            self.stdout.write(f"{name} is intact: {n_items} items, sha256 {described.sha256}")
        if not key:
            self.stdout.write(_about_key(described))

    def _report(self, name: str, faults: Iterable[ReleaseFault]) -> None:
        """Write each fault as it is found; fails if there were any."""
        number = 0
        for fault in faults:
            number += 1
            self._write(name, fault)
        self._fail(name, number)

    def _write(self, name: str, fault: ReleaseFault) -> None:
        self.stderr.write(f"{name} {fault.item_id or '(release)'}: {in_english(fault.fact)}")

    def _fail(self, name: str, number: int) -> None:
        if number:
            raise CommandError(f"{name} is not intact: {number} fault{pluralize(number)}.")


def _about_key(exported: Exported) -> str:
    if not exported.key:
        return NOT_SIGNED
    if exported.key in signing.trusted():
        return f"Signed with {exported.key}, a key that this installation trusts."
    return (
        f"Signed with {exported.key}, which this installation does not know: ask the publisher for "
        "the fingerprint, and check it with --key."
    )
