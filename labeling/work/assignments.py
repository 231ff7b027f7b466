"""Who works on what: the queue, taking from a pool, leases and the overlap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, connection
from django.db.models import (
    Count,
    Exists,
    F,
    Func,
    IntegerField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.db.models.functions import Now
from django.db.models.lookups import LessThan

from labeling.core import clock, transactions
from labeling.core.models.projects import is_within_limit
from labeling.domain.batches import batches
from labeling.domain.errors import RuleError
from labeling.models import (
    Annotation,
    Assignment,
    Membership,
    Project,
    Round,
    RoundConversation,
)
from labeling.screening import check_turns
from labeling.work import admission

_TRIES = 10  # another annotator may take the same place in between
NOTHING_GIVEN = {"pending": 0, "draft": 0, "submitted": 0, "skipped": 0}
UNFINISHED = Q(annotation__isnull=True) | Q(annotation__status=Annotation.Status.DRAFT)
FINISHED = Q(annotation__status__in=[Annotation.Status.SUBMITTED, Annotation.Status.SKIPPED])


class _Filled(Exception):
    """Others have taken the last place while it was waited for."""


class PlaceTaken(RuleError, code="place_taken"):
    """The reservation ran out and others have filled the conversation's places."""


def queue(user: User) -> QuerySet[Assignment]:
    """All assignments of the user, open rounds first, in the order to work through."""
    return (
        Assignment.owned_by(user)
        .select_related("conversation", "round__project")
        .order_by(
            F("round__closed_at").asc(nulls_first=True), "round__kind", "round_id", "position", "pk"
        )
    )


def next_for(user: User, *, after: Assignment | None = None) -> Assignment | None:
    """The next thing to label: a test, begun or planned work, then a pool's.

    After an assignment (``after``), the user stays in its round while it has work, and in its
    project: None says that nothing is left there.
    """
    rounds = _open_rounds(user)
    shut = _shut(user, rounds)
    here: list[Round] = []
    if after is not None:
        rounds = [round_ for round_ in rounds if round_.project_id == after.round.project_id]
        here = [round_ for round_ in rounds if round_.pk == after.round_id]
    work = {round_: _open_work(user, round_, shut, after) for round_ in rounds if round_.has_work}
    for part in (here, rounds):
        for round_ in part:
            if round_ in work and (assignment := work[round_].first()):
                return assignment
        if assignment := _take(user, part, shut):
            return assignment
    closed = admission.shut_to(user).all
    if after is not None:
        closed = [pk for pk in closed if pk == after.round.project_id]
    if closed := [pk for pk in closed if is_within_limit(user, pk)]:
        raise admission.why_shut(user, closed)
    return None


def _open_rounds(user: User) -> list[Any]:
    """Those the user annotates in, the test first, each with what its project checks.

    ``has_work``: the user has something left there; ``has_draft``: something begun without a place.
    """
    rounds = Round.with_checks.filter(state=Round.State.OPEN, **_annotated_by(user))
    in_order = rounds.order_by("kind", "pk").annotate(
        layers=F("project__layers"),
        test=F("project__check_plan__test"),
        check_every=F("project__check_plan__every"),
    )
    within: list[Any] = [row for row in in_order if is_within_limit(user, row.project_id)]
    mine = Assignment.with_checks.filter(annotator=user).exclude(FINISHED).order_by()
    left = set(mine.values_list("round", "slot", "annotation"))
    held = {pk for pk, slot, _ in left if slot is not None}
    begun = {pk for pk, slot, annotation in left if slot is None and annotation}
    for round_ in within:
        round_.has_work, round_.has_draft = round_.pk in held, round_.pk in begun
    return sorted(within, key=lambda round_: round_.kind != Round.Kind.QUALIFYING)


def _shut(user: User, rounds: Iterable[Any]) -> admission.Shut:
    projects = {round_.project_id: (round_.layers, round_.test) for round_ in rounds}
    return admission.shut(user, [(pk, *checks) for pk, checks in projects.items()])


