"""Certificates of judges: computed once people have rated a sample, and asked by the gate.

A certificate belongs to one model with its settings, prompt and parser, and to what the server
called the model. A judge in which any of them differs has none. Each sample gives a judge one
attempt, on the answers of all complete samples so far: a refusal stays in every later figure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction

from evaluation.metrics.gate import JUDGED, NO_CERTIFICATE
from evaluation.metrics.judges import (
    REQUIRED,
    disagreements,
    judge_agreement,
    people_agreement,
)
from evaluation.models import (
    Aggregate,
    JudgeCertificate,
    Judgement,
    Judging,
    RatedPlace,
    Rating,
    RatingSample,
    Run,
)
from evaluation.services.judging import judgings, samples
from labeling.core import events
from labeling.domain.facts import Fact
from labeling.domain.uncertainty import LEVEL
from labeling.words import in_english

NOT_JUDGED = Fact("certificate.not_judged")
CHANGED = Fact("certificate.other_judge")
NO_SAMPLE = Fact("certificate.no_sample")
DUE = Fact("certificate.due")
UP_TO_DATE = Fact("certificate.up_to_date")

CERTIFIED, LOOKED, UNKNOWN = "certified", "looked", "unknown"
"""May decide; was compared with people, but has no certificate; nobody has compared it yet."""
WORST_LAST = (CERTIFIED, LOOKED, UNKNOWN)

OF_AGREEMENT = ("n", "bias", "bias_low", "bias_high", "kappa", "spearman", "mae")
FIGURES = (*OF_AGREEMENT[:5], "ci_low", "ci_high", *OF_AGREEMENT[5:], "attempt")


class Judge(NamedTuple):
    """One model with its settings, one prompt and one parser, in a project."""

    project: int
    kind: str
    sha256: str


class Figure(NamedTuple):
    """One judged metric of a run."""

    run: int
    metric: str


class Standing(NamedTuple):
    """Whether a judged figure may decide; ``why`` says what is missing if it may not.

    ``looked``: the newest attempt of its judge, whether or not that was certified.
    """

    looked: JudgeCertificate | None
    why: Fact | None = None

    @property
    def mark(self) -> str:
        if self.why is None:
            return CERTIFIED
        return LOOKED if self.looked and self.looked.n else UNKNOWN


# --- computing ---


def attempt(judge: Judge, *, by: Any) -> JudgeCertificate | None:
    """Compare a judge with people on all complete samples; None: it has judged none of them.

    What it got for the newest sample already is returned as it is: looking again does not count as
    an attempt.
    """
    judged = _judged_samples(judge)
    if not judged:
        return None
    same: dict[str, Any] = {"sample": judged[-1], "judge_sha256": judge.sha256}
    same["served_model"] = _served_on(judged[-1], judge)
    known = JudgeCertificate.objects.filter(**same).first()
    if known:
        return known
    certificate = _certificate(judge, judged, by=by, **same)
    try:
        with transaction.atomic():
            certificate.save(force_insert=True)
            verb = "judge.certified" if certificate.passed else "judge.refused"
            told = {"kind": judge.kind, "judge": judge.sha256[:12]}
            events.record(verb, certificate, project=certificate.project, actor=by, **told)
    except IntegrityError:  # somebody else computed it just now
        return JudgeCertificate.objects.get(**same)
    return certificate


def _certificate(
    judge: Judge, judged: Sequence[RatingSample], *, by: Any, served_model: str, **same: Any
) -> JudgeCertificate:
    """The mean of an answer's raters beside the first score of this judge."""
    number = _attempt_number(judge)
    people, raters = _said_by_people(judged, judge.kind)
    scores, failed = _scores(judged, judge, served_model)
    pairs = {
        name: [
            (scores[case], sum(said) / len(said)) for case, said in cases.items() if case in scores
        ]
        for name, cases in people.items()
    }
    agreement = judge_agreement(pairs, level=1 - (1 - LEVEL) / number)
    of_people = people_agreement({name: list(cases.values()) for name, cases in people.items()})
    reasons = list(disagreements(agreement, failed, REQUIRED))
    judging = _judgings_by(judge).select_related("run__release__project").order_by("-pk")[0]
    return JudgeCertificate(
        project=judging.run.release.project,
        kind=judge.kind,
        model=judging.model,
        served_model=served_model,
        prompt_sha256=judging.spec["prompts"][judge.kind]["sha256"],
        parser_version=judging.parser_version,
        attempt=number,
        **{name: getattr(agreement, name) for name in OF_AGREEMENT},
        ci_low=agreement.kappa_low,
        ci_high=agreement.kappa_high,
        comparison={
            **asdict(agreement),
            "samples": [sample.pk for sample in judged],
            "raters": raters,
            "people": asdict(of_people),
            "judge_failures": failed,
            "required": asdict(REQUIRED),
        },
        passed=not reasons,
        reasons=[reason.as_json() for reason in reasons],
        issued_by=by,
        **same,
    )


