"""What a project was set up with, and what it wants; changed by leads."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core import access, project_settings
from labeling.core.api.base import LEADING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.requests import checked_by, sent, user_of
from labeling.core.forms.projects import below_one
from labeling.core.models.fields import check_event_schema
from labeling.models import Project
from labeling.overview.api.projects import LayersField
from labeling.schema import LAYERS
from labeling.schema.hints import KINDS


def _texts(**options: Any) -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField(max_length=200), **options)


class SettingsOut(serializers.ModelSerializer[Project]):
    description = serializers.CharField(allow_blank=True, max_length=20_000)
    layers = LayersField()
    overlap = serializers.IntegerField(min_value=1, max_value=100)
    match_threshold = serializers.FloatField(
        min_value=0, help_text="Less than 1: texts more alike than this mean the same"
    )
    actor_synonyms = serializers.ListField(
        child=_texts(min_length=2), max_length=1000, help_text="Groups of words for one actor"
    )
    event_schema = serializers.DictField(
        child=_texts(), help_text="Event types with their roles; their order is that of the forms"
    )
    open_fields = serializers.DictField(
        child=_texts(), help_text="By layer, fields that may stay empty from the next round on"
    )
    hints = serializers.ListField(child=serializers.ChoiceField(list(KINDS)))
    review_rate = serializers.FloatField(min_value=0, max_value=1)

    class Meta:
        model = Project
        fields: ClassVar[Any] = project_settings.FIELDS

    def validate_match_threshold(self, threshold: float) -> float:
        return float(checked_by(below_one, threshold))

    def validate_event_schema(self, schema: dict[str, list[str]]) -> dict[str, list[str]]:
        checked_by(check_event_schema, schema)
        return schema

    def validate_open_fields(self, fields: dict[str, list[str]]) -> dict[str, list[str]]:
        for layer, names in fields.items():
            known = LAYERS[layer].may_be_open if layer in LAYERS else ()
            if unknown := sorted(set(names) - set(known)):
                raise serializers.ValidationError(
                    f"Of {layer} these cannot stay empty: {', '.join(unknown)}."
                )
        return {layer: names for layer, names in fields.items() if names}


class ChangedOut(serializers.Serializer[Any]):
    changed = serializers.ListField(child=serializers.CharField(), help_text="Names of settings")
    settings = SettingsOut()


class SettingsView(ApiView):
    scopes = LEADING

    @extend_schema(responses=SettingsOut)
    def get(self, request: Request, slug: str) -> Response:
        """The settings of a project (leads)."""
        return Response(SettingsOut(access.led(request.user, slug)).data)

    @extend_schema(
        request=SettingsOut(partial=True),
        responses=ChangedOut,
    )
    def patch(self, request: Request, slug: str) -> Response:
        """Change some settings (leads). What would change the meaning of labels is refused."""
        project = access.led(request.user, slug)
        settings = sent(request, SettingsOut, partial=True)
        changed = project_settings.change(project, settings=settings, by=user_of(request))
        project.refresh_from_db()
        return Response({"changed": changed, "settings": SettingsOut(project).data})