def _open_work(
    user: User, round_: Round, shut: admission.Shut, after: Assignment | None
) -> QuerySet[Assignment]:
    work = Assignment.with_checks.filter(
        UNFINISHED, annotator=user, round=round_, slot__isnull=False
    )
    if shut:
        work = work.exclude(admission.not_begun_in(shut))
    if after is not None:
        work = work.exclude(pk=after.pk)
    return work.order_by("position", "pk")


def pools_for(user: User) -> QuerySet[Round]:
    """Where the user may take something new."""
    return _pools_of(user).exclude(project__in=admission.shut_to(user).all)


def _pools_of(user: User) -> QuerySet[Round]:
    return Round.objects.filter(pool=True, state=Round.State.OPEN, **_annotated_by(user))


def _annotated_by(user: User) -> dict[str, Any]:
    """The conditions of rounds in whose projects the user annotates."""
    return {
        "project__memberships__user": user,
        "project__memberships__role": Membership.Role.ANNOTATOR,
    }


def take(user: User) -> Assignment | None:
    """Reserve the next free place in one of the user's pools; None when there is none."""
    rounds = _open_rounds(user)
    return _take(user, rounds, _shut(user, rounds))


def _take(user: User, rounds: Iterable[Any], shut: admission.Shut) -> Assignment | None:
    for pool in rounds:
        if not pool.pool or pool.project_id in shut.all:
            continue
        for _ in range(_TRIES):
            try:
                taken = _take_from(pool, user)
            except (IntegrityError, _Filled):
                continue  # the place went to somebody else
            if taken is not None:
                return taken
            break
    return None


@transactions.atomic
def _take_from(pool: Any, user: User) -> Assignment | None:
    if pool.has_draft and (again := _again(pool, user)):
        return again
    place = _free_place(pool, user)
    if place is None and give_back_expired(pool):
        place = _free_place(pool, user)
    if place is None:
        return _again(pool, user)
    every = pool.check_every
    if every and (hidden := check_turns.take_turn(pool, user, every)) is not None:
        return _new(pool, user, hidden, place.position, slot=0, purpose=Assignment.Purpose.HONEYPOT)
    taken = pool.assignments.filter(conversation=place.conversation_id).order_by()
    slot = _free_slot(pool, taken.values_list("slot", flat=True))
    if slot is None:
        raise _Filled
    return _new(pool, user, place.conversation_id, place.position, slot=slot)


def _again(pool: Round, user: User) -> Assignment | None:
    """What the user had before and that still has a place, begun work first."""
    idle = Assignment.objects.exclude(FINISHED).filter(
        _has_place(pool), round=pool, annotator=user, slot__isnull=True
    )
    for row in idle.order_by(F("annotation").asc(nulls_last=True), "position").select_related(
        "round", "annotator"
    ):
        if hold(row):
            row.refresh_from_db(fields=["slot", "position", "lease_expires_at"])
            return row
    return None


def _new(pool: Round, user: User, conversation: int, position: int, **fields: Any) -> Assignment:
    return Assignment.objects.create(
        round=pool,
        conversation_id=conversation,
        annotator=user,
        position=position,
        lease_expires_at=lease_end(),
        **fields,
    )


def lock(round_: Round) -> Round:
    """On PostgreSQL one transaction at a time changes the round; on SQLite it is so anyway.

    Who takes the next place from a pool does not wait for it: that locks the place alone.
    """
    return Round.with_checks.select_for_update(no_key=True).get(pk=round_.pk)


def lock_place(assignment: Assignment) -> Round:
    """The round as it is now, then one place in it; always in this order and before the annotation,
    so that there is no deadlock. Autosaves do not lock the round: they would wait for each other.
    """
    round_ = lock(assignment.round)
    lock_own(assignment)
    return round_


