"""Has a worker compare each answer to a check with gold."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet

from labeling.jobs import queue
from labeling.models import (
    Assignment,
    GoldCheck,
)
from labeling.services.work.admission import FIRST

Purpose = Assignment.Purpose


def request(assignment: Assignment) -> None:
    """Ask a worker, once the answer is stored: the web process never loads the encoder."""
    queue.ask("checks", assignment.pk)


def due() -> QuerySet[Assignment, int]:
    return unscored().values_list("pk", flat=True)


def unscored() -> QuerySet[Assignment]:
    """Answers to checks that are not compared yet."""
    scored = GoldCheck.objects.filter(
        assignment=OuterRef("pk"), version=OuterRef("annotation__version")
    )
    tested = Q(purpose__in=FIRST, annotation__status__in=["submitted", "skipped"])
    hidden = Q(purpose=Purpose.HONEYPOT, annotation__status="submitted")
    # this purpose, not others: it is what the index of checks holds
    checks = Assignment.with_checks.exclude(purpose=Purpose.LABELING)
    return checks.filter(tested | hidden).exclude(Exists(scored)).order_by()
