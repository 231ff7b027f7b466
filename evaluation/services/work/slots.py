"""Which runs the threads of workers are at: fairly shared, and taken over when a worker dies.

A thread takes a slot of the run that has the fewest, works on it for a turn, and leaves it when
another run needs it more. A worker says every second that it lives; what a silent one held is
free at once, and so are its slots.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from evaluation.models import Answer, CaseRun, Judgement, Judging, Run, Slot, Work
from evaluation.services.language_models import endpoints
from evaluation.services.work import leases
from labeling.jobs import queue
from labeling.operation import health

logger = logging.getLogger(__name__)

TURN_SECONDS = 3.0
"""For so long a thread stays with a run before it looks whether another run needs it more."""

LOOK_SECONDS = 0.5
"""How often it looks whether it may go on at all."""

SILENT_SECONDS = 3.5
"""Without a sign of life for so long a worker is taken for dead: it gives one every second."""

COMMAND_SECONDS = 60
"""A run is left for so long to the command that works on it, which says again and again that it
does (``keep_for_command``); after so long without it was given up."""

CANDIDATES = 5

AT_ONCE = 16
"""Cases of a run that asks a language model, which is waiting, that one slot works on at a time."""


def take(worker: str, *, alone: bool = False) -> Slot | None:
    """A slot of the run that needs a thread most; ``alone``: only where nobody is at work."""
    if not _unscored().exists():  # mostly; the rest of the question is long
        return None
    waiting = _waiting_for_threads()
    if alone:
        waiting = waiting.filter(Q(n_slots=0))
    order = ("n_slots", F("turn_at").asc(nulls_first=True), "pk")
    for run_id in waiting.order_by(*order).values_list("pk", flat=True)[:CANDIDATES]:
        slot = _seize(run_id, worker)
        if slot is not None:
            return slot
    return None


def keep_for_command(run_ids: Collection[int]) -> None:
    """Workers leave these runs alone for a while: a command works on them."""
    until = Now() + timedelta(seconds=COMMAND_SECONDS)
    Run.objects.filter(pk__in=run_ids).update(command_until=until)


def leave_to_workers(run_ids: Collection[int]) -> None:
    """The command has ended."""
    Run.objects.filter(pk__in=run_ids).update(command_until=None)


def let_go(owner: UUID) -> None:
    """The thread has ended its work; what it still holds, because of an error, is free."""
    slots = Slot.objects.filter(owner=owner)
    _free(list(slots))


def bury(workers: Iterable[str]) -> None:
    """These workers are gone: what they held is free at once."""
    gone = list(workers)
    if not gone:
        return
    queue.bury(gone)
    slots = list(Slot.objects.filter(worker__in=gone))
    for slot in slots:
        logger.warning("%s: its worker %s is gone.", slot, slot.worker_id)
    _free(slots)


def bury_silent() -> None:
    bury(health.silent(SILENT_SECONDS))


@dataclass(slots=True)
class Turn:
    """What the threads of a slot ask before each piece of work: may they go on with this run?"""

    owner: UUID
    _ends: float = field(default_factory=lambda: monotonic() + TURN_SECONDS)
    _look_at: float = 0.0
    _at_once: int = 0

    def goes_on(self, thread: int = 0) -> bool:
        """``thread`` counts from 0; the run may have got a lower concurrency."""
        now = monotonic()
        if now >= self._look_at:
            self._look_at = now + LOOK_SECONDS
            self._at_once = self.look() if now < self._ends or not self._needed() else 0
        return thread < self._at_once

    def look(self) -> int:
        """How many cases the slot may work on at a time; 0: it is not there any more."""
        slots = Slot.objects.select_related("run").only("number", "run__concurrency", "run__spec")
        own = slots.filter(owner=self.owner).first()
        return at_once(own.run, own.number) if own else 0

    def _needed(self) -> bool:
        run_id = Slot.objects.filter(owner=self.owner).values_list("run", flat=True).first()
        return run_id is not None and _is_needed_elsewhere(run_id)


def at_once(run: Run, slot: int) -> int:
    """What is left of the run's concurrency for this slot, counted from 1."""
    most = AT_ONCE if asks_model(run) else 1
    return max(0, min(most, run.concurrency - most * (slot - 1)))


def asks_model(run: Run) -> bool:
    return run.spec.model is not None or run.judgings.exists()


def _unscored() -> QuerySet[Run]:
    return Run.objects.filter(scored_at=None, failure=None, cancelled=False).order_by()


def _waiting_for_threads() -> QuerySet[Run]:
    """Runs with something to do and room for another thread, with ``n_slots``."""
    moment = timedelta(seconds=COMMAND_SECONDS)
    not_now = Q(created_at__lt=Now() - moment) | Q(created_at__gt=Now() + moment)
    left_by_command = not_now & ~Q(leases.leased_work())
    of_command = Q(command_until__gt=Now(), command_until__lte=Now() + moment)
    startable = leases.startable_work(models=[endpoint.id for endpoint in endpoints.known()])
    return (
        _unscored()
        .filter(Q(woken_at__isnull=False) | left_by_command)
        .exclude(of_command)
        .filter(Q(paused=False) & startable | leases.to_score())
        .annotate(n_slots=Count("slots"))
        .filter(
            Q(concurrency__gt=F("n_slots") * AT_ONCE) | _ASKS_NONE & Q(n_slots__lt=F("concurrency"))
        )
    )


_ASKS_NONE = Q(spec__model__id__isnull=True) & ~Q(
    Exists(Judging.objects.filter(run=OuterRef("pk")))
)


def _is_needed_elsewhere(run_id: int) -> bool:
    """Where nobody is at work, or fewer than here even with one more."""
    here = Slot.objects.filter(run=run_id).count()
    others = _waiting_for_threads().exclude(pk=run_id)
    return others.filter(Q(n_slots=0) | Q(n_slots__lt=here - 1)).exists()


def _seize(run_id: int, worker: str) -> Slot | None:
    """None if others were faster."""
    taken = set(Slot.objects.filter(run=run_id).values_list("number", flat=True))
    number = next(number for number in count(1) if number not in taken)
    try:
        with transaction.atomic():
            slot = Slot.objects.create(
                run_id=run_id, number=number, owner=uuid4(), worker_id=worker
            )
            Run.objects.filter(pk=run_id).update(turn_at=timezone.now())
    except IntegrityError:
        return None
    return slot


@transaction.atomic
def _free(slots: list[Slot]) -> None:
    if not slots:
        return
    runs = {slot.run_id for slot in slots}
    owners = [slot.owner for slot in slots]
    held = (
        CaseRun.objects.filter(run__in=runs),
        Answer.objects.filter(case__run__in=runs),
        Judgement.objects.filter(judging__run__in=runs),
    )
    for rows in held:
        keys = rows.filter(owner__in=owners, state=Work.State.RUNNING).values_list("pk", flat=True)
        in_work: Any = rows.model
        leases.count_death(in_work.objects.filter(pk__in=list(keys), owner__in=owners))
    scored = Run.objects.filter(pk__in=runs, scoring_owner__in=owners)
    scored.update(scoring_owner=None, scoring_expires_at=None)
    Slot.objects.filter(owner__in=owners).delete()
