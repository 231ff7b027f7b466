"""A project with hidden checks, who meets them, and tries of tests."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User

from labeling.models import Annotation, Assignment, Project, Qualification
from labeling.screening import check_scores, check_turns, tries
from labeling.work import annotations, assignments
from tests import factories

HONEYPOT = Assignment.Purpose.HONEYPOT


def check_by(project: Project, rita: User, *, every: int = 2, **fields: object) -> None:
    check_turns.set_plan(project, by=rita, every=every, **fields)


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


def do_try(user: User, project: Project, sources: Sequence[int] = (0,)) -> Qualification:
    """A whole try; right is what cites message 0."""
    tries.begin(project, user)
    for part in tries.parts_of(user, project):
        known = Annotation.of(part).first()
        version = known.version if known else 0
        labels = factories.labels(sources)
        annotations.submit(part, factories.save_of(labels, base_version=version))
        check_scores.score(part.pk, ruler=factories.ruler())
    return tries.row_of(project, user)