def attempt_all(sample: RatingSample, *, by: Any) -> list[JudgeCertificate]:
    """Of every judge that has judged the sample; after it was closed."""
    project, field = sample.panel.run.release.project_id, _sha256_of(sample.kind)
    of_run = Judging.objects.filter(run=sample.panel.run_id, cancelled=False).order_by()
    hashes = of_run.values_list(field, flat=True).distinct()
    return _attempts((Judge(project, sample.kind, sha256) for sha256 in hashes), by)


def attempt_judges_of(run: Run) -> None:
    """Of the judges of a run that was just scored, on the samples that were complete before."""
    judging = judgings.counting(run)
    if judging:
        prompts = judging.spec["prompts"]
        project = run.release.project_id
        known = (
            Judge(project, kind, prompts[kind]["judge_sha256"]) for kind in JUDGED & {*prompts}
        )
        _attempts(known, judging.requested_by)


def _attempts(judges: Iterable[Judge], by: Any) -> list[JudgeCertificate]:
    made = [attempt(judge, by=by) for judge in judges]
    return [certificate for certificate in made if certificate is not None]


def _sha256_of(kind: str) -> str:
    return f"spec__prompts__{kind}__judge_sha256"


def _judgings_by(judge: Judge) -> Any:
    of_project = Judging.objects.filter(run__release__project=judge.project)
    return of_project.filter(**{_sha256_of(judge.kind): judge.sha256})


def _judgements_by(judge: Judge) -> Any:
    """Of any project: the same judge says the same."""
    of_judge = {f"judging__{_sha256_of(judge.kind)}": judge.sha256}
    return Judgement.objects.filter(kind=judge.kind, **of_judge)


def _served_on(sample: RatingSample, judge: Judge) -> str:
    """What the server called the model that has judged this sample last."""
    drawn = sample.places.order_by().values("case")
    rows = _judgements_by(judge).filter(answer__case__in=drawn, score__isnull=False)
    return str(rows.order_by("-pk").values_list("model", flat=True).first() or "")


def _judged_samples(judge: Judge) -> list[RatingSample]:
    """The complete samples that this judge has judged to the end, the oldest first."""
    closed = list(samples.complete(judge.project, judge.kind).select_related("panel"))
    if not closed:
        return []
    ended = _judgements_by(judge).filter(state__in=[Judgement.State.DONE, Judgement.State.FAILED])
    missing = set(
        RatedPlace.objects.filter(sample__in=closed)
        .exclude(case__in=ended.values("answer__case"))
        .order_by()
        .values_list("sample", flat=True)
    )
    return [sample for sample in closed if sample.pk not in missing]


def _attempt_number(judge: Judge) -> int:
    """Each further one has narrower odds of passing by chance: its intervals are wider."""
    given_up = samples.of_project(judge.project).filter(kind=judge.kind, given_up=True)
    return 1 + of_judge(judge).count() + given_up.count()


