"""Who works on what: every right to work is a row taken by one conditional update.

The holder of a lease renews it while it works; a process that died stops renewing, and
when the lease runs out somebody else takes over (at once, where its worker is known to be gone: see
``slots``). A result is stored only by its holder.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from evaluation import adapters
from evaluation.models import (
    Answer,
    CaseRun,
    Judgement,
    Judging,
    Run,
    Work,
    WorkQuerySet,
)
from evaluation.services.language_models.metering import too_long
from evaluation.services.work import endings
from labeling.domain.facts import Fact
from labeling.jobs.queue import expiry
from labeling.models import Job, WorkerPulse
from labeling.operation import health

MAX_ATTEMPTS = 3
CANDIDATES = 10  # looked at per try, so that workers rarely want the same case
SCORING_SECONDS = 6 * 3600.0
"""How long a worker may score a run; the limit is there for workers that hang."""

State = Work.State
TRANSIENT = Work.ErrorClass.TRANSIENT


def claim_case(run_id: int, owner: UUID) -> CaseRun | None:
    """The next open case, now leased by ``owner``; None if nothing can be taken at the moment."""
    taken = claim(CaseRun.objects.filter(run=run_id), owner)
    return _with_item().get(pk=taken) if taken else None


def claim(rows: WorkQuerySet, owner: UUID) -> int | None:
    """The key of the next of these pieces of work, now leased by ``owner``."""
    _settle_lost(rows)
    while True:
        claimable = rows.claimable()
        candidates = _due_again(rows) or _waiting(rows)
        for pk, attempts in candidates:
            taken = claimable.filter(pk=pk, attempts=attempts).update(
                state=State.RUNNING,
                owner=owner,
                attempts=_next_attempt(),
                lease_expires_at=expiry(),
            )
            if taken:
                return int(pk)
        if not candidates:
            return None


def _next_attempt() -> Case:
    """Work whose lease ran out has not failed: perhaps a clock was set, or a machine slept.

    What a proven death took from its worker is counted before (``count_death``).
    """
    return Case(When(state=State.RUNNING, then=F("attempts")), default=F("attempts") + 1)


def count_death(rows: QuerySet[Any]) -> int:
    """The process that held this work has died: others may take it, and the attempt counts.

    Once, however many notice it: nobody holds it afterwards. Also if it is noticed late.
    """
    held = rows.filter(state=State.RUNNING, owner__isnull=False)
    return held.update(owner=None, lease_expires_at=Now(), attempts=F("attempts") + 1)


def has_lost(run_id: int) -> bool:
    """Whether there is work of the run that a death has taken from its holder."""
    lost = {"state": State.RUNNING, "owner": None}
    return (
        CaseRun.objects.filter(**lost, run=run_id).exists()
        or Answer.objects.filter(**lost, case__run=run_id).exists()
        or Judgement.objects.filter(**lost, judging__run=run_id).exists()
    )


def holder_is_gone() -> Q:
    """A lease that ran out, and whose last sign is older than every worker that lives.

    So its holder has died, whatever became of clocks: otherwise work that ends its whole worker
    would be tried forever where no slot tells whose it was.
    """
    alive = WorkerPulse.objects.filter(seen_at__gt=Now() - health.SILENT_AFTER)
    lease = timedelta(seconds=settings.CASE_LEASE_SECONDS)
    began = alive.annotate(lease_after_start=F("started_at") + lease)
    there_then = began.filter(lease_after_start__lte=OuterRef("lease_expires_at"))
    ran_out = Q(owner__isnull=False, lease_expires_at__lte=Now())
    return ran_out & Q(Exists(alive)) & ~Q(Exists(there_then))


def _due_again(rows: WorkQuerySet) -> list[tuple[int, int]]:
    """What a worker has lost, or failed a while ago, comes first."""
    due = rows.unfinished().filter(lease_expires_at__lte=Now()).order_by("lease_expires_at", "pk")
    return list(due.values_list("pk", "attempts")[:CANDIDATES])


def _waiting(rows: WorkQuerySet) -> list[tuple[int, int]]:
    """In the order of an index, so that the last of 100,000 is taken as fast as the first."""
    waiting = rows.filter(state=State.QUEUED, lease_expires_at=None).order_by("pk")
    return list(waiting.values_list("pk", "attempts")[:CANDIDATES])


def _with_item() -> QuerySet[CaseRun]:
    """Without the gold's text: cases of one item share one copy of it (see ``adapters``)."""
    related = ("item", "talk__conversation__transcript")
    return CaseRun.objects.select_related(*related).defer("item__canonical")


