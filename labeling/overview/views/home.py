"""The first page: what there is to do, by role."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET

from labeling.agreement.views.gate import Gate, gates
from labeling.core import projects
from labeling.core.forms.projects import ProjectForm
from labeling.core.views.context import READERS, roles_of
from labeling.core.views.markdown import render_markdown
from labeling.core.views.paging import Page, page_of
from labeling.models import Assignment, Guideline, Membership, Project, Round
from labeling.overview.views import needs
from labeling.overview.views.needs import Need
from labeling.screening import tries
from labeling.work import admission, assignments
from labeling.work.views.comments import mentions_of

OPEN = Q(round__state=Round.State.OPEN)
DRAFT = OPEN & Q(annotation__status="draft")
TABS = {
    "pending": OPEN & Q(annotation__isnull=True, slot__isnull=False),
    # a draft whose reservation expired may be continued; planned work that was moved may not
    "draft": DRAFT & Q(returned_reason="") & (Q(slot__isnull=False) | Q(round__pool=True)),
    "submitted": Q(annotation__status="submitted"),
    "skipped": Q(annotation__status="skipped"),
    "returned": DRAFT & ~Q(returned_reason="") & Q(slot__isnull=False),
}
TO_DO = ("pending", "draft", "returned")
IN_ORDER = ["round__kind", "round_id", "position", "pk"]  # as the next one is chosen
MOST_TO_READ = 3
NEWEST_FIRST = ["-annotation__updated_at", "-pk"]


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    roles = roles_of(request.user)
    mine = Assignment.owned_by(request.user)
    counts = mine.order_by().aggregate(
        **{name: Count("pk", filter=shown) for name, shown in TABS.items()}
    )
    tab = _tab(request, counts)
    annotates = Membership.Role.ANNOTATOR in roles or any(counts.values())
    begun = any(counts[name] for name in TABS if name != "pending")
    standings = tries.tests_of(request.user)  # type: ignore[arg-type]
    shut = Project.objects.filter(pk__in=admission.shut_to(request.user).full)  # type: ignore[arg-type]
    mentions = mentions_of(request.user)
    context = {
        "needs": _needs(request.user, roles, counts, len(mentions)),
        "tab": tab,
        "counts": counts,
        "begun": begun,
        "to_read": _to_read(request.user, mine) if annotates and not begun else [],
        "tabs": [(name, counts[name]) for name in TABS],
        "page": _page(mine, tab, request.GET.get("after")),
        "ever_given": any(counts.values()),
        "can_start": any(counts[name] for name in TO_DO)
        or (
            Membership.Role.ANNOTATOR in roles and assignments.pools_for(request.user).exists()  # type: ignore[arg-type]
        ),
        "standings": standings,
        "not_calibrated": [admission.not_calibrated_in(row) for row in shut.order_by("name")],
        "before_test": any(standing.state in tries.COMES_FIRST for standing in standings),
        "has_drafts": bool(counts["draft"] or counts["returned"]),
        "mentions": mentions,
        "annotates": annotates,
        "has_queue": annotates,
        "projects": project_cards(request.user) if roles or request.user.is_superuser else [],
        "researches": Membership.Role.RESEARCHER in roles or request.user.is_superuser,
        "roles": roles,
        "reads_results": bool(READERS & roles) or request.user.is_superuser,
    }
    if not annotates and not context["projects"] and projects.may_create(request.user):  # type: ignore[arg-type]
        context["project_form"] = ProjectForm()
    return render(request, "labeling/home.html", context)


def _needs(user: Any, roles: set[str], counts: dict[str, int], mentions: int) -> list[Need]:
    """Of all roles of the user together, the most urgent first."""
    lines = needs.of_annotator(user, counts) if any(counts.values()) or roles else []
    if user.is_superuser or Membership.Role.LEAD in roles:
        lines += needs.of_lead(Project.objects.with_role(user, Membership.Role.LEAD))
    if mentions:
        text = ngettext("{n} comment names you", "{n} comments name you", mentions)
        lines.append(Need(28, text.format(n=mentions), _("Answer"), "#mentions-title"))
    return sorted(lines, key=lambda need: need.rank)


def _to_read(user: Any, mine: QuerySet[Assignment]) -> list[tuple[Guideline, SafeString]]:
    """For somebody who has begun nothing: the guidelines of their work, else of their projects."""
    guidelines = Guideline.objects.select_related("project")
    work = mine.filter(TABS["pending"]).order_by()
    chosen = list(guidelines.filter(pk__in=work.values("round__guideline"))[:MOST_TO_READ])
    if not chosen:
        newer = Guideline.objects.filter(
            project=OuterRef("project"), version__gt=OuterRef("version")
        )
        projects = Project.objects.with_role(user, Membership.Role.ANNOTATOR)
        newest = guidelines.filter(~Exists(newer), project__in=projects)
        chosen = list(newest.order_by("project__name")[:MOST_TO_READ])
    return [(row, render_markdown(row.body)) for row in chosen]


def _tab(request: HttpRequest, counts: dict[str, int]) -> str:
    """The tab asked for, else the first with something to do."""
    asked = request.GET.get("tab", "")
    if asked in TABS:
        return asked
    return next((name for name in TO_DO if counts[name]), "pending")


def _page(mine: QuerySet[Assignment], tab: str, after: str | None) -> Page:
    """Only the columns that a row shows: no payload is loaded."""
    rows = (
        mine.filter(TABS[tab])
        .select_related("conversation", "round__project")
        .annotate(saved_at=F("annotation__updated_at"), reason=F("annotation__skip_reason"))
        .only(
            "lease_expires_at",
            "returned_reason",
            "position",
            "conversation__external_id",
            "conversation__domain",
            "conversation__difficulty",
            "round__number",
            "round__kind",
            "round__state",
            "round__project__name",
            "round__project__slug",
        )
    )
    order = IN_ORDER if tab in TO_DO else NEWEST_FIRST
    return page_of(rows, order=order, after=after, anchors=mine)


class ProjectCard(NamedTuple):
    project: Project
    reads: bool
    gate: Gate | None
    assigned: int
    answered: int


def project_cards(user: Any) -> list[ProjectCard]:
    """The user's projects; gate and progress for those who lead or read them."""
    projects = list(
        Project.objects.visible_to(user).only(
            "name", "slug", "description", "kappa_threshold", "kappa_statistic"
        )
    )
    reading = set(
        Project.objects.with_role(
            user, Membership.Role.LEAD, Membership.Role.RESEARCHER
        ).values_list("pk", flat=True)
    )
    read = [project for project in projects if project.pk in reading]
    gate, done = gates(read), _progress(read)
    return [
        ProjectCard(
            project, project.pk in reading, gate.get(project.pk), *done.get(project.pk, (0, 0))
        )
        for project in projects
    ]


def _progress(projects: list[Project]) -> dict[int, tuple[int, int]]:
    """How many answers are assigned and how many given, by project."""
    rows = (
        Assignment.objects.filter(round__project__in=projects)
        .order_by()
        .values("round__project")
        .annotate(
            assigned=Count("pk", filter=Q(slot__isnull=False) | Q(annotation__status="skipped")),
            answered=Count("pk", filter=Q(annotation__status__in=["submitted", "skipped"])),
        )
    )
    return {row["round__project"]: (row["assigned"], row["answered"]) for row in rows}
