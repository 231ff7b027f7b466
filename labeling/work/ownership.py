"""Whose work it is: what people may open, and what those read who have left the project."""

from __future__ import annotations

from typing import NoReturn

from django.contrib.auth.models import User
from django.http import Http404

from labeling.core.models.projects import is_within_limit
from labeling.domain.errors import RuleError
from labeling.models import Assignment
from labeling.work.admission import leads_of


class NotAnAnnotator(RuleError, code="not_an_annotator"):
    """The work was the user's, who no longer annotates in its project."""


def own(user: User, pk: int, *related: str) -> Assignment:
    """The user's assignment with its ``related`` rows; 404 where it never was theirs."""
    mine = Assignment.owned_by(user)
    try:
        assignment = mine.select_related(*related).get(pk=pk)
    except Assignment.DoesNotExist:
        refuse(user, pk)
    if not is_within_limit(user, assignment.round.project_id):
        refuse(user, pk)
    assignment.annotator = user
    return assignment


def refuse(user: User, pk: int) -> NoReturn:
    """Say why the assignment isn't the user's to open."""
    given = Assignment.given_to(user).select_related("round__project")
    former = given.filter(pk=pk).first()
    if former is None:
        raise Http404
    project = former.round.project
    raise NotAnAnnotator("work.not_an_annotator", project=project.name, leads=leads_of(project))