def lease_of(work: Work, owner: UUID) -> WorkLease:
    return WorkLease(type(work), work.pk, owner)


def finish(work: Work, owner: UUID, **fields: Any) -> bool:
    """Store a result and end the lease; False (and nothing stored) if the lease was lost."""
    row = _leased(type(work), work.pk, owner)
    return row.update(**{"owner": None, "lease_expires_at": None, **fields}) == 1


def _leased(kind: type[Work], pk: int, owner: UUID) -> QuerySet[Any]:
    return kind._default_manager.filter(pk=pk, owner=owner, state=State.RUNNING)


def open_work() -> Q:
    """Runs with cases, answers or judgements that are still missing."""
    return _of_run(
        CaseRun.objects.unfinished(), Answer.objects.wanted(), Judgement.objects.wanted()
    )


def has_open_work(run_id: int) -> bool:
    return Run.objects.filter(open_work(), pk=run_id).exists()


def leased_work() -> Q:
    """Runs that somebody is working on."""
    cases, answers, judgements = (kind.objects.leased() for kind in (CaseRun, Answer, Judgement))
    return _of_run(cases, answers, judgements)


def startable_work(*, models: Collection[str] | None = None) -> Q:
    """Runs with something that can be claimed now; by whom is asked by these models alone."""
    cases = CaseRun.objects.claimable()
    answers = Answer.objects.wanted().claimable().filter(case__state=State.DONE)
    judgements = Judgement.objects.wanted().claimable().filter(answer__state=State.DONE)
    if models is not None:
        cases = cases.filter(_asks_only(models, "run__spec__model"))
        answers = answers.filter(_asks_only(models, "case__run__spec__model"))
        judgements = judgements.filter(judging__model__in=models)
    return _of_run(cases, answers, judgements)


def _asks_only(models: Collection[str], path: str) -> Q:
    """What asks no model, or one of these."""
    other = Q(**{f"{path}__id__isnull": False}) & ~Q(**{f"{path}__id__in": list(models)})
    return ~other


def to_score() -> Q:
    """Runs of which everything but the scores is there, and that nobody is scoring."""
    unscored = Q(scored_at=None, failure=None, cancelled=False)
    return unscored & (Q(scoring_expires_at=None) | Q(scoring_expires_at__lte=Now())) & ~open_work()


def _of_run(cases: WorkQuerySet, answers: WorkQuerySet, judgements: WorkQuerySet) -> Q:
    """Whether a run has any of these, without counting them."""
    run = OuterRef("pk")
    return (
        Q(Exists(cases.filter(run=run)))
        | Q(Exists(answers.filter(case__run=run)))
        | Q(Exists(judgements.filter(judging__run=run)))
    )


def claim_scoring(run_id: int, owner: UUID) -> bool:
    """True if ``owner`` may score the run: all cases are done, and nobody else is scoring it."""
    ready = Run.objects.filter(to_score(), pk=run_id)
    return ready.update(scoring_owner=owner, scoring_expires_at=expiry()) == 1


def note_scored(run_id: int, owner: UUID, cases: int) -> bool:
    """Note how many cases are scored; False where another scores the run, or it was cancelled."""
    leased = Run.objects.filter(pk=run_id, scoring_owner=owner, cancelled=False)
    return leased.update(scored_cases=cases, scoring_expires_at=expiry()) == 1


def finish_scoring(run_id: int, owner: UUID, **fields: Any) -> bool:
    leased = Run.objects.filter(pk=run_id, scoring_owner=owner, cancelled=False)
    now = timezone.now()
    times = {"scored_at": now, "first_scored_at": Coalesce("first_scored_at", Value(now))}
    return leased.update(scoring_owner=None, scoring_expires_at=None, **times, **fields) == 1


