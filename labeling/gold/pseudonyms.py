"""Who stands behind the names in gold: one pseudonym per person and project, for all releases."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from labeling.core import acting, projects
from labeling.gold.rules.content import GoldContent
from labeling.gold.rules.names import numbered, pseudonym, with_names
from labeling.models import (
    Adjudication,
    Annotation,
    GoldItem,
    Project,
    Pseudonym,
    Review,
)

Names = dict[str, str]


def assign(project: Project) -> Names:
    """The pseudonyms by name, where everybody who labeled, reviewed or decided has one."""
    people = {user.get_username(): user for user in _hands_in(project)}
    numbers = _numbers(project)
    if not people.keys() <= numbers.keys():
        numbers = _numbered(project, people)
    return {name: pseudonym(number) for name, number in numbers.items()}


@transaction.atomic
def _numbered(project: Project, people: dict[str, User]) -> dict[str, int]:
    """Give the new ones among them a number; returns everybody's."""
    projects.lock(project)
    numbers = _numbers(project)
    new = numbered(people, numbers)
    Pseudonym.objects.bulk_create(
        Pseudonym(project=project, user=people[name], number=number) for name, number in new.items()
    )
    return {**numbers, **new}


def names_of(project: Project) -> Names:
    """The names by pseudonym."""
    return {pseudonym(number): name for name, number in _numbers(project).items()}


def content_of(item: GoldItem, names: Names) -> GoldContent:
    """What the item holds, with these names instead of pseudonyms.

    Pseudonyms in imported gold are those of another project: they name nobody here.
    """
    content = item.content
    if names and not item.release.is_imported:
        content["provenance"] = with_names(content["provenance"], names)
    return content


def _numbers(project: Project) -> dict[str, int]:
    rows = Pseudonym.objects.filter(project=project).select_related("user")
    return {row.user.get_username(): row.number for row in rows}


def _hands_in(project: Project) -> Iterable[User]:
    done = (Annotation.Status.SUBMITTED, Annotation.Status.SKIPPED)
    answers = Annotation.objects.filter(assignment__round__project=project, status__in=done)
    decisions = Adjudication.objects.filter(conversation__project=project)
    reviews = Review.objects.filter(annotation__assignment__round__project=project)
    opened = project.rounds.exclude(override_reason="")
    people = (
        answers.order_by().values("assignment__annotator"),
        decisions.order_by().values("decided_by"),
        reviews.order_by().values("reviewer"),
        opened.order_by().values("opened_by"),
    )
    users = User.objects.filter(reduce(or_, (Q(pk__in=rows) for rows in people)))
    return users.exclude(username__startswith=acting.CONSOLE_BEGINS)  # it is nobody in particular
