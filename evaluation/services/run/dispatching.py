"""The threads of a worker that take up runs and other jobs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from threading import Event, Lock, Thread
from time import monotonic
from uuid import UUID

from django.db import DatabaseError, connections

from evaluation.models import Slot
from evaluation.services.run import execution
from evaluation.services.work import slots
from labeling.jobs import queue, runner, tasks
from labeling.operation import health

logger = logging.getLogger(__name__)

BEAT_SECONDS = 1.0
LOOK_SECONDS = 0.7
"""How often a thread without work looks for some."""
FAILED_SECONDS = 5.0
"""Until the next look after something went wrong that no case explains."""
STOP_SECONDS = 10.0


class Dispatcher:
    """``threads`` of them work on runs at a time, as many on other jobs, and one on what is quick.

    One more waits: it takes up a run that nobody is at when all others are busy, for as long as one
    case or one conversation may take. So a short run never waits for the cases of a long one.
    """

    def __init__(self, threads: int, *, name: str = "") -> None:
        self._worker = name or health.own_name()
        self._threads = threads
        self._busy = 0
        self._lock = Lock()
        self._stopped = Event()
        self._started: list[Thread] = []

    def start(self) -> None:
        """At once, even while the database is away."""
        self._begin("pulse", self._live)

    def stop(self) -> None:
        """Running jobs are ended elsewhere (``runner.children``); this waits for their end."""
        self._stopped.set()
        tasks.bell.set()
        end = monotonic() + STOP_SECONDS
        for thread in list(self._started):
            thread.join(max(0.0, end - monotonic()))
        try:
            slots.bury([self._worker])
        except DatabaseError:
            logger.warning("What this worker held is free when others find it silent.")
        finally:
            connections.close_all()

    def _begin(self, name: str, run: Callable[[], None]) -> None:
        thread = Thread(target=run, name=name, daemon=True)
        thread.start()
        self._started.append(thread)

    def _live(self) -> None:
        """What an earlier worker of this name held is free before anything is taken up."""
        self._until_stored(self._take_place)
        for number in range(self._threads):
            self._begin(f"runs-{number + 1}", self._work)
            self._begin(f"jobs-{number + 1}", partial(self._do_jobs, quick=False))
        self._begin("jobs-quick", partial(self._do_jobs, quick=True))
        self._begin("runs-spare", self._help_out)
        self._beat()

    def _beat(self) -> None:
        """A worker that could not give a sign itself says nothing of others: the database was away,
        or the machine stood still, and they may have been silent for the same reason."""
        last, steady_since = monotonic(), monotonic()
        while not self._stopped.wait(BEAT_SECONDS):
            try:
                health.beat(self._worker)
                now = monotonic()
                if now - last > 2 * BEAT_SECONDS:
                    steady_since = now
                last = now
                if now - steady_since > slots.SILENT_SECONDS:
                    slots.bury_silent()
            except DatabaseError as error:
                self._say(error)
        connections.close_all()

    def _work(self) -> None:
        pause = 0.0
        while not self._stopped.wait(pause):
            pause = self._turn(alone=False)
        connections.close_all()

    def _do_jobs(self, *, quick: bool) -> None:
        while not self._stopped.is_set():
            if not self._did_job(quick=quick):
                tasks.bell.wait(LOOK_SECONDS)
                if not self._stopped.is_set():
                    tasks.bell.clear()
        connections.close_all()

    def _did_job(self, *, quick: bool) -> bool:
        try:
            lease = queue.take(tasks.kinds(quick=quick), self._worker)
            if lease is not None:
                tasks.carry_out(lease)
        except DatabaseError as error:
            self._say(error)
            return False
        return lease is not None

    def _help_out(self) -> None:
        pause = LOOK_SECONDS
        while not self._stopped.wait(pause):
            busy = self._busy >= self._threads
            pause = self._turn(alone=True) if busy else LOOK_SECONDS
        connections.close_all()

    def _turn(self, *, alone: bool) -> float:
        """Seconds until the next look."""
        try:
            slot = slots.take(self._worker, alone=alone)
        except DatabaseError as error:
            self._say(error)
            return LOOK_SECONDS
        if slot is None:
            return LOOK_SECONDS
        if alone:
            return self._carried_out(slot)
        with self._lock:
            self._busy += 1
        try:
            return self._carried_out(slot)
        finally:
            with self._lock:
                self._busy -= 1

    def _carried_out(self, slot: Slot) -> float:
        pause = 0.0
        try:
            runner.run(execution.take_turn, slot.run_id, slot.owner)
        except Exception:  # of any kind: the next thread goes on with what is left
            logger.exception("A turn at run %s ended early.", slot.run_id)
            connections.close_all()
            pause = FAILED_SECONDS if self._answers() else 0.0
        self._let_go(slot.owner)
        return pause

    def _let_go(self, owner: UUID) -> None:
        self._until_stored(lambda: slots.let_go(owner))

    def _take_place(self) -> None:
        """What a worker of this name held before is free."""
        health.begin(self._worker)
        slots.bury([self._worker])

    def _until_stored(self, write: Callable[[], object]) -> None:
        """However long the database is away."""
        while True:
            try:
                write()
                return
            except DatabaseError as error:
                self._say(error)
            if self._stopped.wait(BEAT_SECONDS):
                return

    def _answers(self) -> bool:
        """Whether it was not just the database that was away."""
        try:
            health.beat(self._worker)
        except DatabaseError:
            connections.close_all()
            return False
        return True

    def _say(self, error: DatabaseError) -> None:
        logger.warning("The database does not answer; it is asked again. %s", error)
        connections.close_all()
