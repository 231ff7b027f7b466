"""``assay certify_judge``: what are the judges of answers worth?"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import uuid4

from django.core.management.base import CommandError
from rich.table import Table

from evaluation.management import prompts
from evaluation.management.summary import rendered
from evaluation.models import JudgeCertificate, Probing
from evaluation.services.judging import attempts, certificates, probings
from evaluation.services.judging.panels import KINDS
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.management.acting import ActingCommand
from labeling.management.arguments import project_named
from labeling.models import Project
from labeling.services import acting
from labeling.words import in_english

REFUSED = 1


class Command(ActingCommand):
    help = (
        "Ask the judges of answers the built-in probes, compare them with people on the samples "
        "that are complete, and issue the certificates without which no judged figure decides at "
        "the gate. Lists every attempt. Works in the foreground. Exit status: 0 all certified, 1 "
        "some not, 2 nothing can be said."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--kind",
            action="append",
            default=[],
            metavar="KIND",
            help=f"one of {', '.join(KINDS)} (default: all); may be given more than once",
        )
        prompts.add_option(parser, KINDS)
        parser.add_argument(
            "--compare",
            action="store_true",
            help="ask no probe: compare with people on the samples that are complete",
        )
        parser.add_argument(
            "--list",
            action="store_true",
            help="only list every attempt of these judges: probes, samples and comparisons",
        )
        parser.add_argument(
            "--format", choices=("table", "json"), default="table", help="default: table"
        )
        parser.add_argument(
            "--budget-tokens", type=int, metavar="N", help="tokens that each kind may use"
        )

    def handle(self, **options: Any) -> None:
        project = project_named(options["project"], returncode=prompts.NOT_MEASURABLE)
        texts = prompts.read(options["prompt"])
        kinds = options["kind"] or list(texts) or list(KINDS)
        try:
            if not options["compare"] and not options["list"]:
                self._ask(project, kinds, texts, options["budget_tokens"])
            judges = [_judge(project, kind, texts, compare=not options["list"]) for kind in kinds]
        except RuleError as error:
            raise prompts.problem(in_english(error.fact)) from error
        if options["format"] == "json":
            self.stdout.write(json.dumps([_as_json(judge) for judge in judges], indent=2))
        else:
            self._show(judges)
        if missing := [judge.kind for judge in judges if not judge.certified]:
            raise CommandError(f"No certificate for {', '.join(missing)}.", returncode=REFUSED)

    def _show(self, judges: Sequence[_Judge]) -> None:
        self.stdout.write(rendered(_table(judges)))
        for judge in judges:
            for reason in judge.reasons:
                self.stdout.write(f"{judge.kind}: {in_english(reason)}.")
        self.stdout.write(rendered(_attempts_table(judges)))

    def _ask(
        self,
        project: Project,
        kinds: Sequence[str],
        texts: dict[str, str],
        budget_tokens: int | None,
    ) -> None:
        asked = probings.request(
            project,
            kinds=kinds,
            prompts=texts,
            budget_tokens=budget_tokens,
            by=acting.person(),
            queue=False,
        )
        for probing in asked:
            self.stderr.write(f"Asking the probes of {probing.kind} …")
            probings.work(probing.pk, uuid4())
            probing.refresh_from_db()
            if probing.state != Probing.State.DONE:
                raise prompts.problem(
                    f"The probes of {probing.kind} could not be asked: "
                    f"{in_english(probing.error) if probing.error else 'another worker is at it'}"
                )


class _Judge(NamedTuple):
    """The judge of one kind that is set up now; ``reasons`` say why it is not certified."""

    kind: str
    certificate: JudgeCertificate | None
    reasons: list[Fact]
    attempts: attempts.Attempts

    @property
    def certified(self) -> bool:
        return not self.reasons


def _judge(project: Project, kind: str, texts: dict[str, str], *, compare: bool) -> _Judge:
    probing = probings.asked_last(project, kind, texts)
    sha256 = probing.judge_sha256
    if compare:
        try:
            certificates.attempt(probing, by=acting.person())
        except certificates.NothingToCompute as problem:
            # a certificate over an earlier sample cannot be: that sample would be compared
            tried = attempts.of_judge(project, kind, sha256)
            known = certificates.newest(project.pk, kind, sha256)
            return _Judge(kind, known, [problem.fact], tried)
    certificate = certificates.newest(project.pk, kind, sha256)
    if certificate is None:
        reasons = [certificates.missing(project, kind, sha256)]
    elif certificate.sample_id is None:
        reasons = [certificates.NEEDS_LEVEL]
    else:
        reasons = certificates.reasons_of(certificate)
    return _Judge(kind, certificate, reasons, attempts.of_judge(project, kind, sha256))


def _as_json(judge: _Judge) -> dict[str, Any]:
    return {
        "kind": judge.kind,
        "certified": judge.certified,
        "reasons": [{"code": why.code, "reason": in_english(why)} for why in judge.reasons],
        "attempts": judge.attempts,
    }


def _table(judges: Sequence[_Judge]) -> Table:
    table = Table(title="Judges")
    names = ("kind", "result", "attempt", "probes", "n", "judge − people", "95 %")
    for name in (*names, "κ", "95 %", "ρ", "MAE"):
        table.add_column(name, justify="left" if name in ("kind", "result") else "right")
    for judge in judges:
        result = "certified" if judge.certified else "refused" if judge.certificate else "not yet"
        certificate = judge.certificate
        if certificate is None:
            table.add_row(judge.kind, result, *["–"] * 9)
            continue
        compared = certificate.comparison
        table.add_row(
            judge.kind,
            result,
            str(certificate.attempt or "–"),
            f"{compared['probes_held']}/{compared['probes_asked']}",
            str(certificate.n),
            _figure(certificate.bias),
            _interval(certificate.bias_low, certificate.bias_high),
            _figure(certificate.kappa),
            _interval(certificate.ci_low, certificate.ci_high),
            _figure(certificate.spearman),
            _figure(certificate.mae),
        )
    return table


def _attempts_table(judges: Sequence[_Judge]) -> Table:
    table = Table(title="Every attempt, the newest first")
    for name in ("kind", "what", "date", "who", "came of it"):
        table.add_column(name)
    for judge in judges:
        for compared in judge.attempts["comparisons"]:
            result = "certified" if compared["passed"] else "; ".join(compared["reasons"])
            if compared["sample"] is None:
                result += " (before samples: no longer valid)"
            what = f"comparison {compared['attempt'] or ''} on sample {compared['sample'] or '–'}"
            table.add_row(judge.kind, what, compared["at"][:16], compared["by"] or "–", result)
        for sample in judge.attempts["samples"]:
            result = f"{sample['state']}, {sample['rated']}/{sample['size']} rated"
            result += f", {sample['rated_twice']} by two, of run {sample['run']}"
            result += f": {sample['reason']}" if sample["reason"] else ""
            what = f"sample {sample['sample']} drawn"
            drawn = sample["drawn_at"][:16], sample["drawn_by"] or "–"
            table.add_row(judge.kind, what, *drawn, result)
        for tried in judge.attempts["probes"]:
            result = f"{tried['state']}, {tried['counted']} of {tried['replies']} replies count"
            asked = tried["at"][:16], tried["by"] or "–"
            table.add_row(judge.kind, "probes asked", *asked, result)
    return table


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None else f"{_figure(low)} to {_figure(high)}"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:z.2f}"
