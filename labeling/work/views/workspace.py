from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from labeling.conversations.rules.transcripts import Message
from labeling.core.views.access import own_work
from labeling.core.views.markdown import shown_guideline
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.numbers import whole_number
from labeling.models import Annotation, Assignment, Round
from labeling.translation import translated_keys, translated_layers
from labeling.words import words, words_of
from labeling.work import admission, assignments, hints, locking, suggestions
from labeling.work.annotations import why_skip_stands
from labeling.work.rules.keys import KEYS
from labeling.work.views.comments import comments_panel

API = ("submit", "skip", "restore", "revisions", "suggestions", "first-pass")
STRETCH = 10  # messages; a stretch is laid out when it comes near the reader


class Turn(NamedTuple):
    """A message as the page shows it."""

    number: int
    who: str
    role: str  # where it says more than who
    time: datetime | None
    content: str
    link: str


@require_GET
def workspace(request: HttpRequest, pk: int) -> HttpResponse:
    """Where one conversation is labeled. Opening it stores nothing."""
    return _page(request, pk)


def _page(request: HttpRequest, pk: int, *, part: bool = False) -> HttpResponse:
    """The page, or the part of it that takes the place of another conversation."""
    related = ("round__project", "round__guideline", "conversation__transcript", "annotation")
    assignment = own_work(request.user, pk, *related)
    annotation = getattr(assignment, "annotation", None)
    if annotation is None:
        try:
            admission.refuse_unless_admitted(assignment)
        except RuleError as error:
            messages.info(request, words(error.fact))
            return redirect("home")
    guideline = assignment.round.guideline
    if annotation is not None and annotation.guideline_id != guideline.pk:
        guideline = annotation.guideline  # a returned answer, made under a newer version
    project = assignment.round.project
    context = {
        "assignment": assignment,
        "conversation": assignment.conversation,
        "stretches": _stretches(assignment.conversation.messages),
        "guideline": shown_guideline(guideline),
        "annotation": _annotation(assignment, annotation or Annotation()),
        "layers": translated_layers(
            project.layers, project.event_schema, assignment.round.open_fields
        ),
        **comments_panel(assignment),
        "part": part,
        **_place_in_queue(assignment),
    }
    if not part:
        context["keys"] = translated_keys(KEYS)
    return render(request, "labeling/workspace.html", context)


@require_POST
def next_sample(request: HttpRequest) -> HttpResponse:
    """Go on with the next conversation, or to the queue when none is left.

    ``after`` in the address is the assignment that one comes from: then it stays in the project. A
    script that asks for it gets the content of its page at once.
    """
    came_from = whole_number(request.GET.get("after", "")) or 0
    mine = Assignment.owned_by(request.user).select_related("round")
    last = mine.filter(pk=came_from).first()
    try:
        following = assignments.next_for(request.user, after=last)  # type: ignore[arg-type]
    except RuleError as error:
        messages.info(request, words(error.fact))
        return redirect("home")
    if following is None:
        left = _("Nothing is left to label: everything you were given is done.")
        if last is not None:
            left = _("You have finished what you were given in {project}.")
            left = left.format(project=last.round.project.name)
        messages.info(request, left)
        return redirect("home")
    if request.htmx:  # type: ignore[attr-defined]
        return _page(request, following.pk, part=True)
    return redirect("workspace", following.pk)


@require_POST
def lease_give_back(request: HttpRequest, pk: int) -> HttpResponse:
    mine = own_work(request.user, pk, "conversation", "round")
    text = (
        _("{conversation} is free for others. Your draft is kept.")
        if assignments.give_back(mine)
        else _("{conversation} is not reserved: there is nothing to return.")
    )
    messages.info(request, text.format(conversation=mine.conversation))
    return redirect("home")


def _stretches(messages: Sequence[Message]) -> list[list[Turn]]:
    link = _("Link message %(index)s to the open label")  # looked up once, not once a message
    turns = [
        Turn(
            message.index,
            message.speaker or message.role,
            message.role if message.speaker and message.role != message.speaker else "",
            message.time,
            message.content,
            link % {"index": message.index},
        )
        for message in messages
    ]
    return [turns[start : start + STRETCH] for start in range(0, len(turns), STRETCH)]


def _annotation(assignment: Assignment, annotation: Annotation) -> dict[str, Any]:
    """What the page starts from; the same keys as the API's answer, plus where to send things."""
    submitted = annotation.status == Annotation.Status.SUBMITTED
    read_only = submitted or assignment.round.state != Round.State.OPEN
    locked = _why_locked(assignment, annotation)
    return {
        "assignment": assignment.pk,
        "conversation": assignment.conversation.external_id,
        "user": assignment.annotator_id,
        "status": annotation.status,
        "version": annotation.version,
        "saved_at": annotation.updated_at,
        "payload": annotation.payload,
        "empty": annotation.empty,
        "unanswered": annotation.unanswered,
        "skip_reason": annotation.skip_reason,
        "locked": words_of(locked),
        "active_seconds": annotation.active_seconds,
        "read_only": read_only,
        "hints": not read_only and hints.are_shown(assignment),  # or there is no room for them
        # never what is suggested: the page asks for it after the annotator's own first pass
        "suggestions": {"state": "off" if read_only else suggestions.sight(assignment).state},
        "urls": {
            "save": reverse("api-annotation", args=[assignment.pk]),
            **{
                name.replace("-", "_"): reverse(f"api-annotation-{name}", args=[assignment.pk])
                for name in API
            },
            "reopen": "" if locked else reverse("api-annotation-reopen", args=[assignment.pk]),
            "workspace": assignment.get_absolute_url(),
            "queue": reverse("home"),
        },
    }


def _why_locked(assignment: Assignment, annotation: Annotation) -> Fact | None:
    """Why the answer cannot be taken back; None where it can."""
    if annotation.status == Annotation.Status.SKIPPED:
        return why_skip_stands(annotation)
    return locking.why_locked(annotation, assignment.round)


def _place_in_queue(assignment: Assignment) -> dict[str, int]:
    """Which one of the round's conversations this is, for "4 of 20"."""
    mine = assignment.round.handed_out.filter(annotator=assignment.annotator)
    before = Q(position__lt=assignment.position)
    before |= Q(position=assignment.position, pk__lt=assignment.pk)
    counted = mine.order_by().aggregate(before=Count("pk", filter=before), queue_total=Count("pk"))
    return {"queue_position": counted["before"] + 1, "queue_total": counted["queue_total"]}
