"""Labels that follow a superseded version of the guidelines, to be checked again."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch, QuerySet
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import LEADING, ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.api.paging import OLDEST_FIRST, PageOut, page
from labeling.api.requests import asked, sent, user_of
from labeling.forms.guidelines import WorklistFilter
from labeling.models import Annotation, GuidelineCheck
from labeling.services import access, guidelines

STATES = [WorklistFilter.OPEN, WorklistFilter.STANDS, WorklistFilter.ANEW]
BLANK: dict[str, Any] = {"default": "", "allow_blank": True}


class WorklistIn(serializers.Serializer[Any]):
    state = serializers.ChoiceField(
        STATES[1:], help_text="Empty: to check. anew: to be labelled again", **BLANK
    )
    version = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    annotator = serializers.CharField(max_length=150, **BLANK)
    disputed = serializers.BooleanField(
        default=False, help_text="Only conversations because of which the guidelines change"
    )


class CheckIn(serializers.Serializer[Any]):
    annotation = serializers.IntegerField(min_value=1, max_value=2**63 - 1)
    stands = serializers.BooleanField(
        help_text="false: it goes back to its annotator, unless it is locked"
    )
    note = serializers.CharField(
        max_length=5000, default="", allow_blank=True, help_text="Required where it does not stand"
    )


class GuidelineCheckOut(serializers.Serializer[Any]):
    stands = serializers.BooleanField()
    note = serializers.CharField()
    checked_by = serializers.CharField(source="checked_by.username")
    checked_at = serializers.DateTimeField()


class SupersededOut(serializers.Serializer[Any]):
    annotation = serializers.IntegerField(source="pk")
    conversation = serializers.CharField(source="assignment.conversation.external_id")
    conversation_id = serializers.IntegerField(source="assignment.conversation_id")
    annotator = serializers.CharField(source="assignment.annotator.username")
    round = serializers.IntegerField(source="assignment.round.number")
    guideline = serializers.IntegerField(source="guideline.version")
    checks = GuidelineCheckOut(many=True, help_text="Under the newest version: none, or one")


class SupersededPageOut(PageOut):
    results = SupersededOut(many=True)
    newest = serializers.IntegerField(allow_null=True, help_text="null: there are no guidelines")


class GuidelineWorklistView(ApiView):
    scopes = LEADING

    @extend_schema(
        parameters=[WorklistIn, *OLDEST_FIRST],
        responses={200: SupersededPageOut, 400: ErrorOut, 404: ErrorOut},
    )
    def get(self, request: Request, slug: str) -> Response:
        """Submitted labels made under an older version (leads and researchers)."""
        project = access.readable(request.user, slug)
        fields = asked(request, WorklistIn)
        newest = project.guidelines.defer("body").first()
        if newest is None:
            return page(request, Annotation.objects.labelling().none(), SupersededOut, newest=None)
        rows = WorklistFilter(project, newest, fields).narrow(
            guidelines.superseded(project, newest)
        )
        checks = GuidelineCheck.objects.filter(guideline=newest).select_related("checked_by")
        rows = rows.prefetch_related(Prefetch("guideline_checks", checks, to_attr="checks"))
        return page(request, _with_names(rows), SupersededOut, newest=newest.version)

    @extend_schema(
        request=CheckIn,
        responses={201: GuidelineCheckOut, 400: ErrorOut, 403: ErrorOut, 404: ErrorOut},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Say whether labels hold under the newest version (leads)."""
        project = access.led(request.user, slug)
        newest = get_object_or_404(project.guidelines.all()[:1])
        fields = sent(request, CheckIn)
        rows = _with_names(guidelines.superseded(project, newest))
        annotation = get_object_or_404(rows, pk=fields.pop("annotation"))
        check = guidelines.check(annotation, newest, by=user_of(request), **fields)
        return Response(GuidelineCheckOut(check).data, status=201)


def _with_names(rows: QuerySet[Annotation]) -> QuerySet[Annotation]:
    return rows.select_related(
        "guideline", "assignment__round", "assignment__conversation", "assignment__annotator"
    ).defer("guideline__body", "assignment__round__agreement")
