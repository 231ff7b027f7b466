from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.errors import ErrorOut
from labeling.models import Annotation, AnnotationRevision, Assignment
from labeling.services import annotations


class SaveIn(serializers.Serializer[Any]):
    base_version = serializers.IntegerField(
        min_value=0, help_text="The version this page has seen; 0 before the first save"
    )
    client = serializers.UUIDField(help_text="Names this open page")
    seq = serializers.IntegerField(min_value=1, help_text="Counts this page's saves")
    payload = serializers.DictField()
    empty = serializers.BooleanField(default=False, help_text="The answer “nothing here”")
    active_seconds = serializers.IntegerField(
        min_value=0, max_value=10**6, default=0, help_text="Time of work so far, in total"
    )


class SkipIn(SaveIn):
    reason = serializers.CharField(max_length=2000)


class AnnotationOut(serializers.ModelSerializer[Annotation]):
    saved_at = serializers.DateTimeField(source="updated_at")

    class Meta:
        model = Annotation
        fields = [
            "status",
            "version",
            "saved_at",
            "payload",
            "empty",
            "skip_reason",
            "active_seconds",
        ]


class RevisionOut(serializers.ModelSerializer[AnnotationRevision]):
    class Meta:
        model = AnnotationRevision
        fields = ["version", "kind", "saved_at", "payload", "empty"]


CONFLICT = {200: AnnotationOut, 400: ErrorOut, 404: ErrorOut, 409: ErrorOut}


class AnnotationViewSet(viewsets.ViewSet):
    """One's own answer to an assignment, addressed by the assignment's id."""

    @extend_schema(responses={200: AnnotationOut, 404: ErrorOut})
    def retrieve(self, request: Request, pk: int) -> Response:
        """The answer so far; version 0 when nothing was saved yet."""
        assignment = self._assignment(request, pk)
        found = Annotation.objects.filter(assignment=assignment).first()
        return Response(AnnotationOut(found or Annotation(assignment=assignment)).data)

    @extend_schema(request=SaveIn, responses=CONFLICT)
    def update(self, request: Request, pk: int) -> Response:
        """Save a draft. Repeated and late saves of one page are ignored with 200."""
        assignment = self._assignment(request, pk)  # access first, then input
        stored = annotations.save_draft(assignment, _save(request))
        return Response(AnnotationOut(stored).data)

    @extend_schema(request=SaveIn, responses=CONFLICT)
    def submit(self, request: Request, pk: int) -> Response:
        """Submit the final, complete answer."""
        assignment = self._assignment(request, pk)
        stored = annotations.submit(assignment, _save(request))
        return Response(AnnotationOut(stored).data)

    @extend_schema(request=SkipIn, responses=CONFLICT)
    def skip(self, request: Request, pk: int) -> Response:
        """Put the conversation aside with a reason."""
        assignment = self._assignment(request, pk)
        fields = SkipIn(data=request.data)
        fields.is_valid(raise_exception=True)
        reason = fields.validated_data.pop("reason")
        save = annotations.Save(**fields.validated_data)
        return Response(AnnotationOut(annotations.skip(assignment, save, reason=reason)).data)

    @extend_schema(responses={200: RevisionOut(many=True), 404: ErrorOut})
    def revisions(self, request: Request, pk: int) -> Response:
        """Every accepted save, newest first, at most 100."""
        assignment = self._assignment(request, pk)
        rows = AnnotationRevision.objects.filter(annotation__assignment=assignment)
        return Response(RevisionOut(rows.order_by("-version")[:100], many=True).data)

    def _assignment(self, request: Request, pk: int) -> Assignment:
        mine = Assignment.objects.owned_by(request.user)
        return get_object_or_404(
            mine.select_related("round__project", "conversation", "annotator"), pk=pk
        )


def _save(request: Request) -> annotations.Save:
    fields = SaveIn(data=request.data)
    fields.is_valid(raise_exception=True)
    return annotations.Save(**fields.validated_data)
