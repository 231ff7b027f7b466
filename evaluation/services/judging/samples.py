"""Samples of answers that people rate: drawn before anybody has rated them, complete or given up.

A judge is compared with people on complete samples alone, so that nobody can stop rating when the
figures happen to be good. Before a sample is closed no figure of it is computed.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from evaluation.metrics.answers import NO_REFERENCE
from evaluation.models import (
    Answer,
    AnswerPanel,
    AnswerRating,
    AnswerSample,
    Judgement,
    Run,
    SampledAnswer,
)
from evaluation.services.judging.panels import KINDS, RatingRefused, record
from labeling.domain.facts import Fact
from labeling.models import Project

DEFAULT_SIZE = 60
LONGEST_REASON = 500


class Progress(NamedTuple):
    """How far people are with a sample; ``twice`` are its answers with two raters or more."""

    sample: AnswerSample
    size: int
    rated: int
    twice: int
    raters: int

    @property
    def complete(self) -> bool:
        return self.rated == self.size

    @property
    def state(self) -> str:
        if self.sample.closed_at is None:
            return "open"
        return "given_up" if self.sample.given_up else "complete"

    @property
    def needs_reason(self) -> bool:
        """Whether people's own agreement stays unknown, which has to be explained."""
        return self.twice < settings.JUDGE_MIN_TWICE


def why_not_ratable(run: Run) -> Fact | None:
    """Why nobody can rate answers of this run; ``None`` if people can."""
    if not run.spec.has_answers:
        return Fact("rating.no_answers")
    if run.scored_at is None:
        return Fact("rating.answers_unfinished")
    if not _written(run).exists():
        return Fact("rating.no_answer_written")
    return None


def available(run: Run) -> dict[str, int]:
    """How many answers can be drawn for each kind: those that nobody has rated in it."""
    return {kind: len(_drawable(run, kind)) for kind in KINDS}


@transaction.atomic
def draw(
    run: Run, *, size: int = DEFAULT_SIZE, kinds: Collection[str] = KINDS, by: Any
) -> list[AnswerSample]:
    """A sample for each kind, by one seed that nobody chooses; all there are if that is less."""
    if problem := why_not_ratable(run):
        raise RatingRefused(problem, details={"run": run.pk})
    if size < 1:
        raise RatingRefused("sample.too_small")
    project = Project.objects.select_for_update().get(pk=run.release.project_id)
    opened = of_project(project.pk).filter(closed_at=None, kind__in=kinds)
    if blocking := opened.select_related("panel").first():
        raise RatingRefused("sample.one_is_open", kind=blocking.kind, run=blocking.panel.run_id)
    left = {kind: _drawable(run, kind) for kind in KINDS if kind in kinds}
    if not any(left.values()):
        raise RatingRefused("sample.nothing_left")
    panel, is_new = AnswerPanel.objects.get_or_create(run=run, defaults={"opened_by": by})
    if is_new:
        record("answers.rating_opened", panel, by)
    seed = secrets.randbelow(2**48)
    samples = [_store(panel, kind, answers, seed, size, by) for kind, answers in left.items()]
    drawn = [sample for sample in samples if sample is not None]
    names = ", ".join(sample.kind for sample in drawn)
    record("answers.sample_drawn", panel, by, kinds=names, size=size, seed=seed)
    return drawn


def _store(
    panel: AnswerPanel, kind: str, answers: list[int], seed: int, size: int, by: Any
) -> AnswerSample | None:
    if not answers:
        return None
    sample = AnswerSample.objects.create(
        panel=panel, kind=kind, seed=seed, drawn_from=len(answers), drawn_by=by
    )
    rows = [
        SampledAnswer(sample=sample, answer_id=pk, number=number)
        for number, pk in enumerate(drawn_by_seed(answers, seed)[:size], start=1)
    ]
    SampledAnswer.objects.bulk_create(rows, batch_size=500)
    return sample


def drawn_by_seed(answers: Iterable[int], seed: int) -> list[int]:
    """All of them in the order of the seed: each set of the first ``n`` is equally likely."""
    return sorted(answers, key=lambda pk: hashlib.sha256(f"{seed}:{pk}".encode()).digest())


def _drawable(run: Run, kind: str) -> list[int]:
    """Written, in no sample yet, and rated by nobody in this respect."""
    rows = _written(run).exclude(sampled__sample__kind=kind)
    rows = rows.exclude(pk__in=AnswerRating.objects.filter(kind=kind).values("answer"))
    if kind == "correctness":
        rows = rows.exclude(pk__in=_without_reference(run))
    return list(rows.values_list("pk", flat=True))


