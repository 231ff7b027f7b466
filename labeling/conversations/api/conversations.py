"""The conversations of a project, with their messages and what people answered."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.conversations.api import conversation_files
from labeling.conversations.api.conversation_files import ConversationsIn, ImportOut
from labeling.conversations.rules.transcripts import Message
from labeling.core import access
from labeling.core.api.base import LEADING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import ORDERED, ordered_page, page_of
from labeling.core.api.parsing import ShallowJSONParser
from labeling.core.api.records import row_of, serializer_of
from labeling.core.api.requests import asked
from labeling.gold import looks
from labeling.models import Conversation, Round
from labeling.work import blindness
from labeling.work.listing import answers_on, narrowed, with_answers
from labeling.work.stages import with_stage

STAGES = Conversation.Stage.values
BY_ROUND = ("-round__number", "annotator__username")
BLANK: dict[str, Any] = {"default": "", "allow_blank": True}


class FilterIn(serializers.Serializer[Any]):
    search = serializers.CharField(max_length=200, help_text="The id contains this", **BLANK)
    domain = serializers.CharField(max_length=100, **BLANK)
    difficulty = serializers.ChoiceField(Conversation.Difficulty.values, **BLANK)
    split = serializers.ChoiceField(Conversation.Split.values, **BLANK)
    origin = serializers.ChoiceField(Conversation.Origin.values, **BLANK)
    stage = serializers.ChoiceField(STAGES, help_text="The last one that it reached", **BLANK)


ConversationOut = row_of(
    "ConversationOut",
    Conversation,
    *("id", "external_id", "domain", "difficulty", "split", "origin", "generator"),
    *("priority", "n_messages", "imported_at"),
    stage=serializers.ChoiceField(
        STAGES,
        help_text="The last one that it reached; gold, which releases know, is not among them",
    ),
    answers=serializers.IntegerField(source="n_answers", help_text="Submitted, in all rounds"),
)
MessageOut = serializer_of(Message)


class RoundOfOut(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    kind = serializers.ChoiceField([Round.Kind.CALIBRATION.value, Round.Kind.FULL.value])
    state = serializers.ChoiceField(Round.State.choices)


ConversationDetailOut = row_of(
    "ConversationDetailOut",
    Conversation,
    "content_sha256",
    base=ConversationOut,
    messages=MessageOut(many=True),
    rounds=serializers.ListSerializer(
        child=RoundOfOut(), source="newest_rounds", help_text="Newest first"
    ),
)


class AnswerOut(serializers.Serializer[Any]):
    annotation = serializers.IntegerField(source="annotation.pk", help_text="Names it for reviews")
    round = serializers.IntegerField(source="round.number")
    annotator = serializers.CharField(source="annotator.username")
    status = serializers.ChoiceField(["submitted", "skipped"], source="annotation.status")
    guideline = serializers.IntegerField(source="annotation.guideline.version")
    version = serializers.IntegerField(source="annotation.version")
    empty = serializers.BooleanField(source="annotation.empty", help_text="“Nothing here”")
    unanswered = serializers.ListField(
        child=serializers.CharField(), source="annotation.unanswered", help_text="Layers"
    )
    skip_reason = serializers.CharField(source="annotation.skip_reason")
    payload = serializers.DictField(source="annotation.payload")


class AnswersOut(serializers.Serializer[Any]):
    answers = AnswerOut(many=True, help_text="By round, the newest first, then by annotator")
    blind = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="Open calibration rounds, whose answers nobody sees yet",
    )


class ConversationsView(ApiView):
    scopes = LEADING

    parser_classes = [
        MultiPartParser,
        ShallowJSONParser,
    ]  # a JSON body gets an error that says what is missing

    @extend_schema(
        parameters=[FilterIn, *ORDERED],
        responses=page_of(ConversationOut),
    )
    def get(self, request: Request, slug: str) -> Response:
        """The conversations of a project, by id (leads and researchers)."""
        project = access.readable(request.user, slug)
        rows = narrowed(project.conversations.all(), **asked(request, FilterIn))
        order = ["external_id", "pk"]
        return ordered_page(request, with_stage(with_answers(rows)), ConversationOut, by=order)

    @extend_schema(
        request={"multipart/form-data": ConversationsIn},
        responses={200: ImportOut, 201: ImportOut},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Store the conversations of files, all or none (leads); with `dry_run` only say what."""
        return conversation_files.store(access.led(request.user, slug), request)


class ConversationView(ApiView):
    scopes = LEADING

    @extend_schema(responses=ConversationDetailOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """One conversation with its messages (leads and researchers)."""
        project = access.readable(request.user, slug)
        rows = with_stage(with_answers(project.conversations.select_related("transcript")))
        conversation: Any = get_object_or_404(rows, pk=pk)
        conversation.newest_rounds = conversation.rounds.order_by("-number")
        return Response(ConversationDetailOut(conversation).data)


class AnswersView(ApiView):
    scopes = LEADING

    @extend_schema(responses=AnswersOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """What everybody answered about a conversation, side by side (leads and researchers)."""
        project = access.readable(request.user, slug)
        conversation: Conversation = get_object_or_404(project.conversations, pk=pk)
        blindness.refuse(request.user, project.conversations.filter(pk=pk))
        rounds = list(conversation.rounds.all())
        shown = [round_.pk for round_ in rounds if not round_.is_blind]
        answers = list(answers_on(conversation, shown).order_by(*BY_ROUND))
        if answers:
            looks.require_answers(request.user, conversation)
        blind = sorted(round_.number for round_ in rounds if round_.is_blind)
        return Response(AnswersOut({"answers": answers, "blind": blind}).data)
