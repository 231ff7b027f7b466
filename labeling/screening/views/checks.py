"""Hidden checks and the qualification test: what a lead sets, and how people do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from labeling.core import access
from labeling.core.views.access import form_page, person, refusals_in
from labeling.core.views.paging import part_of
from labeling.models import (
    Assignment,
    GoldCheck,
    Pause,
    Project,
    Qualification,
)
from labeling.screening import check_scores, check_turns, tries
from labeling.screening.forms import DecisionForm, PlanForm
from labeling.work import assignments, blindness

Purpose = Assignment.Purpose


class CheckedPerson(NamedTuple):
    """One annotator: the test, hidden checks, calibration, and whether work is held back."""

    user: User
    test: Qualification | None
    agreement: check_scores.GoldAgreement
    pause: Pause | None
    admitted: tries.Admitted | None


@require_http_methods(["GET", "POST"])
def checks(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    if request.method == "POST":
        project = access.led(request.user, slug)
    plan = check_turns.plan_of(project)
    form = PlanForm(request.POST or None, instance=plan)
    if request.method == "POST" and form.is_valid():
        with refusals_in(form):
            check_turns.set_plan(project, by=person(request), **form.cleaned_data)
            messages.success(request, _("The checks are set."))
            return redirect("checks", slug)
    plan = check_turns.plan_of(project)
    context: dict[str, Any] = {
        "project": project,
        "may_write": access.leads(request.user, project),
        "plan": plan,
        "with_gold": check_turns.with_gold(project).count(),
        "people": _people(project),
        "enough": check_scores.ENOUGH,
        "bar": plan.bar,
    }
    return form_page(request, "checks", form, **context)


def _people(project: Project) -> list[CheckedPerson]:
    tests = {row.user_id: row for row in project.qualifications.select_related("waived_by")}
    pauses = {row.user_id: row for row in project.pauses.filter(lifted_at__isnull=True)}
    figures = check_scores.by_person(project)
    nothing = check_scores.GoldAgreement(None, 0)
    annotators = assignments.annotators(project)
    admitted = tries.admitted_in(project, annotators)
    return [
        CheckedPerson(
            user,
            tests.get(user.pk),
            figures.get(user.pk, nothing),
            pauses.get(user.pk),
            admitted.get(user.pk),
        )
        for user in annotators
    ]


def _decided(what: str, project: Project, checked: User, by: User, reason: str) -> str:
    """Carry out what a lead decides; returns what is said of it."""
    if what == "waive":
        tries.waive(project, checked, by=by, reason=reason)
        return _("{user} may work without the test.")
    if what == "let-in":
        tries.let_in(project, checked, by=by, reason=reason)
        return _("{user} may do full labeling.")
    if what == "resume" and check_scores.resume(project, checked, by=by):
        return _("{user} gets work again.")
    return ""


@require_http_methods(["GET", "POST"])
def check_person(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """What one annotator found and missed, check by check; a POST is what a lead decides."""
    project = access.readable(request.user, slug)
    if request.method == "POST":
        project = access.led(request.user, slug)
    checked = _annotator(project, pk)
    what = request.POST.get("what", "")
    forms = {
        asked: DecisionForm(request.POST if asked == what else None, auto_id=f"{asked}_%s")
        for asked in ("waive", "let-in")
    }
    if request.method == "POST":
        form = forms.get(what) or DecisionForm(request.POST)
        if form.is_valid():
            with refusals_in(form):
                reason = form.cleaned_data["reason"]
                if said := _decided(what, project, checked, person(request), reason):
                    messages.success(request, said.format(user=checked.get_username()))
                return redirect("check-person", slug, pk)
    return _person_page(request, project, checked, forms)


def _person_page(
    request: HttpRequest, project: Project, checked: User, forms: Mapping[str, DecisionForm]
) -> HttpResponse:
    hidden = _newest_first(request, check_scores.newest_checks(project), checked)
    tests = _newest_first(
        request, check_scores.newest_checks(project, Purpose.QUALIFICATION), checked
    )
    context = {
        "project": project,
        "may_write": access.leads(request.user, project),
        "person": checked,
        "parts": [
            (_("Hidden checks"), "hidden", part_of(hidden, start=request.GET.get("hidden"))),
            (_("Qualification test"), "tests", part_of(tests, start=request.GET.get("tests"))),
        ],
        "pause": project.pauses.filter(user=checked, lifted_at__isnull=True).first(),
        "test": project.qualifications.filter(user=checked).select_related("waived_by").first(),
        "admitted": tries.admitted_in(project, [checked]).get(checked.pk),
        "plan": check_turns.plan_of(project),
        "waive_form": forms["waive"],
        "let_in_form": forms["let-in"],
        "enough": check_scores.ENOUGH,
    }
    status = 400 if any(form.errors for form in forms.values()) else 200
    return render(request, "labeling/check_person.html", context, status=status)


def _newest_first(
    request: HttpRequest, checks: QuerySet[GoldCheck], checked: User
) -> list[GoldCheck]:
    """Newest first; without what the reader has to label blind now."""
    rows = checks.filter(assignment__annotator=checked).select_related("assignment__conversation")
    again = blindness.again(request.user)
    return list(rows.exclude(assignment__conversation__in=again).order_by("-pk"))


def _annotator(project: Project, pk: int) -> User:
    """Somebody who annotates here, or did."""
    assigned = Assignment.with_checks.filter(round__project=project, annotator=OuterRef("pk"))
    member = project.memberships.filter(role="annotator", user=OuterRef("pk"))
    return get_object_or_404(User.objects.filter(Exists(assigned) | Exists(member)), pk=pk)
