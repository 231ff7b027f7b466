"""Samples that people rate: drawn before anybody has rated them, then closed or given up.

Ratings count once their sample is closed, so that nobody can stop rating when the figures happen
to be good. Of answers a sample is drawn by lot and has to be complete; of inferred requirements it
holds all that a run has inferred.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from evaluation import judge
from evaluation.layers import gold_layer
from evaluation.metrics.answers import NO_REFERENCE
from evaluation.metrics.gate import JUDGED
from evaluation.metrics.judges import REQUIRED
from evaluation.models import (
    Answer,
    CaseRun,
    Judgement,
    RatedPlace,
    Rating,
    RatingKind,
    RatingPanel,
    RatingSample,
    Run,
)
from evaluation.services.work import steering
from labeling.core import events
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.models import Project

KINDS = tuple(kind for kind in judge.KINDS if kind in JUDGED)
"""Those of answers that have their own figure, which is what a gate may look at."""
NEED = RatingKind.NEED.value
DEFAULT_SIZE = 60
LONGEST_REASON = 500

Thing = tuple[int, int]
"""A case, and the position in its output; of an answer 0."""


class RatingRefused(RuleError, code="rating_refused"):
    """There is nothing to rate, the sample is closed, or a value is none."""


class Progress(NamedTuple):
    """How far people are with a sample; ``twice`` are its places with two raters or more."""

    sample: RatingSample
    size: int
    rated: int
    twice: int
    raters: int

    @property
    def state(self) -> str:
        if self.sample.closed_at is None:
            return "open"
        return "given_up" if self.sample.given_up else "complete"

    @property
    def closable(self) -> bool:
        return self.rated > 0 if self.sample.kind == NEED else self.rated == self.size

    @property
    def needs_reason(self) -> bool:
        """Whether people's own agreement stays unknown, which has to be explained."""
        return self.sample.kind != NEED and self.twice < REQUIRED.twice


def kinds_of(run: Run) -> Sequence[str]:
    return (NEED,) if gold_layer(run.release.layer).rated else KINDS


def why_not_ratable(run: Run) -> Fact | None:
    """Why nobody can rate anything of this run; ``None`` if people can."""
    inferred = gold_layer(run.release.layer).rated
    if not inferred and not run.spec.has_answers:
        return Fact("rating.nothing_of_run")
    if run.scored_at is None:
        return Fact("rating.run_unfinished")
    if inferred and not _inferred(run):
        return Fact("rating.nothing_inferred")
    if not inferred and not _written(run).exists():
        return Fact("rating.no_answer_written")
    return None


def available(run: Run) -> dict[str, int]:
    """How many places can be drawn for each kind."""
    return {kind: len(_drawable(run, kind)) for kind in kinds_of(run)}


@transaction.atomic
def draw(
    run: Run, *, size: int = DEFAULT_SIZE, kinds: Collection[str] = (NEED, *KINDS), by: Any
) -> list[RatingSample]:
    """A sample for each kind, by one seed that nobody chooses; all there are if that is less."""
    if problem := why_not_ratable(run):
        raise RatingRefused(problem, details={"run": run.pk})
    if size < 1:
        raise RatingRefused("sample.too_small")
    project = Project.objects.select_for_update().get(pk=run.release.project_id)
    opened = of_project(project.pk).filter(closed_at=None, kind__in={*kinds} - {NEED})
    if blocking := opened.select_related("panel").first():
        raise RatingRefused("sample.one_is_open", kind=blocking.kind, run=blocking.panel.run_id)
    left = {kind: _drawable(run, kind) for kind in kinds_of(run) if kind in kinds}
    if not any(left.values()):
        raise RatingRefused("sample.nothing_left")
    panel, _is_new = RatingPanel.objects.get_or_create(run=run, defaults={"opened_by": by})
    seed = secrets.randbelow(2**48)
    chosen = {
        kind: things if kind == NEED else drawn_by_seed(things, seed)[:size]
        for kind, things in left.items()
        if things
    }
    drawn = {
        kind: RatingSample.objects.create(
            panel=panel, kind=kind, seed=seed, drawn_from=len(left[kind]), drawn_by=by
        )
        for kind in chosen
    }
    _number(panel, drawn, chosen)
    told = {"size": max(map(len, chosen.values())), "seed": seed}
    _record("sample_drawn", panel, by, kinds=", ".join(drawn), **told)
    return list(drawn.values())


def _number(
    panel: RatingPanel, drawn: Mapping[str, RatingSample], chosen: Mapping[str, Sequence[Thing]]
) -> None:
    """An answer that was drawn for several kinds comes once, with all of them."""
    first: dict[Thing, int] = {}
    for things in chosen.values():
        for at, thing in enumerate(things):
            first.setdefault(thing, at)
    order = sorted(
        (first[thing], thing, at, kind)
        for at, (kind, things) in enumerate(chosen.items())
        for thing in things
    )
    before = RatedPlace.objects.filter(sample__panel=panel).count()
    RatedPlace.objects.bulk_create(
        (
            RatedPlace(sample=drawn[kind], number=number, case_id=case, position=position)
            for number, (_first, (case, position), _at, kind) in enumerate(order, before + 1)
        ),
        batch_size=500,
    )


def drawn_by_seed(things: Iterable[Thing], seed: int) -> list[Thing]:
    """All of them in the order of the seed: each set of the first ``n`` is equally likely."""
    return sorted(things, key=lambda thing: hashlib.sha256(f"{seed}:{thing[0]}".encode()).digest())


