"""Work that changes hands: the open work of one person given to others."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, QuerySet

from labeling.core import events, transactions
from labeling.domain.errors import RuleError
from labeling.jobs import pending
from labeling.models import Assignment, Project, Round
from labeling.screening import check_turns
from labeling.work import admission, assignments


class HandoverImpossible(RuleError, code="handover_impossible"):
    """The work cannot go to this person."""


def _had(round_: Round, person: User) -> set[int]:
    """Conversations that the person holds, or has answered or skipped."""
    rows = round_.handed_out.filter(annotator=person).order_by()
    idle = rows.filter(assignments.UNFINISHED, slot__isnull=True)
    return set(rows.exclude(pk__in=idle.values("pk")).values_list("conversation", flat=True))


def open_work(project: Project, person: User) -> QuerySet[Assignment]:
    """The person's assignments in open rounds that are not answered."""
    work = Assignment.objects.given_to(person).filter(
        assignments.UNFINISHED,
        round__project=project,
        round__state=Round.State.OPEN,
        slot__isnull=False,
    )
    return work.order_by("round", "position", "pk")


class HandedOn(NamedTuple):
    """Where the open work of somebody went; ``to`` has numbers by user name."""

    to: dict[str, int]
    pool: int
    left_open: int

    @property
    def total(self) -> int:
        return sum(self.to.values()) + self.pool + self.left_open


@transactions.atomic
def hand_on(*, project: Project, person: User, by: User | None, to: User | None = None) -> HandedOn:
    """Hand on the open work of one person, who may annotate no longer.

    It goes to ``to``, else back to the pool, else to those annotators of the round who never had
    the conversation and have the least left to do. What nobody can take stays with fewer
    annotators. Drafts are kept with their author; nobody else reads them. A calibration round that
    only waited for this work is measured.
    """
    if to is not None and (to == person or to not in assignments.annotators(project)):
        raise HandoverImpossible("handover.same_annotator")
    given: Counter[str] = Counter()
    pool = left_open = 0
    for round_ in project.rounds.filter(state=Round.State.OPEN):
        assignments.lock(round_)
        work = list(open_work(project, person).filter(round=round_))
        staying = work
        if work and (to or not round_.pool):
            shares = _shares(round_, work, [to] if to else _others_in(round_, person))
            for taker, share in shares.items():
                assignments.hand_over(share, to=taker)
                given[taker.get_username()] += len(share)
            taken = {row.pk for share in shares.values() for row in share}
            staying = [row for row in work if row.pk not in taken]
            left_open += len(staying)
        else:
            pool += len(work)
        assignments.release([*staying, *check_turns.open_honeypots(round_, person)])
        if work and round_.kind == Round.Kind.CALIBRATION:  # it may have waited for this alone
            pending.request(project, measure=round_)
    handed_on = HandedOn(dict(sorted(given.items())), pool, left_open)
    if handed_on.total:
        events.record(
            "assignment.handed_on",
            project,
            project=project,
            actor=by,
            user=person.get_username(),
            **handed_on._asdict(),
        )
    return handed_on


def _others_in(round_: Round, person: User) -> list[User]:
    """The annotators of the round who may work on it now."""
    there = round_.assignments.order_by().values("annotator")
    others = assignments.annotators(round_.project).filter(pk__in=there).exclude(pk=person.pk)
    return [other for other in others if not admission.is_shut(other, round_)]


def _shares(
    round_: Round, work: list[Assignment], people: list[User]
) -> dict[User, list[Assignment]]:
    """To each of these people what they can take, the next to who has the least left to do."""
    had = {person: _had(round_, person) for person in people}
    load = {person: open_work(round_.project, person).count() for person in people}
    shares: dict[User, list[Assignment]] = {}
    for row in work:
        able = [person for person in people if row.conversation_id not in had[person]]
        if able:
            taker = min(able, key=lambda person: (load[person], person.pk))
            load[taker] += 1
            shares.setdefault(taker, []).append(row)
    return shares


@transactions.atomic
def take_up(*, project: Project, person: User) -> int:
    """Give somebody who is back those planned conversations that nobody else has got since."""
    taken_up = 0
    planned = project.rounds.filter(state=Round.State.OPEN, pool=False)
    for round_ in planned:
        assignments.lock(round_)
        mine = round_.assignments.given_to(person).order_by("position")
        for row in mine.filter(assignments.UNFINISHED, slot__isnull=True):
            taken_up += assignments.take_free_place(row, lease_expires_at=None)
    return taken_up


def still_held(project: Project) -> dict[User, int]:
    """Open work of people who no longer annotate, or whose account is closed."""
    annotators = assignments.annotators(project).filter(is_active=True).order_by()
    rows = (
        Assignment.objects.filter(
            assignments.UNFINISHED,
            round__project=project,
            round__state=Round.State.OPEN,
            round__pool=False,
            slot__isnull=False,
        )
        .exclude(annotator__in=annotators.values("pk"))
        .order_by()
    )
    counts = dict(rows.values_list("annotator").annotate(n=Count("pk")))
    people = User.objects.filter(pk__in=counts).order_by("username") if counts else []
    return {person: counts[person.pk] for person in people}
