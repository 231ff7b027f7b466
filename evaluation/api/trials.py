"""Pipelines on conversations without gold: begun, followed, read and carried on."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.access import require_reader
from evaluation.api.runs import WordsField
from evaluation.models import Trial, TrialCase
from evaluation.services.trials import adopting, files, predicting, reading, trials
from evaluation.services.trials.predicting import Question, TrialRefused
from evaluation.views.opening import opened_trial
from evaluation.views.trials import document_file
from labeling.api.base import LEADING, READING, RUNNING, ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.api.paging import NEWEST_FIRST, OLDEST_FIRST, PageOut, page
from labeling.api.requests import asked
from labeling.domain.formats.conversations import AUTO, FORMATS
from labeling.domain.formats.talks import HowToRead
from labeling.models import Membership, Project
from labeling.models.projects import limit_of
from labeling.services import access
from labeling.words import words

READERS = (Membership.Role.LEAD, Membership.Role.RESEARCHER)
FILES = ("predictions", "labels")


class TrialIn(serializers.Serializer[Any]):
    """One of conversations, text and conversation_ids says what the pipeline is tried on."""

    pipeline = serializers.CharField()
    layer = serializers.CharField(
        default="", allow_blank=True, help_text="Empty: the one that shows most of the pipeline"
    )
    config = serializers.DictField(default=dict)
    conversations = serializers.ListField(
        child=serializers.DictField(), default=list, help_text="As lines of the native format"
    )
    text = serializers.CharField(
        default="",
        allow_blank=True,
        trim_whitespace=False,
        max_length=reading.MOST_BYTES,
        help_text="A file's content, read as format says",
    )
    format = serializers.ChoiceField(FORMATS, default=AUTO)
    roles = serializers.CharField(
        default="", allow_blank=True, help_text="Who is who: Ana=analyst,*=user"
    )
    conversation_ids = serializers.ListField(
        child=serializers.CharField(), default=list, help_text="Of the project's conversations"
    )
    project = serializers.CharField(
        default="", allow_blank=True, help_text="Whose leads see the results; empty: only you"
    )
    questions = serializers.ListField(
        child=serializers.CharField(),
        default=list,
        help_text="For pipelines that answer questions: each is asked of every conversation",
    )
    name = serializers.CharField(default="", allow_blank=True, max_length=200)
    budget_cost = serializers.FloatField(default=None, allow_null=True)
    budget_tokens = serializers.IntegerField(default=None, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        sources = [attrs["conversations"], attrs["text"].strip(), attrs["conversation_ids"]]
        if sum(map(bool, sources)) != 1:
            raise TrialRefused("trial.one_source")
        return attrs


class TrialOut(serializers.ModelSerializer[Trial]):
    status = serializers.CharField(help_text="Follows from the cases; it is not stored")
    project = serializers.CharField(source="project.slug", default=None, allow_null=True)
    maker = serializers.CharField(source="maker.username")
    n_cases = serializers.IntegerField()
    n_done = serializers.IntegerField()
    n_failed = serializers.IntegerField()
    failure = WordsField()

    class Meta:
        model = Trial
        fields = [
            *("id", "name", "maker", "project", "pipeline", "pipeline_version", "layer", "config"),
            *("status", "n_cases", "n_done", "n_failed", "failure", "created_at", "expires_at"),
        ]


class TrialPageOut(PageOut):
    results = TrialOut(many=True)


class TrialCaseOut(serializers.ModelSerializer[TrialCase]):
    conversation = serializers.CharField(source="conversation.external_id")
    error = WordsField()
    output = serializers.DictField(allow_null=True, help_text="null: there is none yet")

    class Meta:
        model = TrialCase
        fields = [
            *("id", "case_id", "conversation", "question", "state", "error_class", "error"),
            *("seconds", "output"),
        ]


class TrialCasePageOut(PageOut):
    results = TrialCaseOut(many=True)


class TrialControlIn(serializers.Serializer[Any]):
    action = serializers.ChoiceField(
        ["cancel", "again"], help_text="again: what failed or was cancelled is tried once more"
    )


class TrialSuggestionsIn(serializers.Serializer[Any]):
    project = serializers.CharField(help_text="That you lead")


class TrialSuggestionsOut(serializers.Serializer[Any]):
    imported = serializers.IntegerField(help_text="Conversations that the project did not have")
    made = serializers.IntegerField()
    known = serializers.IntegerField(help_text="Suggestions that were there already")
    left_out = serializers.DictField(
        child=serializers.CharField(), help_text="By conversation why it has none"
    )


class TrialListView(ApiView):
    scopes = RUNNING

    @extend_schema(parameters=NEWEST_FIRST, responses={200: TrialPageOut, 404: ErrorOut})
    def get(self, request: Request) -> Response:
        """Your trials and those of projects that you lead, the newest first."""
        require_reader(request.user)
        rows = Trial.objects.visible_to(request.user).with_progress()
        rows = rows.select_related("maker", "project")
        return page(request, rows, TrialOut, newest_first=True)

    @extend_schema(request=TrialIn, responses={201: TrialOut, 400: ErrorOut, 404: ErrorOut})
    def post(self, request: Request) -> Response:
        """Try a pipeline on conversations without gold: a worker does it."""
        require_reader(request.user)
        fields = TrialIn(data=request.data)
        fields.is_valid(raise_exception=True)
        trial = _begin(request, fields.validated_data)
        return Response(
            TrialOut(opened_trial(request.user, trial.pk)).data, status=status.HTTP_201_CREATED
        )


class TrialView(ApiView):
    scopes = RUNNING

    @extend_schema(responses={200: TrialOut, 403: ErrorOut, 404: ErrorOut})
    def get(self, request: Request, pk: int) -> Response:
        """How far a trial is."""
        return Response(TrialOut(opened_trial(request.user, pk)).data)

    @extend_schema(responses={204: None, 404: ErrorOut})
    def delete(self, request: Request, pk: int) -> Response:
        """Delete a trial with its conversations and results."""
        opened_trial(request.user, pk, reading=False).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


class TrialCasesView(ApiView):
    scopes = READING

    @extend_schema(
        parameters=OLDEST_FIRST, responses={200: TrialCasePageOut, 403: ErrorOut, 404: ErrorOut}
    )
    def get(self, request: Request, pk: int) -> Response:
        """What came out of a trial, case by case."""
        trial = opened_trial(request.user, pk)
        rows = TrialCase.objects.filter(trial=trial)
        return page(request, rows.select_related("conversation"), TrialCaseOut)


class TrialControlView(ApiView):
    scopes = RUNNING

    @extend_schema(request=TrialControlIn, responses={200: TrialOut, 400: ErrorOut, 404: ErrorOut})
    def post(self, request: Request, pk: int) -> Response:
        """Cancel a trial, or try again what has no result."""
        trial = opened_trial(request.user, pk, reading=False)
        fields = TrialControlIn(data=request.data)
        fields.is_valid(raise_exception=True)
        if fields.validated_data["action"] == "cancel":
            trials.cancel(trial)
        else:
            trials.again(trial)
        return Response(TrialOut(opened_trial(request.user, pk, reading=False)).data)


class TrialFileIn(serializers.Serializer[Any]):
    form = serializers.ChoiceField(FILES, default=FILES[0])


class TrialFileView(ApiView):
    scopes = READING

    @extend_schema(
        parameters=[OpenApiParameter("form", OpenApiTypes.STR, enum=list(FILES))],
        responses={
            (200, "application/x-ndjson"): OpenApiTypes.STR,
            (200, "text/csv"): OpenApiTypes.STR,
            400: ErrorOut,
            403: ErrorOut,
            404: ErrorOut,
        },
    )
    def get(self, request: Request, pk: int) -> HttpResponseBase:
        """Predictions as they are read elsewhere, or a table of all labels."""
        trial = opened_trial(request.user, pk)
        form = asked(request, TrialFileIn)["form"]
        rows = trials.predictions_of(trial)
        if form == "labels":
            lines, kind, ending = files.label_table(rows, trial.layer), "text/csv", "csv"
        else:
            lines = map(files.prediction_line, rows)
            kind, ending = "application/x-ndjson", "jsonl"
        response = StreamingHttpResponse(lines, content_type=f"{kind}; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="trial-{pk}.{ending}"'
        return response


class DocumentIn(serializers.Serializer[Any]):
    form = serializers.ChoiceField(list(files.DOCUMENTS), default="md")


class TrialDocumentView(ApiView):
    scopes = READING

    @extend_schema(
        parameters=[DocumentIn],
        responses={
            **{(200, form.media_type): OpenApiTypes.BINARY for form in files.DOCUMENTS.values()},
            400: ErrorOut,
            403: ErrorOut,
            404: ErrorOut,
        },
    )
    def get(self, request: Request, pk: int, case: int) -> HttpResponseBase:
        """The requirements document that the pipeline wrote of a conversation."""
        trial = opened_trial(request.user, pk)
        file = document_file(trial, case, asked(request, DocumentIn)["form"])
        if file is None:
            raise NotFound("The pipeline wrote no document of this case.")
        return file


class TrialSuggestionsView(ApiView):
    scopes = LEADING

    @extend_schema(
        request=TrialSuggestionsIn,
        responses={200: TrialSuggestionsOut, 400: ErrorOut, 403: ErrorOut, 404: ErrorOut},
    )
    def post(self, request: Request, pk: int) -> Response:
        """Add what came out to a project as suggestions; its missing conversations are imported."""
        trial = opened_trial(request.user, pk)
        fields = TrialSuggestionsIn(data=request.data)
        fields.is_valid(raise_exception=True)
        project = access.led(request.user, fields.validated_data["project"])
        adopted = adopting.adopt(trial, project, by=request.user)
        return Response(
            {
                "imported": adopted.imported,
                "made": adopted.made,
                "known": adopted.known,
                "left_out": {id: words(why) for id, why in adopted.left_out.items()},
            }
        )


def _begin(request: Request, asked: dict[str, Any]) -> Trial:
    project = _project(request, asked["project"])
    questions = tuple(
        Question(f"Q-{number:03d}", text) for number, text in enumerate(asked["questions"], 1)
    )
    task = predicting.checked_task(
        asked["pipeline"],
        asked["config"],
        layer=asked["layer"],
        questions=questions,
        event_schema=project.event_schema if project else None,
    )
    budget = {name: asked[name] for name in ("budget_cost", "budget_tokens")}
    wish = trials.Wish(request.user, task, asked["name"], project, **budget)
    if ids := set(asked["conversation_ids"]):
        if project is None:
            raise TrialRefused("trial.no_project")
        stored = project.conversations.filter(external_id__in=ids).select_related("transcript")
        if len(rows := list(stored)) != len(ids):
            raise TrialRefused("trial.conversation_gone")
        return trials.on_conversations(wish, rows)
    name = asked["name"] or "conversation"
    text, format = asked["text"], asked["format"]
    if asked["conversations"]:
        text = "\n".join(json.dumps(row) for row in asked["conversations"])
        name, format = "request", "native"
    how = HowToRead.written("", asked["roles"])
    content = BytesIO(text.encode("utf-8", "replace"))
    return trials.on_records(wish, reading.records_of([(name, content)], format=format, how=how))


def _project(request: Request, slug: str) -> Project | None:
    if not slug:
        if limit_of(request.user) is not None:  # it could not open what it has begun
            text = _("This token is limited to projects: name one of them.")
            raise serializers.ValidationError({"project": [text]})
        return None
    return get_object_or_404(Project.objects.with_role(request.user, *READERS), slug=slug)
