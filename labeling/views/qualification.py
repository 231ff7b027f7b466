"""The annotator's own test: its progress and its result."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from labeling.domain.errors import RuleError
from labeling.models import GoldCheck, Project, Qualification
from labeling.services import access, blindness
from labeling.services.quality import qualification
from labeling.services.work import check_turns
from labeling.views.checks import named
from labeling.words import words

OVER = (Qualification.State.PASSED, Qualification.State.FAILED)


@require_GET
def test_page(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.any_role(request.user, slug)
    user = cast(User, request.user)
    test = Qualification.objects.filter(
        project=project, user=user, kind=Qualification.Kind.TEST
    ).first()
    plan = check_turns.plan_of(project)
    over = test is not None and test.state in OVER
    has_results = over or (test is not None and test.state == Qualification.State.BETWEEN)
    context = {
        "project": project,
        "plan": plan,
        "test": test,
        "own": [
            standing for standing in qualification.statuses(user) if standing.project == project
        ],
        "results": _results(project, user, with_labels=over and plan.show_labels)
        if has_results
        else [],
        "show_labels": over and plan.show_labels,
    }
    return render(request, "labeling/qualification.html", context)


def _results(project: Project, user: User, *, with_labels: bool) -> list[tuple[GoldCheck, bool]]:
    """Each part, and whether its right labels are shown: never while it is labelled blind again."""
    again = set(blindness.again(user).values_list("pk", flat=True))
    return [
        (named(check), with_labels and check.assignment.conversation_id not in again)
        for check in qualification.newest(project, user)
    ]


@require_POST
def test_begin(request: HttpRequest, slug: str) -> HttpResponse:
    """Begin the test or the next try, and open its first conversation."""
    project = access.any_role(request.user, slug)
    user = cast(User, request.user)
    try:
        qualification.begin(project, user)
    except RuleError as error:
        messages.error(request, words(error.fact))
        return redirect("home")
    first = qualification.of(user, project).exclude(qualification.DONE).order_by("position").first()
    return redirect("workspace", first.pk) if first else redirect("qualification", slug)
