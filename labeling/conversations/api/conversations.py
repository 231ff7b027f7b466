"""The conversations of a project, with their messages and what people answered."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.conversations import conversations
from labeling.conversations.formats.conversations import AUTO, FORMATS
from labeling.conversations.formats.talks import ENCODINGS, HowToRead
from labeling.conversations.forms.uploads import check_size
from labeling.conversations.rules.importing import SPLITS
from labeling.conversations.rules.transcripts import Message
from labeling.core import access
from labeling.core.api.base import LEADING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import PAGING, page, page_of
from labeling.core.api.parsing import ShallowJSONParser
from labeling.core.api.records import row_of, serializer_of, serializer_with
from labeling.core.api.requests import asked, checked_by
from labeling.domain.errors import FileFault
from labeling.gold import looks
from labeling.models import Conversation, Round
from labeling.words import words
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


class ConversationsIn(serializers.Serializer[Any]):
    file = serializers.ListField(
        child=serializers.FileField(allow_empty_file=True), max_length=100, allow_empty=False
    )
    format = serializers.ChoiceField(choices=FORMATS, default=AUTO)
    columns = serializers.CharField(default="", allow_blank=True, max_length=10_000)
    roles = serializers.CharField(default="", allow_blank=True, max_length=100_000)
    encoding = serializers.ChoiceField(choices=ENCODINGS, default="", allow_blank=True)
    split = serializers.ChoiceField(choices=SPLITS, default="", allow_blank=True)
    leave_out = serializers.ChoiceField(
        choices=conversations.LEAVE_OUT, default=conversations.UNREADABLE
    )
    dry_run = serializers.BooleanField(default=False)

    def validate_file(self, files: list[UploadedFile]) -> list[UploadedFile]:
        check = partial(check_size, command="import_conversations")
        checked_by(check, sum(file.size or 0 for file in files))
        return files

    def validate(self, asked: dict[str, Any]) -> dict[str, Any]:
        try:
            asked["how"] = HowToRead.written(*map(asked.pop, ("columns", "roles", "encoding")))
        except FileFault as fault:
            raise serializers.ValidationError(words(fault.fact)) from None
        return asked


ImportOut = serializer_with("ImportReportOut", conversations.ImportReport, project_created=None)
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


class ConversationsView(ApiView, scopes=LEADING):
    # a JSON body gets an error that says what is missing
    parser_classes = [MultiPartParser, ShallowJSONParser]

    @extend_schema(parameters=[FilterIn, *PAGING], responses=page_of(ConversationOut))
    def get(self, request: Request, slug: str) -> Response:
        """The conversations of a project, by id (leads and researchers)."""
        project = access.readable(request.user, slug)
        rows = narrowed(project.conversations.all(), **asked(request, FilterIn))
        order = ["external_id", "pk"]
        return page(request, with_stage(with_answers(rows)), ConversationOut, by=order)

    @extend_schema(
        request={"multipart/form-data": ConversationsIn},
        responses={200: ImportOut, 201: ImportOut},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Store the conversations of files, all or none (leads); with `dry_run` only say what."""
        project = access.led(request.user, slug)
        sent = request.data if isinstance(request.data, dict) else {}
        data = {name: sent[name] for name in sent if name != "file"}
        wanted = ConversationsIn(data={**data, "file": request.FILES.getlist("file")})
        wanted.is_valid(raise_exception=True)
        options = dict(wanted.validated_data)
        files = [(file.name or "file", file) for file in options.pop("file")]
        report = conversations.import_files(
            project_slug=project.slug, files=files, actor=request.user, **options
        )
        is_stored = report.has_changes and not options["dry_run"]
        return Response(ImportOut(report).data, status=201 if is_stored else 200)


class ConversationView(ApiView, scopes=LEADING):
    @extend_schema(responses=ConversationDetailOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """One conversation with its messages (leads and researchers)."""
        project = access.readable(request.user, slug)
        rows = with_stage(with_answers(project.conversations.select_related("transcript")))
        conversation: Any = get_object_or_404(rows, pk=pk)
        conversation.newest_rounds = conversation.rounds.order_by("-number")
        return Response(ConversationDetailOut(conversation).data)


class AnswersView(ApiView, scopes=LEADING):
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
