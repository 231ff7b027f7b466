"""``manage.py certify_judge``: what are the judges of answers worth?"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from django.core.management.base import BaseCommand, CommandError
from rich.table import Table

from evaluation.management import prompts
from evaluation.management.summary import rendered
from evaluation.models import JudgeCertificate, Probing
from evaluation.services.judging import certificates, probings
from labeling.domain.errors import RuleError
from labeling.management.arguments import project_named
from labeling.models import Project
from labeling.words import in_english

REFUSED = 1


class Command(BaseCommand):
    help = (
        "Ask the judges of answers the built-in probes, compare them with what people said of the "
        "same answers, and issue the certificates without which no judged figure decides at the "
        "gate. Works in the foreground. Exit status: 0 all certified, 1 some refused, 2 nothing "
        "can be said."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--kind",
            action="append",
            default=[],
            metavar="KIND",
            help=f"one of {', '.join(probings.KINDS)} (default: all); may be given more than once",
        )
        prompts.add_option(parser, probings.KINDS)
        parser.add_argument(
            "--compare",
            action="store_true",
            help="ask no probe: look again at those asked last, with the ratings there are now",
        )
        parser.add_argument(
            "--budget-tokens", type=int, metavar="N", help="tokens that each kind may use"
        )

    def handle(self, **options: Any) -> None:
        project = project_named(options["project"], returncode=prompts.NOT_MEASURABLE)
        texts = prompts.read(options["prompt"])
        kinds = options["kind"] or list(texts) or list(probings.KINDS)
        try:
            verdicts = (
                _look_again(project, kinds, texts)
                if options["compare"]
                else self._ask(project, kinds, texts, options["budget_tokens"])
            )
        except RuleError as error:
            raise prompts.problem(in_english(error.fact)) from error
        self.stdout.write(rendered(_table(verdicts)))
        for certificate in verdicts:
            for reason in certificates.reasons_of(certificate):
                self.stdout.write(f"{certificate.kind}: {in_english(reason)}.")
        refused = [certificate.kind for certificate in verdicts if not certificate.passed]
        if refused:
            raise CommandError(f"No certificate for {', '.join(refused)}.", returncode=REFUSED)

    def _ask(
        self,
        project: Project,
        kinds: Sequence[str],
        texts: dict[str, str],
        budget_tokens: int | None,
    ) -> list[JudgeCertificate]:
        asked = probings.request(
            project, kinds=kinds, prompts=texts, budget_tokens=budget_tokens, by=None, queue=False
        )
        for probing in asked:
            self.stderr.write(f"Asking the probes of {probing.kind} …")
            probings.work(probing.pk, uuid4())
        return [_certificate(Probing.objects.get(pk=probing.pk)) for probing in asked]


def _certificate(probing: Probing) -> JudgeCertificate:
    if probing.state != Probing.State.DONE:
        raise prompts.problem(
            f"The probes of {probing.kind} could not be asked: "
            f"{in_english(probing.error) if probing.error else 'another worker is at it'}"
        )
    certificate = certificates.newest(probing.project_id, probing.kind, probing.judge_sha256)
    assert certificate is not None  # looked at when the probes were asked
    return certificate


def _look_again(
    project: Project, kinds: Sequence[str], texts: dict[str, str]
) -> list[JudgeCertificate]:
    asked = [probings.asked_last(project, kind, texts) for kind in kinds]
    return [certificates.look(probing, by=None) for probing in asked]


def _table(verdicts: Sequence[JudgeCertificate]) -> Table:
    table = Table(title="Judges")
    for name in ("kind", "result", "probes", "n", "κ", "95 %", "ρ", "MAE"):
        table.add_column(name, justify="left" if name in ("kind", "result") else "right")
    for certificate in verdicts:
        compared = certificate.comparison
        table.add_row(
            certificate.kind,
            "certified" if certificate.passed else "refused",
            f"{compared['probes_held']}/{compared['probes_asked']}",
            str(certificate.n),
            _figure(certificate.kappa),
            "–"
            if certificate.ci_low is None
            else f"{_figure(certificate.ci_low)} to {_figure(certificate.ci_high)}",
            _figure(certificate.spearman),
            _figure(certificate.mae),
        )
    return table


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:z.2f}"
