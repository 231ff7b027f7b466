"""Messages to workers. Any may be lost: what is to do is in a row, and a sweep sends another."""

from __future__ import annotations

import logging
from datetime import timedelta
from time import monotonic
from typing import Any

from celery import current_app
from django.db.models import Model, Q, QuerySet
from django.db.models.functions import Now

logger = logging.getLogger(__name__)

RESEND_SECONDS = 60  # all workers may be busy with something long
ON_ITS_WAY = timedelta(seconds=30)
"""For so long a message about a row may be on its way before another is sent."""


def wake(task: str, pk: int) -> bool:
    """False if the queue cannot be reached."""
    try:
        current_app.send_task(task, [pk])
    except Exception as error:  # of any kind from the broker's client: the work itself is stored
        why = f"{type(error).__name__}: {error}"
        logger.warning("%s of %s waits for the next sweep: no queue. %s", task, pk, why)
        return False
    return True


def wake_about(model: type[Model], task: str, pk: int) -> None:
    """Wake a worker, and note it in the row's ``woken_at``."""
    model._default_manager.filter(pk=pk).update(woken_at=Now())
    wake(task, pk)


def unwoken(rows: QuerySet[Any]) -> list[int]:
    """The keys of those about which no message is on its way, the oldest first.

    By the database's clock: what a clock that was wrong has written may lie hours ahead.
    """
    lately = Q(woken_at__gt=Now() - ON_ITS_WAY, woken_at__lt=Now() + ON_ITS_WAY)
    return list(rows.exclude(lately).order_by("pk").values_list("pk", flat=True))


class Wakeups:
    """The messages of one task, remembered in this process."""

    def __init__(self, task: str) -> None:
        self._task = task
        self._sent_at: dict[int, float] = {}

    def send(self, pk: int) -> bool:
        self._sent_at[pk] = monotonic()
        return wake(self._task, pk)

    def send_again(self, pk: int) -> bool:
        """False also where the last message may still be on its way."""
        before = self._sent_at.get(pk)
        is_due = before is None or monotonic() - before >= RESEND_SECONDS
        return is_due and self.send(pk)

    def sent_within(self, seconds: float, pk: int) -> bool:
        before = self._sent_at.get(pk)
        return before is not None and monotonic() - before < seconds

    def forget(self, pk: int) -> None:
        self._sent_at.pop(pk, None)
