"""Comments on a conversation, a message or a label. A comment is never changed.

A thread is a comment and its replies; a reply has the pin of its thread. Discussions of
disagreements are on their own page (see discussions) and not handled here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from labeling.core import events
from labeling.core.rules.reasons import reason_in
from labeling.domain.errors import RuleError
from labeling.domain.msgids import msgid
from labeling.models import (
    Annotation,
    Assignment,
    Comment,
    Conversation,
    Membership,
    Project,
    Round,
    RoundConversation,
)
from labeling.work import blindness

Role = Membership.Role
_MENTION = re.compile(r"(?<![\w.@+-])@([\w.@+-]+)")
_SENT_TWICE_WITHIN = timedelta(minutes=1)
MAX_LENGTH = 4000


class EmptyComment(RuleError, code="empty_comment"):
    """A comment must say something."""


class UnknownPin(RuleError, code="unknown_pin"):
    """The message or label to comment on does not exist."""


class Pin(NamedTuple):
    """What a thread is about: one message, one label, or, with neither, all of a conversation."""

    message_index: int | None = None
    label_uid: str = ""


class ThreadPlace(NamedTuple):
    """Where a thread is: its conversation, and the round and answer that it is about."""

    conversation: Conversation
    round: Round | None
    annotation: Annotation | None = None


def place_of(assignment: Assignment) -> ThreadPlace:
    annotation = Annotation.of(assignment).first()
    return ThreadPlace(assignment.conversation, assignment.round, annotation)


def place_for_lead(conversation: Conversation) -> ThreadPlace:
    """An open calibration round first: comments in it are blind, by anyone."""
    newest = F("closed_at").desc(nulls_first=True)
    return ThreadPlace(
        conversation, conversation.rounds.order_by(newest, "kind", "-number").first()
    )


def blind() -> QuerySet[Round]:
    return Round.objects.filter(kind=Round.Kind.CALIBRATION, state=Round.State.OPEN)


def labels_blind(user: Any) -> QuerySet[Any, Any]:
    """The open calibration rounds in which the person labels, lead or not."""
    own = Assignment.objects.owned_by(user).order_by()
    return own.filter(round__in=blind().values("pk")).values("round")


def visible_to(user: Any) -> QuerySet[Comment]:
    """What the user may read; oldest first.

    Everybody reads the threads they began. In an open calibration round they read nothing else,
    except that leads who do not label in it read and answer threads that are not about a label.
    Afterwards, and in full labeling, leads and researchers read everything; annotators read threads
    about their own answers, threads about conversations or messages assigned to them, and threads
    that mention them. Anyone who labels a conversation again blind reads about its labels when
    that is over.
    """
    led = Project.objects.with_role(user, Role.LEAD)
    read = Project.objects.with_role(user, Role.LEAD, Role.RESEARCHER)
    blind_places = RoundConversation.objects.filter(round__in=blind())
    in_blind_round = Q(round__in=blind().values("pk"))
    again = Q(conversation__in=blindness.again(user))
    mine = Q(author=user) | Q(parent__author=user)
    in_own_round = Q(round__in=labels_blind(user))
    to_answer = Q(project__in=led, label_uid="") & ~in_own_round
    for_leads = to_answer | (Q(project__in=led) & ~in_blind_round & ~again)
    for_readers = Q(project__in=read) & ~in_blind_round & ~again
    for_annotators = _of_own_work(user) & ~Q(conversation__in=blind_places.values("conversation"))
    return (
        Comment.objects.filter(project__in=Project.objects.visible_to(user))
        .filter(disagreement=None)
        .filter(mine | for_leads | for_readers | for_annotators)
        .order_by("pk")
    )


def _of_own_work(user: Any) -> Q:
    assigned = Assignment.objects.owned_by(user).order_by().values("conversation")
    mentioned = Comment.objects.filter(mentions=user).order_by()
    threads = mentioned.annotate(thread=Coalesce("parent", "pk")).values("thread")
    return (
        Q(annotation__assignment__annotator=user)
        | Q(conversation__in=assigned, label_uid="")
        | Q(pk__in=threads)
        | Q(parent__in=threads)
    )


def may_write(user: Any, project: Project) -> bool:
    """Researchers read."""
    return bool(project.roles_of(user) & {Role.LEAD, Role.ANNOTATOR})


@transaction.atomic
def post(place: ThreadPlace, *, body: str, author: User, pin: Pin | None = None) -> Comment:
    """Begin a thread. Sent twice within a minute, it is one comment."""
    pin = pin or Pin()
    _check_pin(place, pin)
    return _add(place.conversation, body, author, place=place, pin=pin)


@transaction.atomic
def reply(to: Comment, *, body: str, author: User) -> Comment:
    """Answer in the thread of ``to``."""
    thread = to.parent or to
    place = ThreadPlace(thread.conversation, thread.round, thread.annotation)
    pin = Pin(thread.message_index, thread.label_uid)
    return _add(thread.conversation, body, author, place=place, pin=pin, parent=thread)


def _add(
    conversation: Conversation,
    body: str,
    author: User,
    *,
    place: ThreadPlace,
    pin: Pin,
    parent: Comment | None = None,
) -> Comment:
    body = reason_in(body)
    if not body:
        raise EmptyComment("comment.empty")
    # one after the other
    Conversation.objects.select_for_update(no_key=True).get(pk=conversation.pk)
    fields: dict[str, Any] = {
        "conversation": conversation,
        "project": conversation.project,
        "parent": parent,
        "body": body,
        "author": author,
        **pin._asdict(),
    }
    just_now = timezone.now() - _SENT_TWICE_WITHIN
    sent_before = Comment.objects.filter(**fields, created_at__gte=just_now).first()
    if sent_before:
        return sent_before
    added = Comment.objects.create(**fields, round=place.round, annotation=place.annotation)
    added.mentions.set(mentioned_in(body, conversation.project))
    _record("comment.posted", added, by=author)
    return added


def _check_pin(place: ThreadPlace, pin: Pin) -> None:
    places = range(place.conversation.n_messages)
    if pin.message_index is not None and pin.message_index not in places:
        raise UnknownPin(
            msgid("There is no message {message_index} in this conversation."),
            message_index=pin.message_index,
        )
    payload = place.annotation.payload if place.annotation else {}
    if pin.label_uid and pin.label_uid not in _uids(payload):
        raise UnknownPin(
            msgid("This label is not saved: save it first, or comment on the message.")
        )


def _uids(payload: Mapping[str, Any]) -> set[str]:
    return {str(label["uid"]) for labels in payload.values() for label in labels}


def mentioned_in(body: str, project: Project) -> list[User]:
    """The members that the text names as @username. Other names stay plain text."""
    names = {name.rstrip(".@+-").casefold() for name in _MENTION.findall(body)}
    names |= {name.casefold() for name in _MENTION.findall(body)}
    return [member for member in people(project) if member.get_username().casefold() in names]


def people(project: Project) -> list[User]:
    """Who can be mentioned."""
    members = User.objects.filter(memberships__project=project, is_active=True)
    return list(members.distinct().order_by("username"))


@transaction.atomic
def resolve(comment: Comment, *, by: User, resolved: bool = True) -> Comment:
    """Settle a thread, or take it up again; done twice it changes nothing."""
    thread = comment.parent or comment
    wanted = {"resolved_by": by, "resolved_at": timezone.now()} if resolved else {}
    values = {"resolved_by": None, "resolved_at": None} | wanted
    open_or_settled = Comment.objects.filter(pk=thread.pk, resolved_at__isnull=resolved)
    if open_or_settled.update(**values):
        _record("comment.resolved" if resolved else "comment.unresolved", thread, by=by)
    thread.refresh_from_db()
    return thread


def mentions_of(user: User) -> QuerySet[Comment]:
    """Where the user is mentioned and nothing is settled yet, newest first."""
    settled = Coalesce(F("parent__resolved_at"), F("resolved_at"))
    return (
        visible_to(user)
        .filter(pk__in=Comment.objects.filter(mentions=user).order_by().values("pk"))
        .exclude(author=user)
        .annotate(settled_at=settled)
        .filter(settled_at=None)
        .select_related("author", "conversation", "project")
        .order_by("-pk")
    )


def _record(verb: str, comment: Comment, *, by: User) -> None:
    """The audit log says that a comment was posted and where, never its text."""
    events.record(
        verb,
        comment,
        project=comment.project,
        actor=by,
        conversation=comment.conversation.external_id,
    )
