from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.schema import DEFAULT_LAYER
from labeling.management.acting import ActingCommand
from labeling.management.arguments import add_waivers, project_named, waivers_in
from labeling.models import LintFinding, LintReport, Project
from labeling.services import acting
from labeling.services.gold import lint, lint_requests
from labeling.services.vectors import ruler
from labeling.words import in_english


class Command(ActingCommand):
    help = (
        "Look for faults in what a freeze would take now. Exit status: 0 if everything was accepted"
        " or nothing was found, 1 otherwise."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--layer", default=DEFAULT_LAYER, help="default: %(default)s")
        parser.add_argument("--format", default="table", choices=["table", "json"])
        add_waivers(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_named(options["project"])
        layer, reasons = options["layer"], waivers_in(options["waive"])
        try:
            report = lint_requests.look(project, layer, ruler=ruler())
            for kind, reason in reasons.items():
                lint.waive(project, layer, kind, reason=reason, by=acting.person())
        except RuleError as error:
            raise CommandError(in_english(error.fact)) from error
        if options["format"] == "json":
            self._write_json(project, report)
        else:
            self._write_table(report)
        if report.findings.filter(waiver=None).exists():
            raise SystemExit(1)

    def _write_table(self, report: LintReport) -> None:
        counts = lint.counts_of(report)
        self.stdout.write(
            f"{report.items} items, {sum(count.number for count in counts)} findings, "
            f"{sum(count.open for count in counts)} of them open"
        )
        for count in counts:
            title = in_english(Fact(f"lint_kind.{count.kind}"))
            self.stdout.write(f"{count.kind}: {title} ({count.number}, {count.open} open)")
            for finding in self._findings(report, count.kind):
                accepted = f" (accepted: {finding.waiver.reason})" if finding.waiver else ""
                self.stdout.write(f"  {_sentence(finding)}{accepted}")

    def _write_json(self, project: Project, report: LintReport) -> None:
        document = {
            "project": project.slug,
            "layer": report.layer,
            "items": report.items,
            "kinds": [count._asdict() for count in lint.counts_of(report)],
            "findings": [
                {
                    "kind": finding.kind,
                    "key": finding.key,
                    "conversation": finding.conversation and finding.conversation.external_id,
                    "code": finding.fact.code if finding.fact else "",
                    "message": _sentence(finding),
                    "accepted": finding.waiver.reason if finding.waiver else None,
                }
                for count in lint.counts_of(report)
                for finding in self._findings(report, count.kind)
            ],
        }
        self.stdout.write(json.dumps(document, indent=2, ensure_ascii=False))

    def _findings(self, report: LintReport, kind: str) -> Any:
        rows = report.findings.filter(kind=kind).select_related("conversation", "waiver")
        return rows.defer("waiver__keys").order_by("pk").iterator(500)


def _sentence(finding: LintFinding) -> str:
    return in_english(finding.fact) if finding.fact else ""
