from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.keys import KEYS
from labeling.domain.numbers import whole_number
from labeling.domain.schema import form_layers
from labeling.models import Annotation, Assignment, Round
from labeling.services.work import admission, assignments, locking, suggestions
from labeling.services.work.annotations import why_skip_stands
from labeling.translation import translated_keys, translated_tree
from labeling.views.markdown import shown_guideline
from labeling.words import words, words_of


@require_GET
def workspace(request: HttpRequest, pk: int) -> HttpResponse:
    """Where one conversation is labelled. Opening it stores nothing."""
    assignment = get_object_or_404(
        Assignment.objects.with_checks()
        .owned_by(request.user)
        .select_related("round__project", "round__guideline", "conversation", "annotator"),
        pk=pk,
    )
    annotation = Annotation.objects.with_checks().filter(assignment=assignment).first()
    if annotation is None:
        try:
            admission.refuse_unless_admitted(assignment)
        except RuleError as error:
            messages.info(request, words(error.fact))
            return redirect("home")
    # a returned answer may be made under a newer version than its round
    guideline = annotation.guideline if annotation else assignment.round.guideline
    project = assignment.round.project
    context = {
        "assignment": assignment,
        "conversation": assignment.conversation,
        "conversation_messages": assignment.conversation.messages,
        "guideline": shown_guideline(guideline),
        "annotation": _annotation(assignment, annotation or Annotation()),
        "layers": translated_tree(form_layers(project.layers, event_schema=project.event_schema)),
        "keys": translated_keys(KEYS),
        **_place_in_queue(assignment),
    }
    return render(request, "labeling/workspace.html", context)


@require_POST
def next_sample(request: HttpRequest) -> HttpResponse:
    """Go on with the next conversation, or to the queue when none is left.

    ``after`` in the address is the assignment that one comes from.
    """
    came_from = whole_number(request.GET.get("after", "")) or 0
    mine = Assignment.objects.with_checks().owned_by(request.user).filter(pk=came_from)
    try:
        following = assignments.next_for(request.user, after=mine.first())  # type: ignore[arg-type]
    except RuleError as error:
        messages.info(request, words(error.fact))
        return redirect("home")
    if following is None:
        messages.info(request, _("Nothing is left to label: everything you were given is done."))
        return redirect("home")
    return redirect("workspace", following.pk)


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
        "skip_reason": annotation.skip_reason,
        "locked": words_of(locked),
        "active_seconds": annotation.active_seconds,
        "read_only": read_only,
        "blind": assignment.round.is_blind,
        # never what is suggested: the page asks for it after the annotator's own first pass
        "suggestions": {"state": "off" if read_only else suggestions.sight(assignment).state},
        "urls": {
            "save": reverse("api-annotation", args=[assignment.pk]),
            "submit": reverse("api-annotation-submit", args=[assignment.pk]),
            "skip": reverse("api-annotation-skip", args=[assignment.pk]),
            "restore": reverse("api-annotation-restore", args=[assignment.pk]),
            "revisions": reverse("api-annotation-revisions", args=[assignment.pk]),
            "comments": reverse("api-annotation-comments", args=[assignment.pk]),
            "suggestions": reverse("api-annotation-suggestions", args=[assignment.pk]),
            "first_pass": reverse("api-annotation-first-pass", args=[assignment.pk]),
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
    mine = Assignment.objects.with_checks().filter(
        round=assignment.round, annotator=assignment.annotator
    )
    before = Q(position__lt=assignment.position)
    before |= Q(position=assignment.position, pk__lt=assignment.pk)
    return {
        "queue_position": mine.filter(before).count() + 1,
        "queue_total": mine.count(),
    }