def _drawable(run: Run, kind: str) -> list[Thing]:
    """In no sample yet, and rated by nobody in this respect."""
    if kind == NEED:
        is_drawn = RatingSample.objects.filter(panel__run=run, kind=kind).exists()
        return [] if is_drawn else _inferred(run)
    sampled = RatedPlace.objects.filter(sample__panel__run=run, sample__kind=kind)
    rated = Rating.objects.filter(case__run=run, kind=kind)
    rows = _written(run).exclude(case__in=sampled.values("case"))
    rows = rows.exclude(case__in=rated.values("case"))
    if kind == "correctness":
        rows = rows.exclude(pk__in=_without_reference(run))
    return [(case, 0) for case in rows.order_by("pk").values_list("case", flat=True)]


def _inferred(run: Run) -> list[Thing]:
    layer = gold_layer(run.release.layer)
    done = CaseRun.objects.filter(run=run, state=CaseRun.State.DONE).order_by("item", "pk")
    return [
        (case, position)
        for case, output in done.values_list("pk", "output").iterator(chunk_size=200)
        for position in range(len(layer.predicted(output)))
    ]


def _written(run: Run) -> QuerySet[Answer]:
    return Answer.objects.filter(case__run=run, state=Answer.State.DONE).order_by()


def _without_reference(run: Run) -> QuerySet[Judgement, int]:
    """Answers that have nothing to be compared with, as every judge has found."""
    rows = Judgement.objects.filter(judging__run=run, kind="correctness", reason=NO_REFERENCE)
    return rows.order_by().values_list("answer", flat=True).distinct()


def of_project(project_id: int) -> QuerySet[RatingSample]:
    return RatingSample.objects.filter(panel__run__release__project=project_id)


def complete(project_id: int, kind: str) -> QuerySet[RatingSample]:
    """Those that a judge is compared on, the oldest first."""
    rows = of_project(project_id).filter(kind=kind, closed_at__isnull=False, given_up=False)
    return rows.order_by("pk")


def progress(samples: Iterable[RatingSample]) -> list[Progress]:
    """Of each, by two queries."""
    samples = list(samples)
    raters: dict[int, dict[Thing, set[int]]] = {sample.pk: {} for sample in samples}
    places = RatedPlace.objects.filter(sample__in=samples).order_by()
    where: dict[tuple[str, Thing], list[int]] = {}
    for sample, kind, *thing in places.values_list("sample", "sample__kind", "case", "position"):
        raters[sample][thing[0], thing[1]] = set()
        where.setdefault((kind, (thing[0], thing[1])), []).append(sample)
    ratings = Rating.objects.filter(case__in=places.values("case")).order_by()
    for kind, case, position, rater in ratings.values_list("kind", "case", "position", "rater"):
        for sample in where.get((kind, (case, position)), ()):
            raters[sample][case, position].add(rater)
    return [_progress(sample, list(raters[sample.pk].values())) for sample in samples]


def _progress(sample: RatingSample, raters: Sequence[set[int]]) -> Progress:
    counts = [len(people) for people in raters]
    rated, twice = sum(n > 0 for n in counts), sum(n > 1 for n in counts)
    return Progress(sample, len(raters), rated, twice, len(set().union(*raters)))


@transaction.atomic
def close(sample: RatingSample, *, by: Any, reason: str = "") -> None:
    """Its ratings count from now on; where few answers have two raters, the reason is kept."""
    locked = _locked(sample)
    (done,) = progress([locked])
    if not done.closable:
        raise RatingRefused("sample.not_complete", rated=done.rated, size=done.size)
    if done.needs_reason and not reason.strip():
        raise RatingRefused("sample.few_rated_twice", twice=done.twice, needed=REQUIRED.twice)
    _end(locked, by, reason if done.needs_reason else "", given_up=False)
    _record("sample_closed", locked.panel, by, kinds=locked.kind)
    if locked.kind == NEED:
        steering.rescore(locked.panel.run, by=by)


@transaction.atomic
def give_up(sample: RatingSample, *, by: Any, reason: str) -> None:
    """It stays listed, counts as an attempt, and what was rated of it counts for nothing."""
    locked = _locked(sample)
    if not reason.strip():
        raise RatingRefused("sample.no_reason")
    _end(locked, by, reason, given_up=True)
    _record("sample_given_up", locked.panel, by, kinds=locked.kind)


def _locked(sample: RatingSample) -> RatingSample:
    rows = RatingSample.objects.select_for_update(of=("self",))
    locked = rows.select_related("panel__run__release__project").get(pk=sample.pk)
    if locked.closed_at is not None:
        raise RatingRefused("sample.closed")
    return locked


def _end(sample: RatingSample, by: Any, reason: str, *, given_up: bool) -> None:
    if len(reason) > LONGEST_REASON:
        raise RatingRefused("sample.reason_too_long", most=LONGEST_REASON)
    sample.closed_at, sample.closed_by = timezone.now(), by
    sample.given_up, sample.reason = given_up, reason.strip()
    sample.save(update_fields=["closed_at", "closed_by", "given_up", "reason"])
    cases = sample.places.order_by().values("case")
    Rating.objects.filter(kind=sample.kind, case__in=cases).update(frozen=True)


def _record(verb: str, panel: RatingPanel, actor: Any, **data: Any) -> None:
    run = panel.run
    events.record(
        f"answers.{verb}", run, project=run.release.project, actor=actor, run=run.pk, **data
    )
