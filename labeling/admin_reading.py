"""Pages of the administration that show rows and change none."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from labeling.services import blindness


class ReadOnly:
    """Everything may be looked at (by who has the view permission), nothing changed."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyAdmin(ReadOnly, admin.ModelAdmin):
    """Lists leave the payloads in ``heavy`` in the database.

    ``about`` leads to the conversation of a row that shows labels: the staff, too, label blind.
    """

    heavy: tuple[str, ...] = ()
    about = ""
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Model]:
        rows = super().get_queryset(request)
        if self.about:
            rows = rows.exclude(**{f"{self.about}__in": blindness.again(request.user)})
        match = request.resolver_match
        is_list = match is not None and str(match.url_name).endswith("_changelist")
        return rows.defer(*self.heavy) if is_list else rows
