"""How far a project is: its conversations by state, and its people."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core import access
from labeling.core.api.base import LEADING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.records import serializer_with
from labeling.overview import progress
from labeling.work import handovers


class StateOut(serializers.Serializer[Any]):
    name = serializers.ChoiceField(list(progress.STATES))
    number = serializers.IntegerField()


PersonOut = serializer_with(
    "PersonOut",
    progress.Person,
    pk=None,
    checked=None,
    still_held=serializers.IntegerField(
        help_text="Open work of somebody who no longer annotates: move it"
    ),
)


class ProjectProgressOut(serializers.Serializer[Any]):
    conversations = StateOut(many=True, help_text="Each in the last state that it has reached")
    people = PersonOut(many=True)


class ProgressView(ApiView):
    scopes = LEADING

    @extend_schema(responses=ProjectProgressOut)
    def get(self, request: Request, slug: str) -> Response:
        """Conversations by state, and who has done what (leads and researchers)."""
        project = access.readable(request.user, slug)
        held = {user.pk: n for user, n in handovers.still_held(project).items()}
        shown = {
            "conversations": progress.by_state(project),
            "people": [
                {**asdict(person), "still_held": held.get(person.pk, 0)}
                for person in progress.people(project)
            ],
        }
        return Response(ProjectProgressOut(shown).data)
