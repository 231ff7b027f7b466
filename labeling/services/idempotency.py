"""A write that a program sends twice is carried out once, if both name the same key.

A key is reserved in a transaction before the request is carried out. The answer is stored together
with what the request wrote, in one transaction, if it still holds the reservation. So after a
process was killed either both are there or neither; and when the reservation is taken over because
it is too old, the earlier request can store nothing any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from labeling.domain.errors import RuleError
from labeling.models import KeyedRequest
from labeling.services import clock

KEPT = timedelta(hours=24)
DEAD_AFTER = timedelta(minutes=5)
"""A request that has not ended by then was killed: no server lets one take so long."""
LONGEST_KEY = 200
LARGEST_ANSWER = 256 * 1024
FORGOTTEN_AT_ONCE = 1000


class KeyRefused(RuleError):
    code = "idempotency_key_refused"


class OtherRequest(RuleError):
    """The key was used for another request."""

    code = "idempotency_mismatch"


class UnderWay(RuleError):
    """The same request is being carried out."""

    code = "idempotency_under_way"


class AnswerNotKept(RuleError):
    """The request was carried out; what was answered is not stored."""

    code = "idempotency_answer_not_kept"


class Overtaken(RuleError):
    """It took so long that another request has taken over its key; nothing was stored."""

    code = "idempotency_overtaken"


@dataclass(frozen=True, slots=True)
class Reservation:
    key: int
    started_at: datetime


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    status: int
    body: str


def check_key(key: str) -> None:
    if not (0 < len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()):
        raise KeyRefused("idempotency.key", most=LONGEST_KEY)


def reserve(*, user: User, digest: str, request: str) -> Reservation | KeptAnswer:
    """The answer of the same request, or the right to carry it out.

    ``digest`` is that of the key and its owner, ``request`` that of everything that was sent.
    """
    now = clock.now()
    row = KeyedRequest.objects.filter(digest=digest).first()
    if row is not None and row.started_at < now - KEPT:
        KeyedRequest.objects.filter(pk=row.pk, started_at=row.started_at).delete()
        row = None
    if row is None:
        fresh = KeyedRequest(digest=digest, user=user, request=request, started_at=now)
        try:
            with transaction.atomic():
                fresh.save(force_insert=True)
        except IntegrityError:  # at this moment
            raise UnderWay("idempotency.under_way") from None
        return Reservation(fresh.pk, now)
    if row.request != request:
        raise OtherRequest("idempotency.mismatch")
    if row.status is not None:
        if not row.is_kept:
            details = {"status": row.status}
            raise AnswerNotKept("idempotency.answer_not_kept", details=details)
        return KeptAnswer(row.status, row.answer)
    dead = KeyedRequest.objects.filter(pk=row.pk, status=None, started_at=row.started_at)
    if row.started_at >= now - DEAD_AFTER or not dead.update(started_at=now):
        raise UnderWay("idempotency.under_way")
    return Reservation(row.pk, now)


def keep(reserved: Reservation, *, status: int, answer: str | None) -> None:
    """Within the transaction of what was written; refused if the key is another's by now."""
    is_kept = answer is not None and len(answer) <= LARGEST_ANSWER
    kept = {"answer": answer if is_kept else "", "is_kept": is_kept}
    if not _held(reserved).update(status=status, **kept):
        raise Overtaken("idempotency.overtaken")


def release(reserved: Reservation) -> None:
    """Nothing was carried out: the same key may be sent again, also with something else."""
    _held(reserved).delete()


def _held(reserved: Reservation) -> QuerySet[KeyedRequest]:
    rows = KeyedRequest.objects.filter(pk=reserved.key, started_at=reserved.started_at)
    return rows.filter(status=None)


def forget() -> int:
    """Keys of requests that are long past; a few at a time, for the sweep."""
    old = KeyedRequest.objects.filter(started_at__lt=clock.now() - KEPT)
    keys = list(old.order_by("started_at").values_list("pk", flat=True)[:FORGOTTEN_AT_ONCE])
    return KeyedRequest.objects.filter(pk__in=keys).delete()[0] if keys else 0
