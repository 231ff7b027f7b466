"""A project with hidden checks, and who meets them."""

from __future__ import annotations

from django.contrib.auth.models import User

from labeling.models import Assignment, Project
from labeling.screening import checks
from labeling.work import assignments

HONEYPOT = Assignment.Purpose.HONEYPOT


def check_by(project: Project, rita: User, *, every: int = 2, **fields: object) -> None:
    checks.set_plan(project, by=rita, every=every, **fields)


def hidden_of(user: User) -> list[Assignment]:
    return list(Assignment.checks.filter(annotator=user, purpose=HONEYPOT).order_by("pk"))


def take_hidden(user: User) -> Assignment:
    """Of two that are taken, one is a check; the other goes back."""
    for _ in range(2):
        mine = assignments.take(user)
        if mine.purpose != HONEYPOT:
            assignments.give_back(mine)
    (hidden,) = hidden_of(user)
    return hidden
