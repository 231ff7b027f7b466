"""One's own qualification test in a project: how far, and what came of it."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from labeling.core import access
from labeling.core.views.access import person, refusals_told
from labeling.models import Assignment, GoldCheck, Project, Qualification
from labeling.screening import check_turns, tries
from labeling.work import blindness

State = Qualification.State


@require_http_methods(["GET", "POST"])
def screening(request: HttpRequest, slug: str) -> HttpResponse:
    """A POST begins the test, or the next try, or goes on with it."""
    project = access.any_role(request.user, slug)
    user = person(request)
    if request.method == "POST":
        return _begin(request, project, user)
    plan = check_turns.plan_of(project)
    test = Qualification.objects.filter(project=project, user=user).first()
    context = {
        "project": project,
        "plan": plan,
        "test": test,
        "own": [row for row in tries.tests_of(user) if row.project == project],
        "tested": _checks(user, tries.parts_of(user, project)) if _is_over(test) else [],
    }
    return render(request, "labeling/screening.html", context)


def _begin(request: HttpRequest, project: Project, user: User) -> HttpResponse:
    with refusals_told(request):
        tries.begin(project, user)
        first = tries.parts_of(user, project).exclude(tries.DONE).first()
        return redirect("workspace", first.pk) if first else redirect("screening", project.slug)
    return redirect("home")


def _is_over(test: Qualification | None) -> bool:
    return test is not None and test.state in (State.PASSED, State.FAILED, State.BETWEEN)


def _checks(user: User, parts: QuerySet[Assignment]) -> list[GoldCheck]:
    """Each conversation, with what was missed: nothing of what is labeled blind again."""
    return tries.newest(parts.exclude(conversation__in=blindness.again(user)))
