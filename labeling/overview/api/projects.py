from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.validators import validate_slug
from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core import access, projects
from labeling.core.api.base import LEADING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import PAGING, page, page_of
from labeling.core.api.records import row_of
from labeling.core.api.requests import checked_by, sent, user_of
from labeling.core.forms.projects import with_what_they_refer_to
from labeling.models import Membership, Project
from labeling.schema import DEFAULT_LAYER, LAYERS
from labeling.work import assignments, rounds
from labeling.work.api.round_shapes import RoundOut, WorkCountsOut
from labeling.work.round_counts import counted

Role = Membership.Role


class LayersField(serializers.ListField):
    """Names of layers, with those that they refer to."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            child=serializers.ChoiceField(list(LAYERS)), **{"allow_empty": False, **options}
        )

    def to_internal_value(self, data: Any) -> list[str]:
        names = list(dict.fromkeys(super().to_internal_value(data)))
        return checked_by(with_what_they_refer_to, names)


class ProjectIn(serializers.ModelSerializer[Project]):
    slug = serializers.CharField(
        max_length=50,
        default="",
        allow_blank=True,
        help_text="Short name in addresses; it never changes. Empty: made from the name",
    )
    description = serializers.CharField(default="", allow_blank=True, max_length=20_000)
    layers = LayersField(default=[DEFAULT_LAYER])
    overlap = serializers.IntegerField(default=3, min_value=1, max_value=100)

    class Meta:
        model = Project
        rules: ClassVar[Any] = ("kappa_threshold", "kappa_statistic", "label_f1_threshold")
        fields: ClassVar[Any] = ("name", "slug", "description", "layers", *rules, "overlap")

    def validate_slug(self, slug: str) -> str:
        if slug:
            validate_slug(slug)
        return slug


ProjectOut = row_of(
    "ProjectOut",
    Project,
    *("slug", "name", "description", "overlap", "created_at"),
    *("kappa_threshold", "kappa_statistic", "label_f1_threshold"),
    layers=serializers.ListField(child=serializers.ChoiceField(list(LAYERS))),
    roles=serializers.ListField(
        child=serializers.ChoiceField(Membership.Role.choices), help_text="Yours"
    ),
)
ProjectDetailOut = row_of(
    "ProjectDetailOut",
    Project,
    base=ProjectOut,
    gate_open=serializers.BooleanField(),
    guideline=serializers.IntegerField(
        allow_null=True, help_text="The newest version; null: none is written yet"
    ),
    conversations=serializers.IntegerField(),
    unplanned=serializers.IntegerField(help_text="Conversations that are in no round yet"),
    progress=WorkCountsOut(help_text="Assignments by status"),
    rounds=RoundOut(many=True, help_text="Oldest first"),
)


class ProjectListView(ApiView, scopes=LEADING):
    @extend_schema(parameters=PAGING, responses=page_of(ProjectOut))
    def get(self, request: Request) -> Response:
        """The projects I have a role in, by name."""
        return page(
            request,
            Project.objects.visible_to(request.user),
            ProjectOut,
            by=["name", "pk"],
            prepared=lambda rows: _with_roles(rows, user_of(request)),
        )

    @extend_schema(request=ProjectIn, responses={201: ProjectOut})
    def post(self, request: Request) -> Response:
        """Create a project, which you lead (staff, and leads of another project)."""
        user = user_of(request)
        if not projects.may_create(user):
            raise PermissionDenied(_("Only staff and leads of a project create projects here."))
        created = projects.create(by=user, **sent(request, ProjectIn))
        (shown,) = _with_roles([created], user)
        return Response(ProjectOut(shown).data, status=201)


class ProjectView(ApiView, scopes=LEADING):
    @extend_schema(responses=ProjectDetailOut)
    def get(self, request: Request, slug: str) -> Response:
        """A project with its rounds and progress (leads and researchers)."""
        project: Any = access.readable(request.user, slug)
        _with_roles([project], user_of(request))
        newest = project.guidelines.only("version").first()
        shown = counted(project.rounds.order_by("number"))
        detail = {
            **ProjectOut(project).data,
            "gate_open": rounds.gate_is_open(project),
            "guideline": newest.version if newest else None,
            "conversations": project.conversations.count(),
            "unplanned": rounds.unplanned(project).count(),
            "progress": assignments.sum_of(round_.work for round_ in shown),
            "rounds": RoundOut(shown, many=True).data,
        }
        return Response(detail)


def _with_roles(rows: Sequence[Project], user: User) -> Sequence[Any]:
    """The projects with the ``roles`` that the user has in them, in one query."""
    roles: dict[int, list[str]] = {project.pk: [] for project in rows}
    if user.is_superuser:
        roles = {pk: list(Role.values) for pk in roles}
    else:
        mine = user.memberships.filter(project__in=roles).order_by("role")
        for pk, role in mine.values_list("project", "role"):
            roles[pk].append(role)
    for project in rows:
        project.roles = roles[project.pk]  # type: ignore[attr-defined]
    return rows
