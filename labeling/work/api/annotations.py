from collections.abc import Mapping
from typing import Annotated, Any, TypedDict

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core.api.base import OWN_WORK, ApiViewSet
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import PAGING, page, page_of
from labeling.core.api.records import computed, row_of, serializer_of
from labeling.core.api.requests import sent, user_of
from labeling.domain.facts import Fact
from labeling.models import Annotation, AnnotationRevision, Assignment
from labeling.schema import LAYERS
from labeling.words import words
from labeling.work import annotations, hints, history, ownership


class OfPageIn(serializers.Serializer[Any]):
    """Which page saves, and what it has seen."""

    base_version = serializers.IntegerField(
        min_value=0, help_text="The version this page has seen; 0 before the first save"
    )
    client = serializers.UUIDField(help_text="Names this open page")
    seq = serializers.IntegerField(
        min_value=1, max_value=2**31 - 1, help_text="Counts this page's saves"
    )


class SaveIn(OfPageIn):
    payload = serializers.DictField()
    empty = serializers.BooleanField(default=False, help_text="The answer “nothing here”")
    nothing = serializers.ListField(
        child=serializers.ChoiceField(list(LAYERS)),
        default=list,
        help_text="The layers of which “nothing here” is said; another layer without labels is "
        "not answered",
    )
    active_seconds = serializers.IntegerField(
        min_value=0, max_value=10**6, default=0, help_text="Time of work so far, in total"
    )


class SkipIn(SaveIn):
    reason = serializers.CharField(max_length=2000)


AnnotationOut = row_of(
    "AnnotationOut",
    Annotation,
    *("status", "version", "payload", "empty", "unanswered", "skip_reason"),
    *("active_seconds", "locked_at"),
    saved_at=serializers.DateTimeField(
        source="updated_at", allow_null=True, help_text="null: nothing was saved yet"
    ),
)


class SentHint(TypedDict):
    uid: Annotated[str, "The label that it is about"]
    field: str
    kind: str
    text: Annotated[str, "In the language of the request"]


def hints_out(assignment: Assignment, payload: Mapping[str, Any]) -> list[SentHint]:
    return [
        {
            "uid": hint.uid,
            "field": hint.field,
            "kind": hint.kind,
            "text": words(Fact(f"hint.{hint.kind}", words=hint.words)),
        }
        for hint in hints.of(assignment, payload)
    ]


HintOut = serializer_of(SentHint)
SavedOut = row_of(
    "SavedOut",
    Annotation,
    base=AnnotationOut,
    hints=HintOut(many=True, help_text="Notes on the wording; none in calibration"),
)
SkippedOut = row_of(
    "SkippedOut",
    Annotation,
    base=AnnotationOut,
    can_reopen=computed(
        serializers.BooleanField,
        lambda annotation: not annotations.why_skip_stands(annotation),
        help_text="Whether the skip can be taken back: nobody else has got the conversation",
    ),
)
RevisionOut = row_of(
    "RevisionOut",
    AnnotationRevision,
    *("version", "kind", "saved_at", "empty"),
    author=serializers.CharField(source="author.username"),
    labels=serializers.IntegerField(source="n_labels", help_text="How many labels it holds"),
)


RevisionDetailOut = row_of(
    "RevisionDetailOut",
    AnnotationRevision,
    *("version", "kind", "saved_at", "empty", "unanswered"),
    author=serializers.CharField(source="author.username"),
    payload=serializers.DictField(),
)


class RestoreIn(OfPageIn):
    version = serializers.IntegerField(
        min_value=1, max_value=2**31 - 1, help_text="The revision whose labels are wanted"
    )


class AnnotationViewSet(ApiViewSet, scopes=OWN_WORK):
    """One's own answer to an assignment, addressed by the assignment's id."""

    @extend_schema(responses=AnnotationOut)
    def retrieve(self, request: Request, pk: int) -> Response:
        """The answer so far; version 0 when nothing was saved yet."""
        assignment = self._assignment(request, pk)
        annotation = Annotation.of(assignment).first()
        return Response(AnnotationOut(annotation or Annotation(assignment=assignment)).data)

    @extend_schema(request=SaveIn, responses=SavedOut)
    def update(self, request: Request, pk: int) -> Response:
        """Save a draft. Repeated and late saves of one page are ignored with 200."""
        assignment = annotations.opened(user_of(request), pk)  # access first, then input
        stored = annotations.save_draft(assignment, _save(request))
        notes = hints_out(assignment, stored.payload)
        return Response({**AnnotationOut(stored).data, "hints": notes})

    @extend_schema(request=SaveIn, responses=AnnotationOut)
    def submit(self, request: Request, pk: int) -> Response:
        """Submit the final, complete answer."""
        assignment = annotations.opened(user_of(request), pk)
        stored = annotations.submit(assignment, _save(request))
        return Response(AnnotationOut(stored).data)

    @extend_schema(request=SkipIn, responses=SkippedOut)
    def skip(self, request: Request, pk: int) -> Response:
        """Put the conversation aside with a reason."""
        assignment = self._assignment(request, pk)
        fields = sent(request, SkipIn)
        reason = fields.pop("reason")
        save = annotations.Save(**fields)
        return Response(SkippedOut(annotations.skip(assignment, save, reason=reason)).data)

    @extend_schema(request=None, responses=AnnotationOut)
    def reopen(self, request: Request, pk: int) -> Response:
        """Take a submission or a skip back: it is a draft again, until it is locked."""
        reopened = annotations.reopen(self._assignment(request, pk))
        return Response(AnnotationOut(reopened).data)

    @extend_schema(request=RestoreIn, responses=AnnotationOut)
    def restore(self, request: Request, pk: int) -> Response:
        """Make the labels of an earlier revision the newest draft."""
        assignment = self._assignment(request, pk)
        fields = sent(request, RestoreIn)
        version = fields.pop("version")
        save = annotations.Save(**fields, payload={})
        return Response(AnnotationOut(annotations.restore(assignment, version, save)).data)

    @extend_schema(parameters=PAGING, responses=page_of(RevisionOut))
    def revisions(self, request: Request, pk: int) -> Response:
        """Every accepted save, newest first, 100 at a time, without its labels."""
        revisions = history.revisions(self._assignment(request, pk))
        return page(request, revisions, RevisionOut, by=["-version"])

    @extend_schema(responses=RevisionDetailOut)
    def revision(self, request: Request, pk: int, version: int) -> Response:
        """One revision with its labels."""
        revisions = AnnotationRevision.objects.filter(
            annotation__assignment=self._assignment(request, pk)
        )
        revision = get_object_or_404(revisions.select_related("author"), version=version)
        return Response(RevisionDetailOut(revision).data)

    def _assignment(self, request: Request, pk: int) -> Assignment:
        return ownership.own(user_of(request), pk, "round__project", "conversation")


def _save(request: Request) -> annotations.Save:
    return annotations.Save(**sent(request, SaveIn))