Ratings = dict[str, dict[int, list[int]]]
"""By conversation and case, what its raters say."""


def _said_by_people(samples: Iterable[RatingSample], kind: str) -> tuple[Ratings, int]:
    """With the number of raters."""
    drawn = RatedPlace.objects.filter(sample__in=samples).order_by().values("case")
    rows = Rating.objects.filter(kind=kind, case__in=drawn).order_by("case", "rater")
    people: Ratings = {}
    raters = set()
    fields = ("case", "case__item__conversation", "rater", "score")
    for case, conversation, rater, score in rows.values_list(*fields):
        people.setdefault(str(conversation), {}).setdefault(case, []).append(score)
        raters.add(rater)
    return people, len(raters)


def _scores(
    judged: Sequence[RatingSample], judge: Judge, served_model: str
) -> tuple[dict[int, float], int]:
    """By case; and on how many answers the judge gave no score that counts."""
    drawn = RatedPlace.objects.filter(sample__in=judged).order_by().values("case")
    rows = _judgements_by(judge).filter(answer__case__in=drawn)
    scored = rows.filter(score__isnull=False, model=served_model).order_by("-pk")
    scores = dict(scored.values_list("answer__case", "score"))  # the oldest is read last
    return scores, drawn.distinct().count() - len(scores)


# --- asking ---


def of_judge(judge: Judge) -> Any:
    """Its attempts, the newest first: that one holds the most answers, and counts."""
    rows = JudgeCertificate.objects.filter(project=judge.project, kind=judge.kind)
    return rows.filter(judge_sha256=judge.sha256, sample__isnull=False).order_by("-pk")


def standings(runs: Collection[int]) -> dict[Figure, Standing]:
    """What the judge of every judged figure is worth; in a constant number of queries."""
    aggregates = Aggregate.objects.filter(run__in=runs, metric__in=JUDGED, detail__has_key="judge")
    field = "detail__judge__"
    rows = aggregates.order_by("pk").values_list(
        "run", "metric", "run__release__project", f"{field}judge_sha256", f"{field}judging",
        "run__pipeline", "run__release__layer",
    )  # fmt: skip
    judged = {
        Figure(run, metric): (Judge(project, metric, sha256), judging, (pipeline, layer))
        for run, metric, project, sha256, judging, pipeline, layer in rows
    }
    looks = newest({judge for judge, _judging, _system in judged.values()})
    earned = systems_of(looks.values())
    passed = {
        judging for judge, judging, _ in judged.values() if judge in looks and looks[judge].passed
    }
    served = _served(passed)
    return {
        figure: _standing(
            looks.get(judge), earned, system, served.get((judging, judge.kind), set())
        )
        for figure, (judge, judging, system) in judged.items()
    }


def marks(runs: Collection[int]) -> dict[Figure, str]:
    return {figure: standing.mark for figure, standing in standings(runs).items()}


def _standing(
    look: JudgeCertificate | None,
    earned: Mapping[int, set[System]],
    system: System,
    served: set[str],
) -> Standing:
    if look is None:
        return Standing(None, NO_CERTIFICATE)
    if not look.passed:
        return Standing(look, Fact("certificate.refused", reason=reasons_of(look)[0]))
    if system not in earned[look.pk]:
        named = ", ".join(sorted(pipeline for pipeline, _layer in earned[look.pk]))
        return Standing(look, Fact("certificate.other_system", pipeline=system[0], certified=named))
    if others := sorted(served - {look.served_model}):  # a server may hand a name on
        told = {"served": others[0], "certified": look.served_model}
        return Standing(look, Fact("certificate.other_model", **told))
    return Standing(look)


def newest(judges: Collection[Judge]) -> dict[Judge, JudgeCertificate]:
    if not judges:
        return {}
    named = JudgeCertificate.objects.filter(judge_sha256__in={judge.sha256 for judge in judges})
    rows = named.filter(sample__isnull=False).order_by("pk")
    return {Judge(row.project_id, row.kind, row.judge_sha256): row for row in rows}


