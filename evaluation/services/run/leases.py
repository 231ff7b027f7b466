"""Who works on what: every right to work is a row taken by one conditional update.

Whoever holds a lease renews it while the work goes on; a process that died stops renewing, and
when the lease runs out somebody else takes over. A result is stored only by its holder.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_ulong, py_object, pythonapi
from datetime import datetime, timedelta
from threading import Event, Lock, Thread, get_ident
from types import TracebackType
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connections
from django.db.models import F, QuerySet
from django.utils import timezone

from evaluation.models import Answer, CaseRun, Judgement, Run, Work, WorkQuerySet

MAX_ATTEMPTS = 3
CANDIDATES = 10  # looked at per try, so that workers rarely want the same case
TIMES_RAISED = 5  # what a pipeline swallows so often, it would swallow for ever
SCORING_SECONDS = 6 * 3600.0
"""So long a worker may score one run; a limit all the same, for one that hangs."""

State = CaseRun.State


def claim_case(run_id: int, owner: UUID) -> CaseRun | None:
    """The next open case, now held by ``owner``; None if nothing can be taken at the moment."""
    taken = claim(CaseRun.objects.filter(run=run_id), owner)
    return _with_item().get(pk=taken) if taken else None


def claim(rows: WorkQuerySet, owner: UUID) -> int | None:
    """The key of the next of these pieces of work, now held by ``owner``."""
    _bury_lost(rows)
    while True:
        now = timezone.now()
        claimable = rows.claimable(now)
        candidates = list(claimable.order_by("pk").values_list("pk", "attempts")[:CANDIDATES])
        for pk, attempts in candidates:
            taken = claimable.filter(pk=pk, attempts=attempts).update(
                state=State.RUNNING,
                owner=owner,
                attempts=attempts + 1,
                lease_expires_at=expiry(now),
            )
            if taken:
                return int(pk)
        if not candidates:
            return None


def _with_item() -> QuerySet[CaseRun]:
    """Without the gold's text: cases of one item share one copy of it (see ``adapters``)."""
    return CaseRun.objects.select_related("item").defer("item__canonical")


def renew(work: Work, owner: UUID) -> bool:
    return _held(work, owner).update(lease_expires_at=expiry(timezone.now())) == 1


def finish(work: Work, owner: UUID, **fields: Any) -> bool:
    """Store a result and end the lease; False (and nothing stored) if the lease was lost."""
    return _held(work, owner).update(**{"owner": None, "lease_expires_at": None, **fields}) == 1


def give_back(work: Work, owner: UUID) -> None:
    """The work is being stopped: the next worker need not wait, and the attempt does not count."""
    _held(work, owner).update(
        state=State.QUEUED,
        owner=None,
        lease_expires_at=None,
        attempts=F("attempts") - 1,
    )


def _held(work: Work, owner: UUID) -> QuerySet[Any]:
    rows = type(work)._default_manager
    return rows.filter(pk=work.pk, owner=owner, state=State.RUNNING)


def open_work() -> list[QuerySet[Any]]:
    """Which runs have cases, answers or judgements that are still to be made."""
    return _runs_of(
        CaseRun.objects.unfinished(), Answer.objects.wanted(), Judgement.objects.wanted()
    )


def has_open_work(run_id: int) -> bool:
    runs = Run.objects.filter(pk=run_id)
    return any(runs.filter(pk__in=rows).exists() for rows in open_work())


def held_work(now: datetime) -> list[QuerySet[Any]]:
    """Which runs somebody is working on."""
    return _runs_of(*(kind.objects.held(now) for kind in (CaseRun, Answer, Judgement)))


def startable_work(now: datetime) -> list[QuerySet[Any]]:
    """Which runs have something that can be taken at once."""
    return _runs_of(
        CaseRun.objects.claimable(now),
        Answer.objects.wanted().claimable(now).filter(case__state=State.DONE),
        Judgement.objects.wanted().claimable(now).filter(answer__state=State.DONE),
    )


