"""What is suggested to an annotator for one assignment, after their own first pass."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core.api.base import OWN_WORK, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.records import computed, row_of
from labeling.core.api.requests import user_of
from labeling.models import Assignment, Suggestion
from labeling.schema import LAYERS
from labeling.words import words_of
from labeling.work import ownership, suggestions

ShownSuggestionOut = row_of(
    "ShownSuggestionOut",
    Suggestion,
    *("id", "layer", "pipeline", "pipeline_version"),
    labels=computed(
        serializers.ListField,
        lambda suggestion: suggestion.payload[LAYERS[suggestion.layer].key],
        child=serializers.DictField(),
    ),
)


class SuggestionsOut(serializers.Serializer[Any]):
    state = serializers.ChoiceField(
        ["off", "waiting", "shown"], help_text="waiting: for the annotator's own first pass"
    )
    reason = serializers.CharField(help_text="Why it is off")
    suggestions = ShownSuggestionOut(many=True)


class _OfAssignment(ApiView, scopes=OWN_WORK):
    def answer(self, assignment: Assignment) -> Response:
        sight = suggestions.sight(assignment)
        answer = {
            "state": sight.state,
            "reason": words_of(sight.reason),
            "suggestions": suggestions.shown(assignment),
        }
        return Response(SuggestionsOut(answer).data)

    def assignment(self, request: Request, pk: int) -> Assignment:
        return ownership.own(user_of(request), pk, "round__project", "conversation", "annotator")


class SuggestionsView(_OfAssignment):
    @extend_schema(responses=SuggestionsOut)
    def get(self, request: Request, pk: int) -> Response:
        """What pipelines suggest; nothing before one's own first pass is declared done."""
        return self.answer(self.assignment(request, pk))


class FirstPassView(_OfAssignment):
    @extend_schema(
        request=None,
        responses=SuggestionsOut,
    )
    def post(self, request: Request, pk: int) -> Response:
        """Declare one's own first pass done, once and for all, and see what is suggested."""
        assignment = self.assignment(request, pk)
        suggestions.declare_first_pass(assignment)
        return self.answer(assignment)
