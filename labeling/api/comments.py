from __future__ import annotations

from typing import Any, cast

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import OWN_WORK, ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.api.paging import NEWEST_FIRST, OLDEST_FIRST, PageOut, page
from labeling.models import Assignment, Comment, Project
from labeling.services import comments
from labeling.services.work import ownership


class CommentIn(serializers.Serializer[Any]):
    body = serializers.CharField(max_length=comments.MAX_LENGTH)
    message_index = serializers.IntegerField(
        min_value=0, max_value=2**31 - 1, allow_null=True, default=None
    )
    label_uid = serializers.CharField(max_length=64, allow_blank=True, default="")
    reply_to = serializers.IntegerField(
        allow_null=True, default=None, help_text="Any comment of the thread that this answers"
    )


class ResolveIn(serializers.Serializer[Any]):
    resolved = serializers.BooleanField(default=True, help_text="false takes it up again")


class CommentOut(serializers.ModelSerializer[Comment]):
    author = serializers.CharField(source="author.username")
    mentions: serializers.SlugRelatedField[User] = serializers.SlugRelatedField(
        slug_field="username", many=True, read_only=True
    )
    resolved_by = serializers.CharField(
        source="resolved_by.username", default=None, allow_null=True
    )

    class Meta:
        model = Comment
        fields = [
            "id",
            "parent",
            "message_index",
            "label_uid",
            "body",
            "author",
            "mentions",
            "created_at",
            "resolved_by",
            "resolved_at",
        ]


class MentionOut(CommentOut):
    conversation = serializers.CharField(source="conversation.external_id")
    project = serializers.CharField(source="project.slug")

    class Meta(CommentOut.Meta):
        fields = ["project", "conversation", *CommentOut.Meta.fields]


class CommentPageOut(PageOut):
    results = CommentOut(many=True)
    people = serializers.ListField(
        child=serializers.CharField(), help_text="Who can be mentioned, as @username"
    )


class MentionPageOut(PageOut):
    results = MentionOut(many=True)


class CommentsView(ApiView):
    """Comments on the conversation of one's own assignment."""

    scopes = OWN_WORK

    @extend_schema(parameters=OLDEST_FIRST, responses={200: CommentPageOut, 404: ErrorOut})
    def get(self, request: Request, pk: int) -> Response:
        """What I may read about this conversation, oldest first, 100 at a time."""
        assignment = _assignment(request, pk)
        readable = _visible(request).filter(conversation=assignment.conversation)
        named = comments.people(assignment.round.project)
        return page(request, readable, CommentOut, people=[user.get_username() for user in named])

    @extend_schema(request=CommentIn, responses={201: CommentOut, 400: ErrorOut, 404: ErrorOut})
    def post(self, request: Request, pk: int) -> Response:
        """Begin a thread, or answer in one. Sent twice within a minute, it is one comment."""
        assignment = _assignment(request, pk)
        _refuse_readers(request, assignment.round.project)
        fields = CommentIn(data=request.data)
        fields.is_valid(raise_exception=True)
        posted = _post(request, assignment, **fields.validated_data)
        return Response(CommentOut(posted).data, status=status.HTTP_201_CREATED)


class ResolveView(ApiView):
    scopes = OWN_WORK

    @extend_schema(request=ResolveIn, responses={200: CommentOut, 403: ErrorOut, 404: ErrorOut})
    def post(self, request: Request, pk: int) -> Response:
        """Settle the thread of a comment, or take it up again."""
        comment = get_object_or_404(_visible(request), pk=pk)
        _refuse_readers(request, comment.project)
        fields = ResolveIn(data=request.data)
        fields.is_valid(raise_exception=True)
        thread = comments.resolve(comment, by=_user(request), **fields.validated_data)
        return Response(CommentOut(thread).data)


class MentionsView(ApiView):
    scopes = OWN_WORK

    @extend_schema(parameters=NEWEST_FIRST, responses=MentionPageOut)
    def get(self, request: Request) -> Response:
        """Comments that mention me and are not settled, newest first, 100 at a time."""
        mentioning = comments.mentions_of(_user(request)).prefetch_related("mentions")
        return page(request, mentioning, MentionOut, newest_first=True)


def _post(
    request: Request,
    assignment: Assignment,
    *,
    body: str,
    reply_to: int | None,
    message_index: int | None,
    label_uid: str,
) -> Comment:
    author = _user(request)
    if reply_to is not None:
        of_here = _visible(request).filter(conversation=assignment.conversation)
        return comments.reply(get_object_or_404(of_here, pk=reply_to), body=body, author=author)
    pin = comments.Pin(message_index, label_uid)
    return comments.post(comments.place_of(assignment), body=body, author=author, pin=pin)


def _assignment(request: Request, pk: int) -> Assignment:
    return ownership.own(_user(request), pk, "round__project", "conversation__project")


def _visible(request: Request) -> QuerySet[Comment]:
    return (
        comments.visible_to(request.user)
        .select_related("author", "resolved_by", "project", "parent", "conversation__project")
        .prefetch_related("mentions")
    )


def _refuse_readers(request: Request, project: Project) -> None:
    if not comments.may_write(request.user, project):
        raise PermissionDenied("Researchers read comments; annotators and leads write them.")


def _user(request: Request) -> User:
    """The signed-in user: permissions have let nobody else through."""
    return cast(User, request.user)
