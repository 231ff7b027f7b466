"""Certificates of judges: computed once people have rated a sample, and asked by the gate.

A certificate belongs to one model with its settings, prompt and parser, and to what the server
called the model. A judge in which any of them differs has none. Each sample gives a judge one
attempt, on the answers of all complete samples so far: a refusal stays in every later figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from django.conf import settings
from django.db import IntegrityError, transaction

from evaluation import probes
from evaluation.metrics.gate import NO_CERTIFICATE
from evaluation.metrics.judges import (
    JudgeAgreement,
    PeopleAgreement,
    Requirements,
    disagreements,
    judge_agreement,
    people_agreement,
)
from evaluation.models import (
    AnswerRating,
    AnswerSample,
    JudgeCertificate,
    Judgement,
    Judging,
    Probing,
    Run,
    SampledAnswer,
)
from evaluation.services.judging import judgings, samples
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.uncertainty import LEVEL
from labeling.models import Project
from labeling.services import events
from labeling.words import in_english

NOT_JUDGED = Fact("certificate.not_judged")
CHANGED = Fact("certificate.other_judge")
NOT_PROBED = Fact("certificate.not_probed")
OLD_PROBES = Fact("certificate.old_probes")
NEEDS_LEVEL = Fact("certificate.needs_level")
NO_SAMPLE = Fact("certificate.no_sample")
DUE = Fact("certificate.due")
UP_TO_DATE = Fact("certificate.up_to_date")


class NothingToCompute(RuleError):
    """The probes were not asked to the end, or no sample is complete: ``fact`` says which."""

    code = "judge_not_comparable"


@dataclass(frozen=True, slots=True)
class Compared:
    """Judge and people over the answers of complete samples; ``failed``: the judge gave none."""

    agreement: JudgeAgreement
    people: PeopleAgreement
    raters: int
    failed: int
    samples: Sequence[int]


class Standing(NamedTuple):
    """Whether a judged figure may decide; ``why`` says what is missing if it may not."""

    certificate: JudgeCertificate | None
    why: Fact | None = None


def requirements() -> Requirements:
    return Requirements(
        settings.JUDGE_MIN_RATED,
        settings.JUDGE_MIN_TWICE,
        settings.JUDGE_MAX_BIAS,
        settings.JUDGE_MIN_KAPPA,
        settings.JUDGE_MIN_KAPPA_LOW,
        settings.JUDGE_MIN_PROBES,
    )


# --- computing ---


def attempt(probing: Probing, *, by: Any) -> JudgeCertificate:
    """Compare the judge of this probing with people on all complete samples.

    What it got for the newest sample already is returned as it is: looking again does not count as
    an attempt.
    """
    project, kind, sha256 = probing.project, probing.kind, probing.judge_sha256
    first = first_replies(probing)
    if any(probe.id not in first for probe in probes.load().of(kind)):
        raise NothingToCompute(NOT_PROBED)
    judged = _judged_samples(project, kind, sha256)
    known = _newest_of(probing, judged[-1])
    if known:
        return known
    marked = probes.marked(kind, first)
    number = _attempt_number(project, kind, sha256)
    level = 1 - (1 - LEVEL) / number
    compared = compare(judged, sha256, probing.served_model, level=level)
    certificate = _certificate(probing, compared, marked, sample=judged[-1], number=number, by=by)
    try:
        with transaction.atomic():
            certificate.save(force_insert=True)
            verb = "judge.certified" if certificate.passed else "judge.refused"
            events.record(
                verb, certificate, project=project, actor=by, kind=kind, judge=sha256[:12]
            )
    except IntegrityError:  # somebody else computed it just now
        return JudgeCertificate.objects.get(
            sample=judged[-1],
            judge_sha256=sha256,
            served_model=probing.served_model,
            probes_version=probing.probes_version,
        )
    return certificate


def _certificate(
    probing: Probing,
    compared: Compared,
    marked: list[probes.MarkedProbe],
    *,
    sample: AnswerSample,
    number: int,
    by: Any,
) -> JudgeCertificate:
    asked, agreement = requirements(), compared.agreement
    reasons = list(_shortcomings(marked, compared, asked))
    return JudgeCertificate(
        project=probing.project,
        judge_sha256=probing.judge_sha256,
        kind=probing.kind,
        model=probing.model,
        served_model=probing.served_model,
        prompt_sha256=probing.prompt_sha256,
        parser_version=probing.parser_version,
        probes_version=probing.probes_version,
        sample=sample,
        attempt=number,
        n=agreement.n,
        bias=agreement.bias,
        bias_low=agreement.bias_low,
        bias_high=agreement.bias_high,
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


def attempt_all(sample: AnswerSample, *, by: Any) -> list[JudgeCertificate]:
    """Of every judge that has judged the sample and was asked the probes; after it was closed."""
    project = sample.panel.run.release.project
    field = f"spec__prompts__{sample.kind}__judge_sha256"
    judges = Judging.objects.filter(run=sample.panel.run_id, cancelled=False)
    issued = []
    for sha256 in judges.order_by().values_list(field, flat=True).distinct():
        probing = last_probing(project, sample.kind, sha256)
        if probing is not None:
            try:
                issued.append(attempt(probing, by=by))
            except NothingToCompute:
                continue  # asked later, by the lead: the page of the judge says what is missing
    return issued


def last_probing(project: Project, kind: str, judge_sha256: str) -> Probing | None:
    rows = Probing.objects.filter(project=project, kind=kind, judge_sha256=judge_sha256)
    return rows.filter(state=Probing.State.DONE).order_by("-pk").first()


def first_replies(probing: Probing) -> dict[str, probes.ProbeReply]:
    """What this judge said of each probe the first time, also where that asking broke off."""
    return replies_that_count(_same_judge(probing))


def replies_that_count(probings: Iterable[Probing]) -> dict[str, probes.ProbeReply]:
    """The oldest reply to each probe; ``probings`` are of one judge, the oldest first."""
    first: dict[str, probes.ProbeReply] = {}
    for probing in probings:
        for reply in probing.results:
            first.setdefault(reply["id"], reply)
    return first


def _same_judge(probing: Probing) -> list[Probing]:
    rows = Probing.objects.filter(
        project=probing.project_id,
        kind=probing.kind,
        judge_sha256=probing.judge_sha256,
        served_model=probing.served_model,
        probes_version=probing.probes_version,
    )
    return list(rows.order_by("pk"))


def _judged_samples(project: Project, kind: str, sha256: str) -> list[AnswerSample]:
    """The complete samples that this judge has judged to the end, the oldest first."""
    closed = list(samples.complete(project.pk, kind).select_related("panel"))
    if not closed:
        raise NothingToCompute(_why_no_sample(project, kind))
    rows = Judgement.objects.filter(
        kind=kind, **{f"judging__spec__prompts__{kind}__judge_sha256": sha256}
    )
    ended = rows.filter(state__in=[Judgement.State.DONE, Judgement.State.FAILED])
    missing = set(
        SampledAnswer.objects.filter(sample__in=closed)
        .exclude(answer__in=ended.values("answer"))
        .order_by()
        .values_list("sample", flat=True)
    )
    judged = [sample for sample in closed if sample.pk not in missing]
    if not judged:
        raise NothingToCompute("certificate.sample_not_judged", run=closed[-1].panel.run_id)
    return judged


def _why_no_sample(project: Project, kind: str) -> Fact:
    opened = _open_sample(project, kind)
    return _rated_so_far(opened) if opened else NO_SAMPLE


def _open_sample(project: Project, kind: str) -> AnswerSample | None:
    opened = samples.of_project(project.pk).filter(kind=kind, closed_at=None)
    return opened.select_related("panel").first()


def _rated_so_far(sample: AnswerSample) -> Fact:
    (done,) = samples.progress([sample])
    return Fact(
        "certificate.sample_open", rated=done.rated, size=done.size, run=sample.panel.run_id
    )


def _newest_of(probing: Probing, sample: AnswerSample) -> JudgeCertificate | None:
    rows = JudgeCertificate.objects.filter(sample=sample, judge_sha256=probing.judge_sha256)
    return rows.filter(
        served_model=probing.served_model, probes_version=probing.probes_version
    ).first()


def _attempt_number(project: Project, kind: str, sha256: str) -> int:
    """Each further one has narrower odds of passing by chance: its intervals are wider."""
    rows = JudgeCertificate.objects.filter(project=project, kind=kind, judge_sha256=sha256)
    tried = rows.filter(sample__isnull=False).count()
    return 1 + tried + samples.of_project(project.pk).filter(kind=kind, given_up=True).count()


def compare(
    judged: Sequence[AnswerSample], sha256: str, served_model: str, *, level: float = LEVEL
) -> Compared:
    """The mean of an answer's raters beside the first score of this judge."""
    kind = judged[0].kind
    drawn = SampledAnswer.objects.filter(sample__in=judged)
    rows = AnswerRating.objects.filter(kind=kind, answer__in=drawn.order_by().values("answer"))
    people: dict[str, dict[int, list[float]]] = {}
    raters = set()
    for answer, conversation, rater, score in rows.values_list(
        "answer", "answer__case__item__conversation", "rater", "score"
    ).order_by("answer", "rater"):
        people.setdefault(str(conversation), {}).setdefault(answer, []).append(score)
        raters.add(rater)
    scores, failed = _scores(drawn, kind, sha256, served_model)
    pairs = {
        name: [
            (scores[answer], sum(said) / len(said))
            for answer, said in answers.items()
            if answer in scores
        ]
        for name, answers in people.items()
    }
    return Compared(
        judge_agreement(pairs, level=level),
        people_agreement({name: list(answers.values()) for name, answers in people.items()}),
        len(raters),
        failed,
        [sample.pk for sample in judged],
    )