@dataclass(frozen=True, slots=True)
class WorkLease:
    """A case, an answer or a judgement leased by ``owner``."""

    kind: type[Work]
    pk: int
    owner: UUID

    @property
    def _row(self) -> QuerySet[Any]:
        return _leased(self.kind, self.pk, self.owner)

    def renew(self) -> bool:
        return self._row.update(lease_expires_at=expiry()) == 1

    def give_back(self) -> None:
        """The next worker doesn't have to wait, and the attempt doesn't count."""
        self._row.update(
            state=State.QUEUED, owner=None, lease_expires_at=None, attempts=F("attempts") - 1
        )

    def abandon(self) -> None:
        count_death(self._row)

    def end_late(self) -> None:
        """Another attempt would take as long."""
        late = failed(adapters.fact_of(too_long()), TRANSIENT)
        self._row.update(owner=None, lease_expires_at=None, **late)


@dataclass(frozen=True, slots=True)
class ScoringLease:
    run_id: int
    owner: UUID

    @property
    def _row(self) -> QuerySet[Run]:
        return Run.objects.filter(pk=self.run_id, scoring_owner=self.owner)

    def renew(self) -> bool:
        return self._row.update(scoring_expires_at=expiry()) == 1

    def give_back(self) -> None:
        self._row.update(scoring_owner=None, scoring_expires_at=None)

    def abandon(self) -> None:
        """Others wait for the lease to end, since the attempts to score are not counted."""

    def end_late(self) -> None:
        problem = Fact("run.scoring_too_long", hours=SCORING_SECONDS / 3600)
        endings.fail(self.run_id, problem, scorer=self.owner)


Columns = Mapping[str, Any]
"""The stored fields of a piece of work, by column."""


def failed(error: Fact, kind: Work.ErrorClass) -> Columns:
    described = {"error": error, "error_class": kind}
    return {"state": State.FAILED, "finished_at": Now(), **described}


def _settle_lost(rows: WorkQuerySet) -> None:
    """Deaths are counted, and work that killed its workers isn't retried forever.

    It is looked for before it is changed: nearly always there is none, and an update through
    joined tables would cost every claim a walk through all work.
    """
    ran_out = Q(state=State.RUNNING, lease_expires_at__lte=Now())
    keys = list(rows.filter(ran_out).values_list("pk", flat=True))
    if not keys:
        return
    in_work: Any = rows.model
    lost = in_work.objects.filter(ran_out, pk__in=keys)
    count_death(lost.filter(holder_is_gone()))
    lost.filter(attempts__gt=MAX_ATTEMPTS).update(
        state=State.FAILED,
        error_class=CaseRun.ErrorClass.TRANSIENT,
        error=Fact("work.given_up", attempts=MAX_ATTEMPTS),
        attempts=MAX_ATTEMPTS,
        owner=None,
        lease_expires_at=None,
        finished_at=Now(),
    )


MARGIN_SECONDS = 60
"""Beyond a lease: other work that failed waits up to that long for its next attempt."""


def _held() -> tuple[tuple[QuerySet[Any], str, float], ...]:
    """What may be leased, and for how long, by the indexes of open work: all workers look often."""
    lease = float(settings.CASE_LEASE_SECONDS)
    open_runs = Run.objects.filter(scored_at=None)
    judgings = Judging.objects.filter(run__in=open_runs)
    work = (
        CaseRun.objects.unfinished().filter(run__in=open_runs),
        Answer.objects.unfinished(),
        Judgement.objects.unfinished().filter(judging__in=judgings),
        Job.objects.all(),
    )
    return (
        *((rows, "lease_expires_at", lease) for rows in work),
        (open_runs, "scoring_expires_at", lease),
    )


def cap() -> int:
    """No lease lasts longer than one that is taken now; how many were shortened.

    A clock that was wrong and is set right leaves leases in the future. Who lives renews them, and
    what a dead worker held is free after one lease.
    """
    n_shortened = 0
    for rows, column, seconds in _held():
        too_late = {f"{column}__gt": Now() + timedelta(seconds=seconds + MARGIN_SECONDS)}
        longest = {column: Now() + timedelta(seconds=seconds)}
        n_shortened += rows.filter(**too_late).update(**longest)
    return n_shortened
