"""What both ratings by people have in common: of inferred requirements, and of answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet

from evaluation import judge
from evaluation.metrics.gate import JUDGED
from evaluation.models import AnswerPanel, RatingPanel
from labeling.domain.errors import RuleError
from labeling.models import Membership
from labeling.services import events

KINDS = tuple(kind for kind in judge.KINDS if kind in JUDGED)
"""The kinds of judgement that have their own figure, which is what a gate may look at."""

LONGEST_NOTE = 2000

Panel = RatingPanel | AnswerPanel


class RatingRefused(RuleError):
    """There is nothing to rate, the rating is closed, or a value is none."""

    code = "rating_refused"


def invitable(panel: Panel) -> QuerySet[User]:
    """The annotators of the project; who reads results may rate without being asked."""
    role = Membership.Role.ANNOTATOR
    members = Membership.objects.filter(project=panel.run.release.project_id, role=role)
    return User.objects.filter(pk__in=members.values("user")).order_by("username")


def invite(panel: Panel, usernames: Iterable[str]) -> str:
    """From now on exactly these annotators may rate beside leads and researchers; their names."""
    chosen = list(invitable(panel).filter(username__in=list(usernames)))
    panel.invited.set(chosen)
    return ", ".join(user.username for user in chosen) or "nobody"


def check_note(note: str) -> None:
    if len(note) > LONGEST_NOTE:
        raise RatingRefused("rating.note_too_long", most=LONGEST_NOTE)


def record(verb: str, panel: Panel, actor: Any, **data: Any) -> None:
    project = panel.run.release.project
    events.record(verb, panel.run, project=project, actor=actor, run=panel.run_id, **data)
