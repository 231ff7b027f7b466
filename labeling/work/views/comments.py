"""Comments: on a conversation's page, beside one's own work, and where somebody is mentioned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from labeling.core import access
from labeling.core.views.access import (
    own_address,
    own_work,
    person,
    refusals_told,
    refused,
    said_by,
    sent,
)
from labeling.domain.errors import RuleError
from labeling.models import Assignment, Comment, Conversation
from labeling.work import comments
from labeling.work.forms.comments import CommentForm, ReplyForm

MENTIONS_SHOWN = 20


class Thread(NamedTuple):
    """A comment with its answers. ``message`` and ``label`` say what it is about, if not all."""

    first: Comment
    answers: list[Comment]
    message: int | None
    label: str


class Mention(NamedTuple):
    """A comment that names me, with a page where it can be read in its place, if I have one."""

    comment: Comment
    url: str


def threads_on(conversation: Conversation, user: Any) -> list[Thread]:
    """Open threads first, then the resolved ones, each in the order they were begun."""
    here = Comment.objects.filter(conversation=conversation, disagreement=None)
    if not here.exists():  # most conversations have none
        return []
    visible = list(
        comments.visible_to(user)
        .filter(conversation=conversation)
        .select_related("author", "resolved_by", "annotation__assignment__annotator")
    )
    ids = {comment.pk for comment in visible}
    begun = [comment for comment in visible if comment.parent_id not in ids]
    return [
        _thread(first, visible)
        for first in sorted(begun, key=lambda comment: comment.resolved_at is not None)
    ]


def _thread(first: Comment, visible: Iterable[Comment]) -> Thread:
    answers = [comment for comment in visible if comment.parent_id == first.pk]
    return Thread(first, answers, first.message_index, _label_name(first))


def _label_name(comment: Comment) -> str:
    """Whose label it is and what it is called; labels without a number go by their uid."""
    if not comment.label_uid or comment.annotation is None:
        return ""
    answer = comment.annotation
    labels = [label for layer in answer.payload.values() for label in layer]
    (name, *_others) = [
        str(label.get("id") or label["uid"])
        for label in labels
        if label["uid"] == comment.label_uid
    ] or [_("a label that is not there any more")]
    return f"{answer.assignment.annotator.get_username()}: {name}"


def mentions_of(user: Any) -> list[Mention]:
    """The newest ones, with at most one query for the pages of all."""
    if not Comment.objects.filter(mentions=user).exists():  # the rest is ten times the work
        return []
    mentioning = list(comments.mentions_of(user)[:MENTIONS_SHOWN])
    here = [comment.conversation_id for comment in mentioning]
    own_work = Assignment.owned_by(user).filter(conversation__in=here).order_by("round__number")
    workspaces = {row.conversation_id: row.get_absolute_url() for row in own_work}
    return [
        Mention(comment, workspaces.get(comment.conversation_id) or _page(comment, user))
        for comment in mentioning
    ]


def _page(comment: Comment, user: Any) -> str:
    if not access.reads(user, comment.project):
        return ""
    return reverse("conversation", args=[comment.project.slug, comment.conversation_id])


def comments_panel(assignment: Assignment) -> dict[str, Any]:
    """What the workspace shows of comments; its forms lead back to the threads alone."""
    return {
        "threads": threads_on(assignment.conversation, assignment.annotator),
        "writes": True,
        "is_own_work": True,
        "back": reverse("work-comments", args=[assignment.pk]),
    }


@require_http_methods(["GET", "POST"])
def work_comments(request: HttpRequest, pk: int) -> HttpResponse:
    """The threads on one's own work, for the panel of the workspace; a POST begins one."""
    mine = own_work(request.user, pk, "round__project", "conversation__project")
    form = CommentForm(sent(request))
    if form.is_bound and not form.is_valid():
        return refused(request, said_by(form), "home")
    if form.is_bound:
        pin = comments.Pin(form.cleaned_data["about"], form.cleaned_data["label"])
        place, body = comments.place_of(mine), form.cleaned_data["body"]
        try:
            comments.post(place, body=body, author=person(request), pin=pin)
        except RuleError as error:
            return refused(request, error, "home")
    return render(request, "labeling/_threads.html", comments_panel(mine))


@require_POST
def comment_add(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """A lead begins a thread on a conversation's page."""
    project = access.led(request.user, slug)
    conversation: Conversation = get_object_or_404(project.conversations, pk=pk)
    form = CommentForm(request.POST)
    if _is_valid(request, form):
        place, pin = comments.place_for_lead(conversation), comments.Pin(form.cleaned_data["about"])
        with refusals_told(request):
            comments.post(place, body=form.cleaned_data["body"], author=person(request), pin=pin)
    return redirect(reverse("conversation", args=[slug, pk]) + "#comments")


@require_POST
def comment_reply(request: HttpRequest, pk: int) -> HttpResponse:
    comment = _writable(request, pk)
    form = ReplyForm(request.POST)
    if _is_valid(request, form):
        comments.reply(comment, body=form.cleaned_data["body"], author=person(request))
    return _back(request)


@require_POST
def comment_resolve(request: HttpRequest, pk: int) -> HttpResponse:
    """``again`` in the POST takes a settled thread up again."""
    comment = _writable(request, pk)
    comments.resolve(comment, by=person(request), resolved="again" not in request.POST)
    return _back(request)


def _writable(request: HttpRequest, pk: int) -> Comment:
    visible = comments.visible_to(request.user)
    comment = get_object_or_404(visible.select_related("project", "parent__conversation"), pk=pk)
    if not comments.may_write(request.user, comment.project):
        raise PermissionDenied(_("Researchers read comments; annotators and leads write them."))
    return comment


def _is_valid(request: HttpRequest, form: Form) -> bool:
    if not form.is_valid():
        messages.error(request, said_by(form))
    return form.is_valid()


def _back(request: HttpRequest) -> HttpResponse:
    """To the page that the form was on."""
    return redirect(own_address(request, request.POST.get("next", "")) or "home")
