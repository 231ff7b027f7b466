from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core.api.base import OWN_WORK, ApiView, Scopes
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import PAGING, page, page_of
from labeling.core.api.records import row_of, username
from labeling.core.api.requests import sent, user_of
from labeling.core.rules.scopes import Scope
from labeling.models import Assignment, Comment, Conversation, Project
from labeling.work import comments, ownership


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


CommentOut = row_of(
    "CommentOut",
    Comment,
    *("id", "parent", "message_index", "label_uid", "body", "created_at", "resolved_at"),
    author=serializers.CharField(source="author.username"),
    mentions=serializers.SlugRelatedField[User](slug_field="username", many=True, read_only=True),
    resolved_by=username("resolved_by"),
)


class CommentsView(ApiView):
    """Comments on the conversation of one's own assignment."""

    scopes = OWN_WORK

    @extend_schema(parameters=PAGING, responses=page_of(CommentOut))
    def get(self, request: Request, pk: int) -> Response:
        """What I may read about this conversation, oldest first, 100 at a time."""
        assignment = _assignment(request, pk)
        readable = _visible(request).filter(conversation=assignment.conversation)
        return page(request, readable, CommentOut)

    @extend_schema(request=CommentIn, responses={201: CommentOut})
    def post(self, request: Request, pk: int) -> Response:
        """Begin a thread, or answer in one. Sent twice within a minute, it is one comment."""
        assignment = _assignment(request, pk)
        _refuse_readers(request, assignment.round.project)
        posted = _post(request, assignment, **sent(request, CommentIn))
        return Response(CommentOut(posted).data, status=status.HTTP_201_CREATED)


class ResolveView(ApiView):
    scopes: ClassVar[Scopes] = {"POST": (Scope.LABEL, Scope.LEAD)}

    @extend_schema(request=ResolveIn, responses=CommentOut)
    def post(self, request: Request, pk: int) -> Response:
        """Settle the thread of a comment, or take it up again."""
        comment = get_object_or_404(_visible(request), pk=pk)
        _refuse_readers(request, comment.project)
        thread = comments.resolve(comment, by=user_of(request), **sent(request, ResolveIn))
        return Response(CommentOut(thread).data)


def _post(
    request: Request,
    assignment: Assignment,
    *,
    body: str,
    reply_to: int | None,
    message_index: int | None,
    label_uid: str,
) -> Comment:
    if reply_to is not None:
        return _reply(request, assignment.conversation, reply_to, body)
    pin, place = comments.Pin(message_index, label_uid), comments.place_of(assignment)
    return comments.post(place, body=body, author=user_of(request), pin=pin)


def _reply(request: Request, conversation: Conversation, to: int, body: str) -> Comment:
    thread = get_object_or_404(_visible(request).filter(conversation=conversation), pk=to)
    return comments.reply(thread, body=body, author=user_of(request))


def _assignment(request: Request, pk: int) -> Assignment:
    return ownership.own(user_of(request), pk, "round__project", "conversation__project")


def _visible(request: Request) -> QuerySet[Comment]:
    return (
        comments.visible_to(request.user)
        .select_related("author", "resolved_by", "project", "parent", "conversation__project")
        .prefetch_related("mentions")
    )


def _refuse_readers(request: Request, project: Project) -> None:
    if not comments.may_write(request.user, project):
        raise PermissionDenied("Researchers read comments; annotators and leads write them.")
