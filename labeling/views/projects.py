from __future__ import annotations

from collections import defaultdict
from statistics import median
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from labeling.domain.errors import RuleError
from labeling.forms.projects import MemberForm, ProjectForm
from labeling.models import Annotation, Assignment, GoldRelease, Membership, Project, Round
from labeling.services import projects as service
from labeling.services.rounds import unplanned
from labeling.views import access, activity
from labeling.views.gate import DONE, gate_of, lowest_pair
from labeling.views.home import project_cards

RECENT_EVENTS = 12
STATUS = {
    "n_pending": Q(annotation__isnull=True),
    "n_draft": Q(annotation__status="draft"),
    "n_submitted": Q(annotation__status="submitted"),
    "n_skipped": Q(annotation__status="skipped"),
}


@require_GET
def project_list(request: HttpRequest) -> HttpResponse:
    context = {"projects": project_cards(request.user), "may_create": _may_create(request.user)}
    return render(request, "labeling/projects.html", context)


@require_http_methods(["GET", "POST"])
def project_new(request: HttpRequest) -> HttpResponse:
    if not _may_create(request.user):
        raise PermissionDenied("Only staff may create projects.")
    form = ProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            created = service.create(by=request.user, **form.cleaned_data)  # type: ignore[arg-type]
        except RuleError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, "The project is there. Add its people and its guidelines.")
            return redirect(created)
    return render(request, "labeling/project_new.html", {"form": form}, status=_status(form))


@require_GET
def project(request: HttpRequest, slug: str) -> HttpResponse:
    """The lead's dashboard: where the project stands and who does what."""
    found = access.readable(request.user, slug)
    rounds = _rounds(found)
    people = _people(found)
    context = {
        "project": found,
        "may_write": access.leads(request.user, found),
        "gate": gate_of(found, rounds),
        "rounds": rounds,
        "people": people,
        "flow": _flow(found, rounds),
        "members": _members(found),
        "guideline": found.guidelines.only("version", "created_at").first(),
        "member_form": MemberForm(),
        "events": activity.lines(found.events.select_related("actor")[:RECENT_EVENTS]),
    }
    return render(request, "labeling/project.html", context)


@require_POST
def member_add(request: HttpRequest, slug: str) -> HttpResponse:
    found = access.led(request.user, slug)
    form = MemberForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Give a user name and a role.")
        return redirect(found)
    try:
        added = service.add_member(project=found, by=request.user, **form.cleaned_data)  # type: ignore[arg-type]
    except RuleError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"{added.user} is {added.role} of this project.")
    return redirect(found)


@require_http_methods(["GET", "POST"])
def member_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Asks first; the answer comes back as a POST."""
    found = access.led(request.user, slug)
    membership = get_object_or_404(found.memberships.select_related("user"), pk=pk)
    if request.method == "GET":
        unfinished = _unfinished(found, membership)
        context = {"project": found, "membership": membership, "unfinished": unfinished}
        return render(request, "labeling/member_remove.html", context)
    try:
        service.remove_member(membership=membership, by=request.user)  # type: ignore[arg-type]
    except RuleError as error:
        messages.error(request, error.message)
        return redirect(found)
    messages.success(request, f"{membership.user} is no longer {membership.role} here.")
    return redirect("home" if membership.user == request.user else found)


def _may_create(user: Any) -> bool:
    return bool(user.is_staff or user.is_superuser)


def _status(form: Any) -> int:
    return 400 if form.errors else 200


def _rounds(found: Project) -> list[Any]:
    """Newest first, with what the table and the gate show of each."""
    rounds: list[Any] = list(
        found.rounds.select_related("guideline", "opened_by")
        .defer("guideline__body")
        .annotate(n_assigned=Count("assignments"), n_done=Count("assignments", filter=DONE))
        .order_by("-number")
    )
    sizes = dict(
        found.rounds.order_by().values_list("pk").annotate(n=Count("places")),
    )
    for one in rounds:
        one.n_conversations = sizes[one.pk]
        one.lowest = lowest_pair(one.agreement or {})
    return rounds


def _flow(found: Project, rounds: list[Any]) -> dict[str, Any]:
    """The stages from conversations to gold with a figure each."""
    measured = [one for one in rounds if one.agreement]
    given = Assignment.objects.filter(round__project=found).aggregate(
        assigned=Count("pk"), **{name: Count("pk", filter=which) for name, which in STATUS.items()}
    )
    releases = GoldRelease.objects.filter(project=found).defer("header", "left_out", "agreement")
    return {
        **given,
        "conversations": found.conversations.count(),
        "unplanned": unplanned(found).count(),
        "measured": measured[0] if measured else None,
        "gold": releases.with_size().order_by("-pk").first(),
        "releases": found.gold_releases.count(),
    }


def _people(found: Project) -> list[dict[str, Any]]:
    """One row per annotator: work done and left, median minutes of work, last sign of life."""
    given = Assignment.objects.filter(round__project=found).order_by()
    rows = list(
        given.values("annotator", "annotator__username")
        .annotate(
            n_assigned=Count("pk"),
            last_active=Max("annotation__updated_at"),
            **{name: Count("pk", filter=which) for name, which in STATUS.items()},
        )
        .order_by("annotator__username")
    )
    minutes = _median_minutes(found)
    return [{**row, "minutes": minutes.get(row["annotator"])} for row in rows]


def _median_minutes(found: Project) -> dict[int, float]:
    """Computed here, because SQLite has no median. One number per submitted answer is loaded."""
    seconds: dict[int, list[int]] = defaultdict(list)
    answers = Annotation.objects.filter(assignment__round__project=found, status="submitted")
    for person, spent in answers.values_list("assignment__annotator", "active_seconds"):
        seconds[person].append(spent)
    return {person: median(spent) / 60 for person, spent in seconds.items()}


def _members(found: Project) -> list[Membership]:
    return list(found.memberships.select_related("user").order_by("user__username", "role"))


def _unfinished(found: Project, membership: Membership) -> int:
    if membership.role != Membership.Role.ANNOTATOR:
        return 0
    return (
        Assignment.objects.filter(
            round__project=found, round__state=Round.State.OPEN, annotator=membership.user
        )
        .exclude(annotation__status__in=["submitted", "skipped"])
        .count()
    )
