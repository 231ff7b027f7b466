"""How far a project is: its conversations by state, and its people."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, Max, QuerySet

from labeling.domain.msgids import msgid
from labeling.models import AnnotationRevision, Assignment, GoldItem, GoldRelease, Project
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
    frozen = states.filter(pk__in=in_gold([project]).values("conversation"))
    as_gold = Counter(_by(frozen, "stage"))
    counts.subtract(as_gold)
    counts["gold"] = as_gold.total()
    return [StateShare(name, title, counts[name], counts.total()) for name, title in STATES.items()]


def _by(rows: QuerySet[Any], column: str) -> dict[Any, int]:
    return dict(rows.order_by().values_list(column).annotate(n=Count("pk")))


def work_by_status(people: Sequence[Person]) -> list[StateShare]:
    """Everybody's work, by status."""
    counts = {name: sum(getattr(person, name) for person in people) for name in STATUS}
    total = sum(counts.values())
    return [StateShare(name, name.capitalize(), number, total) for name, number in counts.items()]


def in_gold(projects: Iterable[Any]) -> QuerySet[GoldItem]:
    """The items of the newest releases of these projects that people labeled."""
    labeled = GoldRelease.objects.filter(project__in=projects).labeled().order_by()
    newest = labeled.values("project", "layer").annotate(newest=Max("pk")).values("newest")
    return GoldItem.objects.filter(release__in=newest).order_by()


# --- by person ----------------------------------------------------------------------------------


def people(project: Project) -> list[Person]:
    """A row for everybody with assignments, and for annotators who wait for some."""
    work = Assignment.objects.filter(round__project=project).order_by()
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    active: dict[int, list[datetime]] = defaultdict(list)
    by_status = work.values_list("annotator", "annotation__status")
    newest = Max("annotation__updated_at")
    for pk, status, number, at in by_status.annotate(n=Count("pk"), newest=newest):
        counts[pk][status or "pending"] = number
        active[pk] += [at] if at else []
    seconds: dict[int, list[int]] = defaultdict(list)
    submitted = work.filter(annotation__status="submitted")
    for pk, spent in submitted.values_list("annotator", "annotation__active_seconds"):
        seconds[pk].append(spent)
    sent_back = AnnotationRevision.objects.filter(
        kind=AnnotationRevision.Kind.RETURNED, annotation__assignment__in=work
    )
    returned = _by(sent_back, "annotation__assignment__annotator")
    checked = check_scores.by_person(project)
    waiting = set(assignments.annotators(project).values_list("pk", flat=True))
    users = User.objects.filter(pk__in=waiting | counts.keys()).only("username")
    return [
        Person(
            pk=user.pk,
            username=user.username,
            assigned=counts[user.pk].total(),
            **{status: counts[user.pk][status] for status in STATUS},
            returned=returned.get(user.pk, 0),
            minutes=median(seconds[user.pk]) / 60 if seconds[user.pk] else None,
            last_active=max(active[user.pk], default=None),
            checked=checked.get(user.pk),
        )
        for user in sorted(users, key=lambda user: user.username)
    ]