def lock_own(assignment: Assignment) -> None:
    if connection.features.has_select_for_update:  # on SQLite one transaction writes at a time
        assignment.row.select_for_update(no_key=True).only("pk").get()


def is_open(assignment: Assignment) -> bool:
    """Whether its round is open now. Autosaves do not lock it: a late draft does no harm."""
    held = Round.with_checks.filter(pk=assignment.round_id, state=Round.State.OPEN)
    return held.exists()


def keep_open(assignment: Assignment) -> bool:
    """Whether its round is open, which it then is until the transaction ends.

    Of full labeling, submissions share the round; of calibration it is the last answer of the round
    that counts, so they wait for each other. On SQLite one transaction writes at a time anyway.
    """
    if connection.vendor == "sqlite":
        return is_open(assignment)
    if assignment.round.kind != Round.Kind.FULL:
        return lock_place(assignment).state == Round.State.OPEN
    with connection.cursor() as cursor:  # Django has no FOR SHARE
        cursor.execute(
            "SELECT state FROM labeling_round WHERE id = %s FOR SHARE", [assignment.round_id]
        )
        (state,) = cursor.fetchone()
    return bool(state == Round.State.OPEN)


def lock_conversation(round_: int, conversation: int) -> None:
    """In one round, until the transaction ends. On SQLite one transaction writes at a time anyway.

    The order is the same everywhere: round, assignment, answer, place.
    """
    if connection.features.has_select_for_update:
        place = RoundConversation.objects.filter(round=round_, conversation=conversation)
        place.select_for_update(no_key=True).order_by().values_list("pk").first()


def _free_place(pool: Round, user: User) -> RoundConversation | None:
    """A conversation with a free place that the user has never had.

    They go on from where they are, past all that is full by then, and look at the rest only when
    nothing is left there. On PostgreSQL what others are just taking is
    passed over; only where nothing else is left, it is waited for: they may leave another place of
    the same conversation.
    """
    free = _free_places(pool, user)
    ways = [free.filter(position__gte=_reached(pool, user)), free]
    if connection.features.has_select_for_update:
        passing = [
            way.select_for_update(of=("self",), no_key=True, skip_locked=True) for way in ways
        ]
        ways = [*passing, free.select_for_update(of=("self",), no_key=True)]
    return next((place for way in ways for place in way[:1]), None)


def _reached(pool: Round, user: User) -> int:
    """The position in the pool of what the user got last."""
    mine = pool.handed_out.filter(annotator=user)
    last = mine.order_by("-position").values_list("position", flat=True)[:1]
    return next(iter(last), 0)


def _free_places(pool: Round, user: User) -> QuerySet[RoundConversation]:
    """In the order of the pool."""
    mine = pool.handed_out.filter(annotator=user).values("conversation")
    free = RoundConversation.objects.filter(_has_place(pool), ~Q(conversation__in=mine), round=pool)
    return free.order_by("position")


def _has_place(pool: Round) -> LessThan:
    """Its conversation is taken by fewer than wanted: a look into the index of the slots."""
    here = _places(pool).filter(conversation=OuterRef("conversation"))
    number = Func("slot", function="COUNT", output_field=IntegerField())  # without GROUP BY
    return LessThan(Subquery(here.values(n=number)), pool.overlap)


def _places(round_: Round) -> QuerySet[Assignment]:
    return round_.assignments.filter(slot__isnull=False).order_by()


def _free_slot(pool: Round, taken: Iterable[int | None]) -> int | None:
    return min(set(range(pool.overlap)).difference(taken), default=None)


def give_back_expired(pool: Round) -> int:
    """Free the places of leases that ran out before an answer. Drafts are kept."""
    expired = pool.handed_out.filter(slot__isnull=False, lease_expires_at__lt=clock.now())
    if not expired.order_by().exists():
        return 0
    answers = Annotation.of(OuterRef("pk"))
    # Without a join: PostgreSQL looks again only at conditions on the row that it waited for.
    finished = Exists(answers.exclude(status=Annotation.Status.DRAFT))
    return expired.exclude(finished).update(slot=None)


