"""Certificates of judges: issued where probes and people bear a judge out, and asked by the gate.

A certificate belongs to one model with its settings, prompt and parser, and to what the server
called the model. A judge in which any of them differs has none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from evaluation import probes
from evaluation.metrics.gate import NO_CERTIFICATE
from evaluation.metrics.judges import JudgeAgreement, judge_agreement
from evaluation.models import AnswerRating, JudgeCertificate, Judgement, Probing, Run
from evaluation.services.judging import judgings
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.numbers import decimals_apart
from labeling.models import Project
from labeling.services import events
from labeling.words import in_english

NOT_JUDGED = Fact("certificate.not_judged")
CHANGED = Fact("certificate.other_judge")
NOT_PROBED = Fact("certificate.not_probed")
OLD_PROBES = Fact("certificate.old_probes")


class NotLookedAt(RuleError):
    """The probes were not asked to the end, so there is nothing to certify."""

    code = "judge_not_probed"


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a judge has to reach."""

    rated: int
    kappa: float
    kappa_low: float
    probes: float


class Compared(NamedTuple):
    """Judge and people over the answers of a project that both scored."""

    agreement: JudgeAgreement
    raters: int
    failed: int
    """Rated answers on which the judge failed."""


class Standing(NamedTuple):
    """Whether a judged figure may decide; ``why`` says what is missing if it may not."""

    certificate: JudgeCertificate | None
    why: Fact | None = None


def requirements() -> Requirements:
    return Requirements(
        settings.JUDGE_MIN_RATED,
        settings.JUDGE_MIN_KAPPA,
        settings.JUDGE_MIN_KAPPA_LOW,
        settings.JUDGE_MIN_PROBES,
    )


def look(probing: Probing, *, by: Any) -> JudgeCertificate:
    """Compare with people as of now, and keep what comes of it together with the probes."""
    if probing.state != Probing.State.DONE:
        raise NotLookedAt(NOT_PROBED)
    marked = probes.marked(probing.kind, {result["id"]: result for result in probing.results})
    compared = compare(probing.project, probing.kind, probing.judge_sha256, probing.served_model)
    asked = requirements()
    reasons = list(_shortcomings(marked, compared, asked))
    agreement = compared.agreement
    with transaction.atomic():
        certificate = JudgeCertificate.objects.create(
            project=probing.project,
            judge_sha256=probing.judge_sha256,
            kind=probing.kind,
            model=probing.model,
            served_model=probing.served_model,
            prompt_sha256=probing.prompt_sha256,
            parser_version=probing.parser_version,
            probes_version=probing.probes_version,
            n=agreement.n,
            kappa=agreement.kappa,
            ci_low=agreement.kappa_low,
            ci_high=agreement.kappa_high,
            spearman=agreement.spearman,
            mae=agreement.mae,
            comparison=_comparison(compared, marked, asked),
            probes=marked,
            passed=not reasons,
            reasons=[reason.as_json() for reason in reasons],
            issued_by=by,
        )
        verb = "judge.certified" if certificate.passed else "judge.refused"
        values = {"kind": probing.kind, "judge": probing.judge_sha256[:12]}
        events.record(verb, certificate, project=probing.project, actor=by, **values)
    return certificate


def _comparison(
    compared: Compared, marked: list[probes.MarkedProbe], asked: Requirements
) -> dict[str, Any]:
    return {
        **compared.agreement.as_json(),
        "raters": compared.raters,
        "judge_failures": compared.failed,
        "probes_held": sum(probe["held"] for probe in marked),
        "probes_asked": len(marked),
        "required": asdict(asked),
    }


def compare(project: Project, kind: str, judge_sha256: str, served_model: str) -> Compared:
    """The mean of an answer's raters beside the newest score of this judge."""
    rows = AnswerRating.objects.filter(kind=kind, answer__case__run__release__project=project)
    by_answer: dict[int, list[int]] = {}
    where: dict[int, str] = {}
    raters = set()
    for answer, conversation, rater, score in rows.values_list(
        "answer", "answer__case__item__conversation", "rater", "score"
    ).order_by("answer", "rater"):
        by_answer.setdefault(answer, []).append(score)
        where[answer] = str(conversation)
        raters.add(rater)
    scores, failed = _scores(rows, kind, judge_sha256, served_model)
    pairs: dict[str, list[tuple[float, float]]] = {}
    for answer, people in by_answer.items():
        if answer in scores:
            pair = scores[answer], sum(people) / len(people)
            pairs.setdefault(where[answer], []).append(pair)
    return Compared(judge_agreement(pairs), len(raters), failed)


