"""How far a project is: its conversations by state, and its people."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, Max, QuerySet

from labeling.domain.msgids import msgid
from labeling.models import (
    AnnotationRevision,
    Assignment,
    GoldItem,
    GoldRelease,
    Project,
)
from labeling.screening import check_scores
from labeling.work import assignments
from labeling.work.stages import with_stage

STATES = {
    "unplanned": msgid("Not in a round"),
    "waiting": msgid("In a round, nobody has begun"),
    "begun": msgid("Being labeled"),
    "labeled": msgid("All answers are in"),
    "disputed": msgid("Disputed, not decided yet"),
    "decided": msgid("Decided by an adjudicator"),
    "gold": msgid("In gold"),
}
STATUS = ("pending", "draft", "submitted", "skipped")


class StateShare(NamedTuple):
    """One state: how many of ``total`` are in it."""

    name: str
    title: str
    number: int
    total: int


@dataclass(frozen=True, slots=True)
class Person:
    """One annotator's work. ``returned`` counts every time an answer was sent back.

    ``checked`` are the hidden checks.
    """

    pk: int
    username: str
    assigned: int
    pending: int
    draft: int
    submitted: int
    skipped: int
    returned: int
    minutes: float | None
    last_active: datetime | None
    checked: check_scores.GoldAgreement | None


# --- by state -----------------------------------------------------------------------------------


def by_state(project: Project) -> list[StateShare]:
    """Every conversation is in one state: the last one that it has reached."""
    states = with_stage(project.conversations.all())
    counts = Counter(_by(states, "stage"))
    in_gold = states.filter(pk__in=_in_gold(project).values("conversation"))
    frozen = Counter(_by(in_gold, "stage"))
    counts.subtract(frozen)
    counts["gold"] = frozen.total()
    return [StateShare(name, title, counts[name], counts.total()) for name, title in STATES.items()]


def _by(rows: QuerySet[Any], column: str) -> dict[str, int]:
    return dict(rows.order_by().values_list(column).annotate(n=Count("pk")))


def work_by_status(people: Sequence[Person]) -> list[StateShare]:
    """Everybody's work, by status."""
    counts = {name: sum(getattr(person, name) for person in people) for name in STATUS}
    total = sum(counts.values())
    return [StateShare(name, name.capitalize(), number, total) for name, number in counts.items()]


def _in_gold(project: Project) -> QuerySet[GoldItem]:
    newest = (
        GoldRelease.objects.filter(project=project)
        .labeled()
        .order_by()
        .values("layer")
        .annotate(newest=Max("pk"))
        .values("newest")
    )
    return GoldItem.objects.filter(release__in=newest).order_by()


# --- by person ----------------------------------------------------------------------------------


def people(project: Project) -> list[Person]:
    """A row for everybody with assignments, and for annotators who wait for some."""
    counts = _counts_of_work(project)
    rows, minutes = _work_of_people(project, counts), _median_minutes(counts)
    returned = _returned(project)
    checked = check_scores.by_person(project)
    return [
        Person(
            **row,
            returned=returned.get(row["pk"], 0),
            minutes=minutes.get(row["pk"]),
            checked=checked.get(row["pk"]),
        )
        for row in rows
    ]


class WorkCount(NamedTuple):
    """How many assignments of a person have the same status and time spent."""

    person: int
    status: str
    seconds: int
    n: int
    newest: datetime | None


def _counts_of_work(project: Project) -> list[WorkCount]:
    columns = ("annotator", "annotation__status", "annotation__active_seconds")
    counts = (
        _work(project)
        .values_list(*columns)
        .annotate(n=Count("pk"), newest=Max("annotation__updated_at"))
    )
    return [
        WorkCount(person, status or "pending", seconds or 0, n, newest)
        for person, status, seconds, n, newest in counts
    ]


def _work_of_people(project: Project, counts: Iterable[WorkCount]) -> list[dict[str, Any]]:
    nothing: dict[str, Any] = {"assigned": 0, "last_active": None, **dict.fromkeys(STATUS, 0)}
    rows: dict[int, dict[str, Any]] = {}
    for count in counts:
        row = rows.setdefault(count.person, {"pk": count.person, **nothing})
        row["assigned"] += count.n
        row[count.status] += count.n
        row["last_active"] = _later(row["last_active"], count.newest)
    names = dict(User.objects.filter(pk__in=rows).values_list("pk", "username"))
    by_name = {names[person]: {"username": names[person], **row} for person, row in rows.items()}
    for waiting in assignments.annotators(project).values("pk", "username"):
        by_name.setdefault(waiting["username"], {**waiting, **nothing})
    return [by_name[name] for name in sorted(by_name)]


def _work(project: Project) -> QuerySet[Assignment]:
    rounds = list(project.rounds.values_list("pk", flat=True))
    return Assignment.objects.filter(round__in=rounds).order_by()


def _later(a: datetime | None, b: datetime | None) -> datetime | None:
    return max(filter(None, (a, b)), default=None)


def _median_minutes(counts: Iterable[WorkCount]) -> dict[int, float]:
    """Computed here, because SQLite has no median, from how often each time was taken."""
    seconds: dict[int, Counter[int]] = defaultdict(Counter)
    for count in counts:
        if count.status == "submitted":
            seconds[count.person][count.seconds] += count.n
    return {person: _median(spent) / 60 for person, spent in seconds.items()}


def _median(counts: Counter[int]) -> float:
    """Of values by how often each occurs."""
    values = sorted(counts)
    upto = list(accumulate(counts[value] for value in values))
    n = upto[-1]
    low, high = (values[bisect_right(upto, at)] for at in ((n - 1) // 2, n // 2))
    return (low + high) / 2


def _returned(project: Project) -> dict[int, int]:
    """An index holds the revisions of the few answers that were sent back."""
    revisions = AnnotationRevision.objects.filter(kind=AnnotationRevision.Kind.RETURNED)
    times = dict(revisions.order_by().values_list("annotation").annotate(n=Count("pk")))
    sent_back = _work(project).filter(annotation__in=revisions.values("annotation"))
    returned: Counter[int] = Counter()
    for person, answer in sent_back.values_list("annotator", "annotation"):
        returned[person] += times[answer]
    return returned
