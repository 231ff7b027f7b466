from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import pluralize

from labeling.services import audit_chain
from labeling.words import in_english


class Command(BaseCommand):
    help = (
        "Link the audit log up to its newest event, read all of it, and compare it with what was "
        "linked and with what signed releases say of it. Exit status 1 names each event that was "
        "changed, removed or put in later."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        checked = audit_chain.check(self._report)
        if checked.n_faults:
            n_faults = f"{checked.n_faults} fault{pluralize(checked.n_faults)}"
            raise CommandError(f"The audit log is not intact: {n_faults}.")
        if checked.head is None:
            self.stdout.write("The audit log is empty.")
        else:
            self.stdout.write(
                "The audit log is complete up to event {event}: "
                "{position} links, sha256 {sha256}".format(**checked.head)
            )

    def _report(self, fault: audit_chain.LogFault) -> None:
        self.stderr.write(in_english(fault.fact))
