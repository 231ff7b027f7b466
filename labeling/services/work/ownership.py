"""Whose work it is: what people may open, and what those read who have left the project."""

from __future__ import annotations

from functools import cache
from typing import NoReturn

from django.contrib.auth.models import User
from django.http import Http404

from labeling.domain.errors import RuleError
from labeling.models import Assignment
from labeling.models.projects import is_within_limit
from labeling.services.statements import Prepared
from labeling.services.work.admission import leads_of


class NotAnAnnotator(RuleError):
    """The work was the user's, who no longer annotates in its project."""

    code = "not_an_annotator"


def own(user: User, pk: int, *related: str) -> Assignment:
    """The user's assignment with its ``related`` rows; 404 where it never was theirs."""
    assignment = _own(related).first(pk, user.pk)
    if assignment is None or not is_within_limit(user, assignment.round.project_id):
        refuse(user, pk)
    return assignment


@cache
def _own(related: tuple[str, ...]) -> Prepared[Assignment]:
    """Every page and answer of the workspace asks this first."""
    return Prepared(
        lambda pk, user: (
            Assignment.with_checks.owned_by(user).filter(pk=pk).select_related(*related).order_by()
        )
    )


def refuse(user: User, pk: int) -> NoReturn:
    """Say why the assignment isn't the user's to open."""
    given = Assignment.with_checks.given_to(user).select_related("round__project")
    former = given.filter(pk=pk).first()
    if former is None:
        raise Http404
    project = former.round.project
    raise NotAnAnnotator("work.not_an_annotator", project=project.name, leads=leads_of(project))
