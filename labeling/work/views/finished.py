"""What comes after the last answer of a round, for the annotator who gave it."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, Q

from labeling.models import Assignment, Project, Round
from labeling.overview import needs
from labeling.overview.needs import Discussion
from labeling.overview.views.home import TABS
from labeling.work import assignments

UNANSWERED = TABS["pending"] | TABS["draft"] | TABS["returned"]


class Elsewhere(NamedTuple):
    """Another project that has work for the same person; ``number`` 0: only a pool to take from."""

    project: Project
    number: int


def of(user: User, round_: Round) -> dict[str, Any]:
    """Of others only how many answers are in: a blind round shows no more before it has closed."""
    work = assignments.by_round([round_])[round_.pk]
    mine = Assignment.with_checks.owned_by(user)
    own = mine.filter(round=round_).order_by()
    counts = own.aggregate(
        submitted=Count("pk", filter=Q(annotation__status="submitted")),
        skipped=Count("pk", filter=Q(annotation__status="skipped")),
    )
    waiting = needs.waiting_discussions(user)
    return {
        "own": counts,
        "assigned": sum(work.values()),
        "answered": work["submitted"] + work["skipped"],
        "discussion": _of_round(waiting, round_),
        "elsewhere": _elsewhere(user, mine, round_.project_id),
        "left": mine.filter(UNANSWERED, round__project=round_.project_id).count(),
    }


def _of_round(waiting: list[Discussion], round_: Round) -> Discussion | None:
    return next((discussion for discussion in waiting if discussion.round == round_), None)


def _elsewhere(user: User, mine: Any, project: int) -> list[Elsewhere]:
    """In two queries: what is planned or begun in other projects, and their pools."""
    todo = mine.exclude(round__project=project).filter(UNANSWERED)
    numbers = dict(todo.order_by().values_list("round__project").annotate(n=Count("pk")))
    pools = assignments.pools_for(user).exclude(project=project).values_list("project", flat=True)
    projects = Project.objects.filter(pk__in={*numbers, *pools}).only("name", "slug")
    return [Elsewhere(other, numbers.get(other.pk, 0)) for other in projects.order_by("name")]