def _scores(
    rated: QuerySet[AnswerRating], kind: str, judge_sha256: str, served_model: str
) -> tuple[dict[int, float], int]:
    """By answer; and on how many answers the judge failed and never gave a score."""
    rows = Judgement.objects.filter(kind=kind, answer__in=rated.order_by().values("answer"))
    rows = rows.filter(**{f"judging__spec__prompts__{kind}__judge_sha256": judge_sha256})
    scored = rows.filter(score__isnull=False, model=served_model).order_by("pk")
    scores = dict(scored.values_list("answer", "score"))
    failures = rows.filter(state=Judgement.State.FAILED).exclude(answer__in=list(scores))
    return scores, failures.values("answer").distinct().count()


def _shortcomings(
    marked: list[probes.MarkedProbe], compared: Compared, asked: Requirements
) -> Iterable[Fact]:
    passed = sum(probe["held"] for probe in marked)
    if passed < asked.probes * len(marked):
        first = next(probe["trick"] for probe in marked if not probe["held"])
        trick = Fact(f"probe.{probes.TRICKS[first]}")
        yield Fact("certificate.probes_failed", held=passed, asked=len(marked), trick=trick)
    agreement = compared.agreement
    if agreement.n < asked.rated:
        yield Fact("certificate.too_few_rated", n=agreement.n, rated=asked.rated)
    elif agreement.kappa is None:
        yield Fact("certificate.agreement_undefined", why=agreement.undefined)
    else:
        yield from _disagreements(agreement, asked)
    if agreement.n and compared.failed > agreement.n * FAILURES_BORNE:
        yield Fact("certificate.judge_failed", failed=compared.failed, n=agreement.n)


FAILURES_BORNE = 0.05
"""For each rated answer that it scored; what a judge leaves out must not make it look better."""


def _disagreements(agreement: JudgeAgreement, asked: Requirements) -> Iterable[Fact]:
    if agreement.kappa is not None and agreement.kappa < asked.kappa:
        kappa = _distinct(agreement.kappa, asked.kappa)
        yield Fact("certificate.kappa_too_low", kappa=kappa, least=asked.kappa)
    if agreement.kappa_low is None:
        yield Fact("certificate.one_conversation")
    elif agreement.kappa_low < asked.kappa_low:
        low = _distinct(agreement.kappa_low, asked.kappa_low)
        yield Fact("certificate.kappa_may_be_low", low=low, least=asked.kappa_low)


def _distinct(value: float, least: float) -> float:
    return round(value, decimals_apart(value, least, 2)) + 0.0  # −0 becomes 0


def newest(project_id: int, kind: str, judge_sha256: str) -> JudgeCertificate | None:
    rows = JudgeCertificate.objects.filter(project=project_id, kind=kind)
    return rows.filter(judge_sha256=judge_sha256).order_by("-pk").first()


def certificate_for(run: Run, metric: str) -> Standing:
    """Of the judge that judged the answers of this run in this respect."""
    judging = judgings.counting(run)
    if judging is None:
        return Standing(None, NOT_JUDGED)
    certificate = looked_at(run, metric)
    if certificate is None:
        rows = JudgeCertificate.objects.filter(project=run.release.project_id)
        passed = rows.filter(kind=metric, passed=True)
        return Standing(None, CHANGED if passed.exists() else NO_CERTIFICATE)
    if not certificate.passed:
        return Standing(None, why_refused(certificate))
    if certificate.probes_version != probes.load().version:
        return Standing(None, OLD_PROBES)
    return _of_served(certificate, judging.pk, metric)


def looked_at(run: Run, metric: str) -> JudgeCertificate | None:
    """The newest look at the judge of this run, whether or not it was certified."""
    judging = judgings.counting(run)
    prompt = (judging.spec["prompts"] if judging else {}).get(metric)
    return newest(run.release.project_id, metric, prompt["judge_sha256"]) if prompt else None


def as_json(run: Run, metric: str) -> dict[str, Any]:
    """What is shown with a judged figure: whether it may decide, and how its judge did."""
    standing, looked = certificate_for(run, metric), looked_at(run, metric)
    names = ("n", "kappa", "ci_low", "ci_high", "spearman", "mae")
    return {
        "certified": standing.certificate is not None,
        "reason": in_english(standing.why) if standing.why else None,
        **{name: getattr(looked, name) if looked else None for name in names},
    }


def _of_served(certificate: JudgeCertificate, judging: int, metric: str) -> Standing:
    """A server may hand a name on to another model."""
    rows = Judgement.objects.filter(judging=judging, kind=metric, score__isnull=False)
    others = rows.exclude(model=certificate.served_model).order_by("pk")
    other = others.values_list("model", flat=True).first()
    if other is None:
        return Standing(certificate)
    why = Fact("certificate.other_model", served=other, certified=certificate.served_model)
    return Standing(None, why)


def reasons_of(certificate: JudgeCertificate) -> list[Fact]:
    return [Fact.from_json(reason) for reason in certificate.reasons]


def why_refused(certificate: JudgeCertificate) -> Fact:
    """The first reason, which is what has to be done first."""
    return Fact("certificate.refused", reason=reasons_of(certificate)[0])
