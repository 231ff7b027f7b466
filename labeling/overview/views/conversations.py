from __future__ import annotations

from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from labeling.conversations.forms.conversations import ConversationFilter
from labeling.conversations.views.labels import Label, labels_of, turns
from labeling.core import access
from labeling.core.views.paging import page_of, query_of
from labeling.gold import looks
from labeling.models import Assignment, Conversation, Project, Round
from labeling.work import blindness, comments
from labeling.work.listing import answers_on, with_answers
from labeling.work.views.comments import threads_on


class Answer(NamedTuple):
    """What one annotator answered in one round."""

    given: Assignment
    labels: list[Label]


SHOWN = ("pk", "external_id", "domain", "difficulty", "split", "origin")


@require_GET
def conversations(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    form = ConversationFilter(project, request.GET)
    rows = form.narrow(_rows(project))
    anchors = project.conversations.all()
    page = page_of(
        rows, order=["external_id", "pk"], after=request.GET.get("after"), anchors=anchors
    )
    context = {
        "project": project,
        "form": form,
        "page": page,
        "total": project.conversations.count(),
        "query": query_of(request),
    }
    return render(request, "labeling/conversations.html", context)


@require_GET
def conversation(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The text, and for one round the annotators' labels side by side."""
    project = access.readable(request.user, slug)
    conversation: Conversation = get_object_or_404(project.conversations, pk=pk)
    rounds = list(conversation.rounds.order_by("-number").defer("agreement"))
    again = blindness.round_again(request.user, project.conversations.filter(pk=pk))
    visible = [] if again else [round_ for round_ in rounds if not round_.is_blind]
    shown = _chosen(visible, request.GET.get("round", ""))
    given = list(answers_on(conversation, [shown.pk])) if shown else []
    if given:
        looks.require_answers(request.user, conversation)
    answered = [
        Answer(each, labels_of(each.annotation.payload, project.layers, prefix=f"a{each.pk}"))
        for each in given
        if not each.annotation.skip_reason
    ]
    messages = [message._asdict() for message in conversation.messages]
    context = {
        "project": project,
        "conversation": conversation,
        "rounds": visible,
        "shown": shown,
        "blind": [round_ for round_ in rounds if round_.is_blind],
        "blind_again": again,
        "answers": answered,
        "skipped": [each for each in given if each.annotation.skip_reason],
        "turns": turns(messages, [answer.labels for answer in answered]),
        "threads": threads_on(conversation, request.user),
        "leads": access.leads(request.user, project),
        "writes": comments.may_write(request.user, project),
    }
    return render(request, "labeling/conversation.html", context)


def _rows(project: Project) -> QuerySet[Conversation, Any]:
    return with_answers(project.conversations.all()).values_list(
        *SHOWN, "n_messages", "n_answers", named=True
    )


def _chosen(rounds: list[Round], asked: str) -> Round | None:
    """The round asked for, else the newest."""
    by_number = {str(round_.number): round_ for round_ in rounds}
    return by_number.get(asked) or (rounds[0] if rounds else None)