def hold(assignment: Assignment, *, for_good: bool = False) -> bool:
    """Renew the lease of work in progress; take the place again if it was given back.

    ``for_good`` ends the lease: the answer is in and keeps its place, and what it was returned for
    is done. False when the place is gone: others have filled the conversation's places, or it was
    handed to somebody else.
    """
    values: dict[str, Any] = {"lease_expires_at": lease_end() if assignment.round.pool else None}
    if for_good:
        values = {"lease_expires_at": None, "returned_reason": ""}
    # One conditional update: giving back expired places waits for it, then sees the lease.
    mine = assignment.row.filter(slot__isnull=False)
    return bool(mine.update(**values)) or _retake(assignment, **values)


def can_hold(assignment: Assignment) -> bool:
    """Whether ``hold`` would find a place, as far as can be seen without a lock."""
    mine = assignment.row.filter(slot__isnull=False)
    pool = _pools_of(assignment.annotator).filter(pk=assignment.round_id)
    return mine.exists() or (pool.exists() and not _is_full(assignment))


def _is_full(assignment: Assignment) -> bool:
    taken = _places(assignment.round).filter(conversation=assignment.conversation).count()
    is_check = assignment.purpose == Assignment.Purpose.HONEYPOT  # nobody else takes its place
    return not is_check and taken >= assignment.round.overlap


def _retake(assignment: Assignment, **values: Any) -> bool:
    """Only from a pool, and only for its annotators: planned work without a place was moved."""
    pool = assignment.round
    if not _pools_of(assignment.annotator).filter(pk=pool.pk).exists():
        return False
    if assignment.purpose == Assignment.Purpose.HONEYPOT:
        return bool(assignment.row.update(slot=0, **values))
    give_back_expired(pool)
    return take_free_place(assignment, **values)


def take_free_place(assignment: Assignment, **values: Any) -> bool:
    """The assignment's conversation again, if it has a free place."""
    lock_own(assignment)
    lock_conversation(assignment.round_id, assignment.conversation_id)
    taken = _places(assignment.round).filter(conversation=assignment.conversation_id)
    slot = _free_slot(assignment.round, taken.values_list("slot", flat=True))
    mine = assignment.row
    return slot is not None and bool(mine.update(slot=slot, **values))


@transactions.atomic
def give_back(assignment: Assignment) -> bool:
    """Return a pool's place before an answer, so that somebody else gets the conversation.

    A draft is kept. False when there was nothing to return, or it is just being submitted.
    """
    lock(assignment.round)
    reserved = assignment.row.filter(round__pool=True, slot__isnull=False)
    return bool(reserved.filter(UNFINISHED).update(slot=None, lease_expires_at=None))


def pass_on(assignment: Assignment) -> None:
    """Give a skipped conversation to somebody else.

    Planned work goes to the annotator of the round with the least left who never had it; without
    one, it stays skipped.
    """
    if assignment.round.pool:
        give_back(assignment)
        return
    lock(assignment.round)
    other = _least_loaded(assignment)
    current = Assignment.objects.filter(pk=assignment.pk, slot__isnull=False).first()
    if other is not None and current is not None:
        hand_over([current], to=other)


def _least_loaded(assignment: Assignment) -> User | None:
    """Of the round's annotators who never had the conversation, the one with least left to do."""
    round_ = assignment.round
    had = round_.handed_out.filter(conversation=assignment.conversation_id)
    left = Q(assignments__round=round_, assignments__slot__isnull=False) & (
        Q(assignments__annotation__isnull=True)
        | Q(assignments__annotation__status=Annotation.Status.DRAFT)
    )
    return (
        annotators(round_.project)
        .filter(pk__in=round_.assignments.order_by().values("annotator"))
        .exclude(pk__in=had.order_by().values("annotator"))
        .annotate(left=Count("assignments", filter=left))
        .order_by("left", "pk")
        .first()
    )


