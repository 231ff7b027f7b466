"""The admin's first page: the tables by stage of the work, under plain names."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.urls import reverse

from labeling.domain.msgids import msgid
from labeling.translation import translated

STAGES = (
    msgid("Gold"),
    msgid("Runs"),
    msgid("Results"),
    msgid("Judges"),
    msgid("Labeling"),
    msgid("Access"),
)


class AssaySite(AdminSite):
    """A table says by ``stage`` where it is listed; parts and caches of others say none."""

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
