"""Wakes a worker for each answer to a check that has not been compared with gold yet."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from labeling.models import (
    Assignment,
    GoldCheck,
)
from labeling.services.wakeups import RESEND_SECONDS, Wakeups
from labeling.services.work.admission import FIRST

Purpose = Assignment.Purpose


_messages = Wakeups("labeling.tasks.score_check")


def request(assignment: Assignment) -> None:
    """Ask a worker, once the answer is stored: the web process never loads the encoder."""
    transaction.on_commit(partial(_messages.send, assignment.pk), robust=True)


def wake_unattended() -> list[int]:
    """Send another message for each answer that is not compared yet; its own may be lost."""
    before = timezone.now() - timedelta(seconds=RESEND_SECONDS)
    waiting = unscored().filter(annotation__updated_at__lt=before)
    return [pk for pk in waiting.values_list("pk", flat=True) if _messages.send_again(pk)]


def unscored() -> QuerySet[Assignment]:
    """Answers to checks that are not compared yet."""
    scored = GoldCheck.objects.filter(
        assignment=OuterRef("pk"), version=OuterRef("annotation__version")
    )
    tested = Q(purpose__in=FIRST, annotation__status__in=["submitted", "skipped"])
    hidden = Q(purpose=Purpose.HONEYPOT, annotation__status="submitted")
    # this purpose, not others: it is what the index of checks holds
    checks = Assignment.with_checks.exclude(purpose=Purpose.LABELLING)
    return checks.filter(tested | hidden).exclude(Exists(scored)).order_by()
