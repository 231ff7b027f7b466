"""The admin's own pages: tables by stage of the work, and nothing that goes round our rules."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite, ModelAdmin
from django.http import HttpRequest
from django.shortcuts import redirect
from django.urls import reverse

from labeling.translation import translated

STAGES = ("Gold", "Runs", "Results", "Judges", "Labeling", "Access")
ENDS = ("", "__exact", "__id__exact", "__isnull")
LONGEST_NUMBER = 18  # digits that a column takes


class OnlyItsFilters:
    """An address of a list takes what its filters make, and no other question to the database."""

    def lookup_allowed(self, lookup: str, value: Any, request: Any = None) -> bool:
        rows: Any = self
        names = [getattr(each, "parameter_name", each) for each in rows.get_list_filter(request)]
        said = str(value)
        too_long = said.lstrip("-").isdecimal() and len(said) > LONGEST_NUMBER
        return lookup in {f"{name}{end}" for name in names for end in ENDS} and not too_long


class AssaySite(AdminSite):
    """A table says by ``stage`` where it is listed."""

    def register(self, model: Any, admin_class: Any = None, **options: Any) -> None:  # type: ignore[override]
        own = admin_class or ModelAdmin
        narrow = type(own.__name__, (OnlyItsFilters, own), {"__module__": own.__module__})
        super().register(model, narrow, **options)

    def get_urls(self) -> list[Any]:
        """Without Django's way to the page of any row: addresses contain names."""
        return [each for each in super().get_urls() if getattr(each, "name", "") != "view_on_site"]

    def password_change(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """On the account's page tries are counted, and the change is on record."""
        return redirect("password-change")

    def password_change_done(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return redirect("account")

    def get_app_list(
        self, request: HttpRequest, app_label: str | None = None
    ) -> list[dict[str, Any]]:
        apps: list[dict[str, Any]] = super().get_app_list(request, app_label)
        if app_label is not None:
            return apps
        by_stage: dict[str, list[dict[str, Any]]] = {stage: [] for stage in STAGES}
        for model in (model for app in apps for model in app["models"]):
            by_stage[getattr(self._registry[model["model"]], "stage", "Access")].append(model)
        index = {"app_url": reverse("admin:index"), "has_module_perms": True}
        return [
            {"name": translated(stage), "app_label": stage.lower(), "models": models, **index}
            for stage, models in by_stage.items()
            if models
        ]
