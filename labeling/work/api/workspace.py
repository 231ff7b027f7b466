"""What an annotator labels: the conversation of an assignment, as the workspace shows it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.conversations.api.conversations import MessageOut
from labeling.core.api.base import OWN_WORK, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.requests import user_of
from labeling.models import Annotation, Round
from labeling.translation import translated_layers
from labeling.work import admission, ownership


class LayerOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    key = serializers.CharField(help_text="Where its labels are in a payload")
    fields = serializers.ListField(  # type: ignore[assignment]  # a field, not the base's fields
        child=serializers.DictField(), help_text="The fields of the form, in their order"
    )


class GuidelineTextOut(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    body = serializers.CharField(help_text="Markdown")


class WorkspaceOut(serializers.Serializer[Any]):
    assignment = serializers.IntegerField()
    project = serializers.CharField()
    round = serializers.IntegerField()
    kind = serializers.ChoiceField(Round.Kind.choices)
    conversation = serializers.CharField(help_text="Its `external_id`")
    blind = serializers.BooleanField(
        help_text="Whether nobody sees what others label before the round has closed"
    )
    read_only = serializers.BooleanField(  # type: ignore[assignment]  # a field, not the base's
        help_text="Submitted, or its round has ended"
    )
    messages = MessageOut(many=True)
    guideline = GuidelineTextOut(help_text="The version that the answer follows")
    layers = LayerOut(many=True, help_text="What is labeled; titles in the reader's language")
    event_schema = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Event types with their roles; empty: annotators name their own",
    )
    open_fields = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="By layer, the fields that submitted labels may lack",
    )


class WorkspaceView(ApiView, scopes=OWN_WORK):
    @extend_schema(responses=WorkspaceOut)
    def get(self, request: Request, pk: int) -> Response:
        """The conversation of my assignment with what is needed to label it."""
        related = ("round__project", "round__guideline", "conversation__transcript")
        assignment = ownership.own(user_of(request), pk, *related)
        answers = Annotation.with_checks.select_related("guideline")
        annotation = answers.filter(assignment=assignment).first()
        if annotation is None:
            admission.refuse_unless_admitted(assignment)
        round_, conversation = assignment.round, assignment.conversation
        # a returned answer may be made under a newer version than its round
        guideline = annotation.guideline if annotation else round_.guideline
        is_submitted = annotation is not None and annotation.status == Annotation.Status.SUBMITTED
        shown = {
            "assignment": assignment.pk,
            "project": round_.project.slug,
            "round": round_.number,
            "kind": round_.kind,
            "conversation": conversation.external_id,
            "blind": round_.is_blind,
            "read_only": is_submitted or round_.state != Round.State.OPEN,
            "messages": conversation.messages,
            "guideline": guideline,
            "layers": translated_layers(
                round_.project.layers, round_.project.event_schema, round_.open_fields
            ),
            "event_schema": round_.project.event_schema,
            "open_fields": round_.open_fields or {},
        }
        return Response(WorkspaceOut(shown).data)