def _written(run: Run) -> QuerySet[Answer]:
    return Answer.objects.filter(case__run=run, state=Answer.State.DONE).order_by()


def _without_reference(run: Run) -> QuerySet[Judgement, int]:
    """Answers that have nothing to be compared with, as every judge has found."""
    rows = Judgement.objects.filter(judging__run=run, kind="correctness", reason=NO_REFERENCE)
    return rows.order_by().values_list("answer", flat=True).distinct()


def of_project(project_id: int) -> QuerySet[AnswerSample]:
    return AnswerSample.objects.filter(panel__run__release__project=project_id)


def complete(project_id: int, kind: str) -> QuerySet[AnswerSample]:
    """Those that a judge is compared on, the oldest first."""
    rows = of_project(project_id).filter(kind=kind, closed_at__isnull=False, given_up=False)
    return rows.order_by("pk")


def progress(samples: Iterable[AnswerSample]) -> list[Progress]:
    """Of each, by two queries."""
    samples = list(samples)
    sizes = dict(
        SampledAnswer.objects.filter(sample__in=samples)
        .order_by()
        .values_list("sample")
        .annotate(n=Count("pk"))
    )
    by_sample = raters_of(samples)
    return [
        Progress(
            sample,
            sizes.get(sample.pk, 0),
            len(by_sample[sample.pk]),
            sum(len(raters) > 1 for raters in by_sample[sample.pk].values()),
            len(set().union(*by_sample[sample.pk].values())),
        )
        for sample in samples
    ]


def raters_of(samples: Collection[AnswerSample]) -> Mapping[int, Mapping[int, set[int]]]:
    """By sample and answer who has rated it, in the respect that the sample is for."""
    rows = SampledAnswer.objects.filter(sample__in=samples, answer__ratings__isnull=False)
    raters: dict[int, dict[int, set[int]]] = {sample.pk: {} for sample in samples}
    kinds = {sample.pk: sample.kind for sample in samples}
    for sample, answer, kind, rater in rows.order_by().values_list(
        "sample", "answer", "answer__ratings__kind", "answer__ratings__rater"
    ):
        if kind == kinds[sample]:
            raters[sample].setdefault(answer, set()).add(rater)
    return raters


@transaction.atomic
def close(sample: AnswerSample, *, by: Any, reason: str = "") -> None:
    """All of it is rated; where few answers have two raters, the reason is kept with it."""
    locked = _locked(sample)
    (done,) = progress([locked])
    if not done.complete:
        raise RatingRefused("sample.not_complete", rated=done.rated, size=done.size)
    if done.needs_reason and not reason.strip():
        raise RatingRefused(
            "sample.few_rated_twice", twice=done.twice, needed=settings.JUDGE_MIN_TWICE
        )
    _end(locked, by, reason if done.needs_reason else "", given_up=False)
    record("answers.sample_closed", locked.panel, by, kinds=locked.kind)


@transaction.atomic
def give_up(sample: AnswerSample, *, by: Any, reason: str) -> None:
    """It stays listed, counts as an attempt, and what was rated of it counts for nothing."""
    locked = _locked(sample)
    if not reason.strip():
        raise RatingRefused("sample.no_reason")
    _end(locked, by, reason, given_up=True)
    record("answers.sample_given_up", locked.panel, by, kinds=locked.kind)


def _locked(sample: AnswerSample) -> AnswerSample:
    rows = AnswerSample.objects.select_for_update(of=("self",))
    locked = rows.select_related("panel__run__release__project").get(pk=sample.pk)
    if locked.closed_at is not None:
        raise RatingRefused("sample.closed")
    return locked


def _end(sample: AnswerSample, by: Any, reason: str, *, given_up: bool) -> None:
    if len(reason) > LONGEST_REASON:
        raise RatingRefused("sample.reason_too_long", most=LONGEST_REASON)
    sample.closed_at, sample.closed_by = timezone.now(), by
    sample.given_up, sample.reason = given_up, reason.strip()
    sample.save(update_fields=["closed_at", "closed_by", "given_up", "reason"])
    answers = sample.answers.order_by().values("answer")
    AnswerRating.objects.filter(kind=sample.kind, answer__in=answers).update(frozen=True)
