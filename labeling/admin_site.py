"""The admin's own pages: tables by stage of the work, and nothing that goes round our rules."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.contenttypes.models import ContentType
from django.contrib.contenttypes.views import shortcut
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse

from labeling.domain.msgids import msgid
from labeling.domain.numbers import whole_number
from labeling.translation import translated

STAGES = (
    msgid("Gold"),
    msgid("Runs"),
    msgid("Results"),
    msgid("Judges"),
    msgid("Labeling"),
    msgid("Access"),
)


OF_FILTERS = ("", "__exact", "__id__exact", "__isnull", "__gte", "__lt")
LONGEST_NUMBER = 18  # digits that a column takes
OF_HIERARCHY = ("__year", "__month", "__day", "__gte", "__lt")


class OnlyItsFilters:
    """An address of a list takes what its filters make, and what pages of ours ask besides
    (``linked_by`` of the list), and no other question to the database.
    """

    def lookup_allowed(self, lookup: str, value: Any, request: Any = None) -> bool:
        rows: Any = self
        asked = {*getattr(rows, "linked_by", ())}
        for each in rows.get_list_filter(request):
            name = each[0] if isinstance(each, tuple) else each
            ends = OF_FILTERS if isinstance(name, str) else ("",)
            path = name if isinstance(name, str) else name.parameter_name
            asked |= {path + end for end in ends}
        if rows.date_hierarchy:
            asked |= {rows.date_hierarchy + end for end in OF_HIERARCHY}
        allowed: Any = super()
        is_number = str(value).lstrip("-").isdecimal()
        if is_number and len(str(value)) > LONGEST_NUMBER:
            return False
        return lookup in asked and bool(allowed.lookup_allowed(lookup, value, request))


class AssaySite(AdminSite):
    """A table says by ``stage`` where it is listed; parts and caches of others say none."""

    def register(self, model: Any, admin_class: Any = None, **options: Any) -> None:  # type: ignore[override]
        own = admin_class or ModelAdmin
        narrow = type(own.__name__, (OnlyItsFilters, own), {"__module__": own.__module__})
        super().register(model, narrow, **options)

    def get_urls(self) -> list[Any]:
        """Ours is asked before Django's of the same name and address."""
        place = "r/<path:content_type_id>/<path:object_id>/"
        return [
            path(place, self.admin_view(self.view_on_site), name="view_on_site"),
            *super().get_urls(),
        ]

    def view_on_site(
        self, request: HttpRequest, content_type_id: str, object_id: str
    ) -> HttpResponse:
        """Only for rows that the person sees here: addresses contain names of projects and gold."""
        kind_pk = whole_number(content_type_id)
        kind = None if kind_pk is None else ContentType.objects.filter(pk=kind_pk).first()
        model = kind.model_class() if kind else None
        rows = self._registry.get(model) if model else None
        row = rows.get_object(request, object_id) if rows else None
        if rows is None or row is None or not rows.has_view_permission(request, row):
            raise Http404
        opened: HttpResponse = shortcut(request, content_type_id, object_id)
        return opened

    def password_change(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """On the account's page tries are counted, and the change is on record."""
        return redirect("password-change")

    def password_change_done(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return redirect("account")

    def get_app_list(
        self, request: HttpRequest, app_label: str | None = None
    ) -> list[dict[str, Any]]:
        if app_label is not None:
            of_app: list[dict[str, Any]] = super().get_app_list(request, app_label)
            return of_app
        by_stage: dict[str, list[dict[str, Any]]] = {stage: [] for stage in STAGES}
        for app in self._build_app_dict(request).values():
            for model in app["models"]:
                stage = getattr(self._registry[model["model"]], "stage", "Access")
                if stage:
                    by_stage[stage].append(model)
        address = reverse("admin:index", current_app=self.name)
        return [
            {
                "name": translated(stage),
                "app_label": stage.lower(),
                "app_url": address,
                "has_module_perms": True,
                "models": sorted(models, key=lambda model: str(model["name"]).casefold()),
            }
            for stage, models in by_stage.items()
            if models
        ]