def _runs_of(
    cases: WorkQuerySet, answers: WorkQuerySet, judgements: WorkQuerySet
) -> list[QuerySet[Any]]:
    return [cases.values("run"), answers.values("case__run"), judgements.values("judging__run")]


def claim_scoring(run_id: int, owner: UUID) -> bool:
    """True if ``owner`` may score the run: all cases are done, and nobody else is at it."""
    now = timezone.now()
    ready = Run.objects.filter(pk=run_id, scored_at=None, failure="", cancelled=False)
    for open_runs in open_work():
        ready = ready.exclude(pk__in=open_runs)
    ready = ready.exclude(scoring_expires_at__gt=now)
    return ready.update(scoring_owner=owner, scoring_expires_at=expiry(now)) == 1


def renew_scoring(run_id: int, owner: UUID) -> bool:
    held = Run.objects.filter(pk=run_id, scoring_owner=owner)
    return held.update(scoring_expires_at=expiry(timezone.now())) == 1


def finish_scoring(run_id: int, owner: UUID, **fields: Any) -> bool:
    held = Run.objects.filter(pk=run_id, scoring_owner=owner, cancelled=False)
    return held.update(scoring_owner=None, scoring_expires_at=None, **fields) == 1


class KeepAlive:
    """Renews a lease from a thread while the block runs, by default up to the limit of a case.

    The limit is what frees a case whose pipeline hangs: its worker looks alive for ever. ``late``
    is raised in the block when it is still running a beat after the limit, and again at the next
    beats, as a pipeline may swallow it: that ends what loops in Python. What waits inside of C,
    Python cannot interrupt.
    """

    def __init__(
        self,
        renew: Callable[[], bool],
        *,
        seconds: float | None = None,
        late: type[Exception] | None = None,
    ) -> None:
        self._renew = renew
        self._seconds = settings.CASE_TIMEOUT_SECONDS if seconds is None else seconds
        self._late = (late,) if late else ()
        self._ended = Lock()  # who holds it may raise in the block, or leave it
        self._done = Event()
        self._interval = settings.CASE_LEASE_SECONDS / 3
        self._thread = Thread(target=self._repeat, name="lease", daemon=True)

    def __enter__(self) -> None:
        self._block = get_ident()
        self._thread.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._end()
        except self._late:  # it came as the block was left, so it is of no use any more
            self._end()
        self._thread.join()

    def _end(self) -> None:
        with self._ended:
            self._done.set()
            _raise_in(self._block, None)  # what was raised and has not arrived comes too late

    def _repeat(self) -> None:
        end = timezone.now() + timedelta(seconds=self._seconds)
        try:
            while not self._done.wait(self._interval) and timezone.now() < end:
                try:
                    if not self._renew():
                        return
                except DatabaseError:  # busy or away for a moment; the lease lasts two more tries
                    connections.close_all()
        finally:
            connections.close_all()  # those of this thread
        self._press()

    def _press(self) -> None:
        for late in self._late * TIMES_RAISED:
            if self._done.wait(self._interval):
                return
            with self._ended:
                if not self._done.is_set():
                    _raise_in(self._block, late)


def _raise_in(thread: int, error: type[Exception] | None) -> None:
    """At the next step that the thread takes in Python; ``None`` takes back what has not come."""
    pythonapi.PyThreadState_SetAsyncExc(c_ulong(thread), py_object(error) if error else None)


def _bury_lost(rows: WorkQuerySet) -> None:
    """Work that took its workers down with it is not tried for ever."""
    lost = rows.claimable(timezone.now())
    lost.filter(state=State.RUNNING, attempts__gte=MAX_ATTEMPTS).update(
        state=State.FAILED,
        error_class=CaseRun.ErrorClass.TRANSIENT,
        error=f"Given up after {MAX_ATTEMPTS} attempts: the worker stopped or took too long.",
        owner=None,
        lease_expires_at=None,
        finished_at=timezone.now(),
    )


def expiry(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.CASE_LEASE_SECONDS)
