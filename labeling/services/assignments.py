"""Who works on what: the queue, taking from a pool, leases and the overlap."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Count, F, Q, QuerySet
from django.utils import timezone

from labeling.domain.errors import RuleError
from labeling.models import (
    Annotation,
    Assignment,
    Membership,
    Project,
    Round,
    RoundConversation,
)

_TRIES = 5  # another annotator may take the same place in between


class PlaceTaken(RuleError):
    """The reservation ran out and others have filled the conversation's places."""

    code = "place_taken"


def queue(user: User) -> QuerySet[Assignment]:
    """Everything the user has been given, open rounds first, in the order to work through."""
    return (
        Assignment.objects.owned_by(user)
        .with_status()
        .select_related("conversation", "round__project")
        .order_by(
            F("round__closed_at").asc(nulls_first=True), "round__kind", "round_id", "position", "pk"
        )
    )


def next_for(user: User, *, after: Assignment | None = None) -> Assignment | None:
    """The next thing to label: begun or planned work first, then one from a pool."""
    unfinished = Q(annotation__isnull=True) | Q(annotation__status=Annotation.Status.DRAFT)
    open_work = queue(user).filter(unfinished, round__state=Round.State.OPEN, slot__isnull=False)
    if after is not None:
        open_work = open_work.exclude(pk=after.pk)
    return open_work.first() or take(user)


def pools_for(user: User) -> QuerySet[Round]:
    projects = Project.objects.filter(
        memberships__user=user, memberships__role=Membership.Role.ANNOTATOR
    )
    return Round.objects.filter(project__in=projects, pool=True, state=Round.State.OPEN)


def take(user: User) -> Assignment | None:
    """Reserve the next free place in one of the user's pools; None when there is none."""
    for pool in pools_for(user).order_by("pk"):
        for _ in range(_TRIES):
            try:
                taken = _take_from(pool, user)
            except IntegrityError:
                continue  # the database gave the place to somebody else
            if taken is not None:
                return taken
            break
    return None


@transaction.atomic
def _take_from(pool: Round, user: User) -> Assignment | None:
    Round.objects.select_for_update().get(pk=pool.pk)  # PostgreSQL: one taker at a time
    give_back_expired(pool)
    place = _free_places(pool, user).first()
    if place is None:
        return None
    assignment, _ = Assignment.objects.update_or_create(
        round=pool,
        conversation_id=place.conversation_id,
        annotator=user,
        defaults={
            "slot": _free_slot(pool, place.conversation_id),
            "position": place.position,
            "lease_expires_at": lease_end(),
        },
    )
    return assignment


def _free_places(pool: Round, user: User) -> QuerySet[RoundConversation]:
    """Conversations with a free slot that the user has not answered, skipped or holds."""
    mine = pool.assignments.filter(annotator=user).filter(
        Q(slot__isnull=False) | Q(annotation__status__in=["submitted", "skipped"])
    )
    return (
        pool.places.exclude(conversation__in=mine.values("conversation"))
        .annotate(
            taken=Count(
                "conversation__assignments",
                filter=Q(
                    conversation__assignments__round=pool,
                    conversation__assignments__slot__isnull=False,
                ),
            )
        )
        .filter(taken__lt=pool.overlap)
        .order_by("position")
    )


def _free_slot(pool: Round, conversation_id: int) -> int:
    used = set(
        pool.assignments.filter(conversation_id=conversation_id, slot__isnull=False).values_list(
            "slot", flat=True
        )
    )
    return min(set(range(pool.overlap)) - used)


def give_back_expired(pool: Round) -> int:
    """Free the places of leases that ran out before an answer. Drafts are kept."""
    return (
        pool.assignments.filter(slot__isnull=False, lease_expires_at__lt=timezone.now())
        .filter(Q(annotation__isnull=True) | Q(annotation__status=Annotation.Status.DRAFT))
        .update(slot=None)
    )


def hold(assignment: Assignment) -> bool:
    """Renew the lease of work in progress; take the place again if it was given back.

    False when others have filled the conversation's places meanwhile.
    """
    mine = Assignment.objects.filter(pk=assignment.pk, slot__isnull=False)
    # One conditional update: whoever gives back expired places waits for it, then sees the lease.
    if mine.filter(lease_expires_at__isnull=False).update(lease_expires_at=lease_end()):
        return True
    return mine.exists() or _retake(assignment)


def _retake(assignment: Assignment) -> bool:
    pool = Round.objects.select_for_update().get(pk=assignment.round_id)
    give_back_expired(pool)
    places = pool.assignments.filter(conversation=assignment.conversation, slot__isnull=False)
    if places.count() >= pool.overlap:
        return False
    slot = _free_slot(pool, assignment.conversation_id)
    Assignment.objects.filter(pk=assignment.pk).update(slot=slot, lease_expires_at=lease_end())
    return True


def give_back(assignment: Assignment) -> None:
    """Return a pool place, so that somebody else gets the conversation."""
    if assignment.round.pool:
        Assignment.objects.filter(pk=assignment.pk).update(slot=None, lease_expires_at=None)


def lease_end() -> datetime:
    return timezone.now() + timedelta(minutes=settings.ASSIGNMENT_LEASE_MINUTES)


def progress(project: Project) -> dict[str, int]:
    """How many assignments of a project are in each status."""
    statuses = Assignment.objects.filter(round__project=project).order_by()
    rows = statuses.values_list("annotation__status").annotate(n=Count("pk"))
    counts = {"pending": 0, "draft": 0, "submitted": 0, "skipped": 0}
    return counts | {status or "pending": n for status, n in rows}