def _scores(
    drawn: Any, kind: str, judge_sha256: str, served_model: str
) -> tuple[dict[int, float], int]:
    """By answer; and on how many answers the judge gave no score that counts."""
    answers = list(drawn.order_by().values_list("answer", flat=True).distinct())
    rows = Judgement.objects.filter(
        kind=kind, **{f"judging__spec__prompts__{kind}__judge_sha256": judge_sha256}
    ).filter(answer__in=drawn.order_by().values("answer"))
    scored = rows.filter(score__isnull=False, model=served_model).order_by("-pk")
    scores = dict(scored.values_list("answer", "score"))  # the oldest is read last
    return scores, len(answers) - len(scores)


def _comparison(
    compared: Compared, marked: list[probes.MarkedProbe], asked: Requirements
) -> dict[str, Any]:
    return {
        **compared.agreement.as_json(),
        "samples": list(compared.samples),
        "raters": compared.raters,
        "people": compared.people.as_json(),
        "judge_failures": compared.failed,
        "probes_held": sum(probe["held"] for probe in marked),
        "probes_asked": len(marked),
        "required": asdict(asked),
    }


def _shortcomings(
    marked: Sequence[probes.MarkedProbe], compared: Compared, asked: Requirements
) -> Iterable[Fact]:
    """Why the judge gets no certificate; nothing if it does."""
    passed = sum(probe["held"] for probe in marked)
    if passed < asked.probes * len(marked):
        first = next(probe["trick"] for probe in marked if not probe["held"])
        trick = Fact(f"probe.{probes.TRICKS[first]}")
        yield Fact("certificate.probes_failed", held=passed, asked=len(marked), trick=trick)
    yield from disagreements(compared.agreement, compared.failed, asked)