def _served(judgings: Collection[int]) -> dict[tuple[int, str], set[str]]:
    """By which models, as the server named them, each kind was judged."""
    if not judgings:
        return {}
    rows = Judgement.objects.filter(judging__in=judgings, score__isnull=False).order_by()
    models: dict[tuple[int, str], set[str]] = {}
    for judging, kind, model in rows.values_list("judging", "kind", "model").distinct():
        models.setdefault((judging, kind), set()).add(model)
    return models


def standing_of(run: Run, metric: str) -> Standing:
    """Of the judge of this figure; with what comes next where it was not compared yet."""
    standing = standings([run.pk]).get(Figure(run.pk, metric))
    judging = judgings.counting(run)
    if standing is None or judging is None:
        return Standing(None, NOT_JUDGED)
    if standing.looked is not None:
        return standing
    project = run.release.project_id
    passed = JudgeCertificate.objects.filter(project=project, kind=metric, passed=True)
    if passed.filter(sample__isnull=False).exists():
        return Standing(None, CHANGED)
    sha256 = judging.spec["prompts"].get(metric, {}).get("judge_sha256", "")
    step = missing(Judge(project, metric, sha256))
    return Standing(None, Fact("certificate.not_yet", next=step))


System = tuple[str, str]
"""A pipeline and the layer that it was asked for: a certificate decides for no other."""


def systems_of(rows: Iterable[JudgeCertificate]) -> dict[int, set[System]]:
    """Those whose answers people rated, by certificate; in one query."""
    resting = {row.pk: row.comparison.get("samples") or [row.sample_id] for row in rows}
    wanted = {sample for numbers in resting.values() for sample in numbers}
    drawn = RatingSample.objects.filter(pk__in=wanted).values_list(
        "pk", "panel__run__pipeline", "panel__run__release__layer"
    )
    systems = {pk: (pipeline, layer) for pk, pipeline, layer in drawn}
    return {
        pk: {systems[sample] for sample in numbers if sample in systems}
        for pk, numbers in resting.items()
    }


def missing(judge: Judge) -> Fact:
    """What has to be done before this judge can be compared with people on a new sample."""
    judged = _judged_samples(judge)
    if judged and not of_judge(judge).filter(sample=judged[-1]).exists():
        return DUE
    newest = samples.complete(judge.project, judge.kind).select_related("panel").last()
    if newest and not judged:
        return Fact("certificate.sample_not_judged", run=newest.panel.run_id)
    of_kind = samples.of_project(judge.project).filter(kind=judge.kind, closed_at=None)
    for done in samples.progress(of_kind.select_related("panel")[:1]):
        rated = {"rated": done.rated, "size": done.size, "run": done.sample.panel.run_id}
        return Fact("certificate.sample_open", **rated)
    return UP_TO_DATE if judged else NO_SAMPLE


def as_json(run: Run, metric: str) -> dict[str, Any]:
    """What is shown with a judged figure: whether it may decide, and how its judge did."""
    looked, why = standing_of(run, metric)
    return {
        "certified": why is None,
        "reason": in_english(why) if why else None,
        **{name: getattr(looked, name) if looked else None for name in FIGURES},
    }


def reasons_of(certificate: JudgeCertificate) -> list[Fact]:
    return [Fact.from_json(reason) for reason in certificate.reasons]


def distances(run: Run, kind: str, values: Mapping[int, float]) -> dict[str, list[float]]:
    """Judge minus people by conversation, for the answers of the run's complete samples.

    ``values`` are the judge's scores by case.
    """
    closed = samples.complete(run.release.project_id, kind).filter(panel__run=run)
    apart: dict[str, list[float]] = {}
    for name, cases in _said_by_people(closed, kind)[0].items():
        for case, scores in cases.items():
            if case in values:
                apart.setdefault(name, []).append(values[case] - sum(scores) / len(scores))
    return apart