def annotators(project: Project) -> QuerySet[User]:
    role = Membership.Role.ANNOTATOR
    return User.objects.filter(
        pk__in=project.memberships.filter(role=role).order_by().values("user")
    ).order_by("username")


def hand_over(assignments: Sequence[Assignment], *, to: User) -> None:
    """Give the places of one round to somebody else, at the end of their queue.

    The round is locked by the caller, and ``to`` has no place in these conversations.
    """
    round_ = assignments[0].round
    places = [(assignment.conversation_id, assignment.slot) for assignment in assignments]
    _lock_rows(round_, assignments, to)
    release(assignments)
    queued = round_.assignments.filter(annotator=to)
    last = queued.aggregate(last=Max("position"))["last"]
    start = 0 if last is None else last + 1
    Assignment.objects.bulk_create(
        [
            Assignment(
                round=round_,
                conversation_id=conversation,
                annotator=to,
                slot=slot,
                position=position,
                lease_expires_at=lease_end() if round_.pool else None,
            )
            for position, (conversation, slot) in enumerate(places, start=start)
        ],
        batch_size=1000,
        update_conflicts=True,  # somebody whose reservation ran out has a row already
        unique_fields=["round", "conversation", "annotator"],
        update_fields=["slot", "position", "lease_expires_at"],
    )


def _lock_rows(round_: Round, given: Sequence[Assignment], to: User) -> None:
    """What is given, what ``to`` has had of it, and the places, as who saves a draft does."""
    if not connection.features.has_select_for_update:
        return  # SQLite has one writer at a time
    for part in batches(given, 1000):
        theirs = Q(annotator=to, conversation__in=[row.conversation_id for row in part])
        rows = round_.handed_out.filter(theirs | Q(pk__in=[row.pk for row in part]))
        list(rows.order_by("pk").select_for_update(no_key=True).values_list("pk"))
        places = round_.places.filter(conversation__in=[row.conversation_id for row in part])
        list(places.order_by("pk").select_for_update(no_key=True).values_list("pk"))


def release(assignments: Sequence[Assignment]) -> None:
    """Take places back. What was labeled in them is kept, and does not count."""
    ids = [assignment.pk for assignment in assignments]
    for start in range(0, len(ids), 1000):
        Assignment.with_checks.filter(pk__in=ids[start : start + 1000]).update(
            slot=None, lease_expires_at=None
        )


def lease_end() -> datetime:
    return clock.now() + timedelta(minutes=settings.ASSIGNMENT_LEASE_MINUTES)


def cap_leases() -> int:
    """No place is kept for longer than one taken now: a clock may have been wrong meanwhile."""
    longest = timedelta(minutes=settings.ASSIGNMENT_LEASE_MINUTES)
    held = Assignment.with_checks.filter(slot__isnull=False)
    too_long = held.filter(lease_expires_at__gt=Now() + longest + timedelta(minutes=1))
    return too_long.update(lease_expires_at=Now() + longest)


def progress(project: Project) -> dict[str, int]:
    """How many assignments of a project are in each status."""
    return sum_of(by_round(project.rounds.all()).values())


def by_round(rounds: Iterable[Round]) -> dict[int, dict[str, int]]:
    """For each round, how many of its assignments are in each status."""
    counts = {round_.pk: dict(NOTHING_GIVEN) for round_ in rounds}
    assignments = Assignment.objects.filter(round__in=counts).order_by()
    numbers = assignments.values_list("round", "annotation__status").annotate(n=Count("pk"))
    for pk, status, n in numbers:
        counts[pk][status or "pending"] = n
    return counts


def sum_of(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """By status, over all these counts."""
    counts = list(counts)
    return {status: sum(count[status] for count in counts) for status in NOTHING_GIVEN}