# --- asking ---


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
        passed = rows.filter(kind=metric, passed=True, sample__isnull=False)
        return Standing(None, CHANGED if passed.exists() else _what_is_next(run, metric, judging))
    if not certificate.passed:
        return Standing(None, why_refused(certificate))
    if certificate.sample_id is None:
        return Standing(None, NEEDS_LEVEL)
    if certificate.probes_version != probes.load().version:
        return Standing(None, OLD_PROBES)
    earned = systems_of([certificate])[certificate.pk]
    if system_of(run) not in earned:
        named = ", ".join(sorted(pipeline for pipeline, _layer in earned))
        return Standing(
            None, Fact("certificate.other_system", pipeline=run.pipeline, certified=named)
        )
    return _of_served(certificate, judging.pk, metric)


System = tuple[str, str]
"""A pipeline and the layer that it was asked for: a certificate decides for no other."""


def system_of(run: Run) -> System:
    return run.pipeline, run.release.layer


def systems_of(rows: Iterable[JudgeCertificate]) -> dict[int, set[System]]:
    """Those whose answers people rated, by certificate; in one query."""
    resting = {row.pk: row.comparison.get("samples") or [row.sample_id] for row in rows}
    wanted = {sample for numbers in resting.values() for sample in numbers}
    drawn = AnswerSample.objects.filter(pk__in=wanted).values_list(
        "pk", "panel__run__pipeline", "panel__run__release__layer"
    )
    systems = {pk: (pipeline, layer) for pk, pipeline, layer in drawn}
    return {
        pk: {systems[sample] for sample in numbers if sample in systems}
        for pk, numbers in resting.items()
    }


