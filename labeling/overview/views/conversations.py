from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.formats import localize
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from labeling.conversations.forms.conversations import ConversationFilter
from labeling.conversations.views.labels import Label, labels_of, turns
from labeling.core import access
from labeling.core.views.paging import page_of, query_of
from labeling.gold import looks
from labeling.models import Assignment, Conversation, Project, Round
from labeling.translation import translated
from labeling.work import blindness, comments
from labeling.work.listing import answers_on, with_answers
from labeling.work.views.comments import threads_on


class Answer(NamedTuple):
    """What one annotator answered in one round."""

    annotation: int
    username: str
    guideline: int
    empty: bool
    skip_reason: str
    labels: list[Label]


# A hundred rows through the template engine are half of the work of the page.
ROW = (
    '<tr><th scope="row"><a href="{}">{}</a>{}</th><td>{}</td><td>{}</td><td>{}</td>'
    '<td class="num">{}</td><td class="num">{}</td></tr>'
)
SHOWN = ("pk", "external_id", "domain", "difficulty", "split", "origin")
SYNTHETIC = ' <span class="badge warn">{}</span>'


class RoundTab(NamedTuple):
    pk: int
    number: int
    kind: str
    state: str

    @property
    def is_blind(self) -> bool:
        return self.kind == Round.Kind.CALIBRATION and self.state == Round.State.OPEN


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
        "rows": _table_rows(project, page.rows),
        "total": project.conversations.count(),
        "query": query_of(request),
    }
    return render(request, "labeling/conversations.html", context)


@require_GET
def conversation(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The text, and for one round the annotators' labels side by side."""
    project = access.readable(request.user, slug)
    conversation: Conversation = get_object_or_404(project.conversations, pk=pk)
    rounds = _rounds(conversation)
    again = blindness.round_again(request.user, project.conversations.filter(pk=pk))
    visible = [] if again else [round_ for round_ in rounds if not round_.is_blind]
    shown = _chosen(visible, request.GET.get("round", ""))
    answers = _answers(project, conversation, shown.pk) if shown else []
    if answers:
        looks.require_answers(request.user, conversation)
    answered = [answer for answer in answers if not answer.skip_reason]
    messages = [message._asdict() for message in conversation.messages]
    context = {
        "project": project,
        "conversation": conversation,
        "rounds": visible,
        "shown": shown,
        "blind": [round_ for round_ in rounds if round_.is_blind],
        "blind_again": again,
        "answers": answered,
        "skipped": [answer for answer in answers if answer.skip_reason],
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


def _table_rows(project: Project, rows: Iterable[Any]) -> SafeString:
    """The rows of the table. Addresses and words are looked up once, not once a row."""
    start, end = reverse("conversation", args=[project.slug, 0]).rsplit("0", 1)
    written = cache(lambda text: conditional_escape(text or "–"))
    words = cache(lambda text: written(translated(text)))
    number = cache(lambda value: conditional_escape(localize(value)))
    synthetic = format_html(SYNTHETIC, _("synthetic"))
    cells = (
        (
            f"{start}{row.pk}{end}",
            row.external_id,
            synthetic if row.origin == Conversation.Origin.SYNTHETIC else "",
            written(row.domain),
            words(row.difficulty),
            words(row.split),
            number(row.n_messages),
            number(row.n_answers),
        )
        for row in rows
    )
    return format_html_join("\n", ROW, cells)


def _rounds(conversation: Conversation) -> list[RoundTab]:
    rounds = conversation.rounds.order_by("-number").values_list("pk", "number", "kind", "state")
    return [RoundTab(*row) for row in rounds]


def _chosen(rounds: list[RoundTab], asked: str) -> RoundTab | None:
    """The round asked for, else the newest."""
    by_number = {str(round_.number): round_ for round_ in rounds}
    return by_number.get(asked) or (rounds[0] if rounds else None)


def _answers(project: Project, conversation: Conversation, round_pk: int) -> list[Answer]:
    rows = answers_on(conversation, [round_pk])
    return [
        Answer(
            annotation=row.annotation.pk,
            username=row.annotator.get_username(),
            guideline=row.annotation.guideline.version,
            empty=row.annotation.empty,
            skip_reason=row.annotation.skip_reason,
            labels=_labels(row, project),
        )
        for row in rows
    ]


def _labels(row: Assignment, project: Project) -> list[Label]:
    prefix = f"a{row.pk}"
    return labels_of(row.annotation.payload, project.layers, prefix=prefix)