def _what_is_next(run: Run, metric: str, judging: Judging) -> Fact:
    sha256 = judging.spec["prompts"].get(metric, {}).get("judge_sha256", "")
    step = missing(run.release.project, metric, sha256)
    return NO_CERTIFICATE if step == NOT_PROBED else Fact("certificate.not_yet", next=step)


def missing(project: Project, kind: str, judge_sha256: str) -> Fact:
    """What has to be done before this judge can be compared with people on a new sample."""
    probing = last_probing(project, kind, judge_sha256)
    if probing is None:
        return NOT_PROBED
    try:
        judged = _judged_samples(project, kind, judge_sha256)
    except NothingToCompute as problem:
        return problem.fact
    if not _newest_of(probing, judged[-1]):
        return DUE
    opened = _open_sample(project, kind)
    return _rated_so_far(opened) if opened else UP_TO_DATE


def looked_at(run: Run, metric: str) -> JudgeCertificate | None:
    """The newest attempt of the judge of this run, whether or not it was certified."""
    judging = judgings.counting(run)
    prompt = (judging.spec["prompts"] if judging else {}).get(metric)
    return newest(run.release.project_id, metric, prompt["judge_sha256"]) if prompt else None


FIGURES = (
    "n", "bias", "bias_low", "bias_high", "kappa", "ci_low", "ci_high", "spearman", "mae",
    "attempt",
)  # fmt: skip


def as_json(run: Run, metric: str) -> dict[str, Any]:
    """What is shown with a judged figure: whether it may decide, and how its judge did."""
    standing, looked = certificate_for(run, metric), looked_at(run, metric)
    return {
        "certified": standing.certificate is not None,
        "reason": in_english(standing.why) if standing.why else None,
        **{name: getattr(looked, name) if looked else None for name in FIGURES},
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


def distances(run: Run, kind: str, values: Mapping[int, float]) -> dict[str, list[float]]:
    """Judge minus people by conversation, for the answers of the run's complete samples.

    ``values`` are the judge's scores by case.
    """
    closed = samples.complete(run.release.project_id, kind).filter(panel__run=run)
    drawn = SampledAnswer.objects.filter(sample__in=closed).order_by().values("answer")
    rows = AnswerRating.objects.filter(kind=kind, answer__in=drawn)
    said: dict[tuple[str, int], list[int]] = {}
    for conversation, case, score in rows.order_by("answer", "rater").values_list(
        "answer__case__item__conversation", "answer__case", "score"
    ):
        if case in values:
            said.setdefault((str(conversation), case), []).append(score)
    apart: dict[str, list[float]] = {}
    for (name, case), scores in said.items():
        apart.setdefault(name, []).append(values[case] - sum(scores) / len(scores))
    return apart
