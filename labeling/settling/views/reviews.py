from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from labeling.core import access
from labeling.core.views.markdown import shown_guideline
from labeling.core.views.paging import page_of, query_of
from labeling.models import Annotation, Project, Review
from labeling.schema import LAYERS
from labeling.settling import reviews as service
from labeling.settling.provenance import fix_of
from labeling.translation import lazy as _
from labeling.translation import translated_keys, translated_layers
from labeling.words import words_of
from labeling.work import assignments, locking
from labeling.work.rules.keys import REVIEW_KEYS

TABS = {"open": _("To review"), "done": _("Reviewed")}
ORDER = ("submitted_at", "pk")


def _listed(request: HttpRequest, project: Project) -> QuerySet[Any]:
    name = request.GET.get("annotator", "")
    return service.listed(project, viewer=request.user, annotator=name)  # type: ignore[arg-type]


@require_GET
def reviews(request: HttpRequest, slug: str) -> HttpResponse:
    """Submitted answers of full labeling, with their reviews."""
    project = access.readable(request.user, slug)
    answers = _listed(request, project)
    tab = "done" if request.GET.get("tab") == "done" else "open"
    rows = {"open": answers.filter(verdict=""), "done": answers.exclude(verdict="")}
    counts = {name: chosen.count() for name, chosen in rows.items()}
    shown = rows[tab].select_related("assignment__conversation", "assignment__annotator")
    page = page_of(
        shown.select_related("assignment__round").defer("payload"),
        order=ORDER,
        after=request.GET.get("after"),
        anchors=Annotation.objects.filter(assignment__round__project=project),
    )
    context = {
        "project": project,
        "tab": tab,
        "tabs": [(name, title, counts[name]) for name, title in TABS.items()],
        "people": assignments.annotators(project).order_by("username"),
        "page": page,
        "query": query_of(request),
        "filters": query_of(request, "tab"),
        "may_write": access.leads(request.user, project),
        "next": counts["open"],
        "verdicts": dict(Review.Verdict.choices),
    }
    return render(request, "labeling/reviews.html", context)


@require_GET
def review_next(request: HttpRequest, slug: str) -> HttpResponse:
    """Go on with the next answer of the same list, or back to it."""
    project = access.readable(request.user, slug)
    answers, query = _listed(request, project).filter(verdict=""), query_of(request, "tab")
    anchors = Annotation.objects.filter(assignment__round__project=project)
    pages = (
        page_of(answers, order=ORDER, after=after, anchors=anchors)
        for after in (request.GET.get("after"), None)
    )
    row = next((page.rows[0] for page in pages if page.rows), None)
    if row is None:
        messages.info(request, _("Nothing is left to review in this list."))
        return redirect(f"{reverse('reviews', args=[project.slug])}?{query}")
    return redirect(f"{reverse('review', args=[row.pk])}?{query}")


@require_GET
def review(request: HttpRequest, pk: int) -> HttpResponse:
    """One submitted answer next to its conversation. Opening it stores nothing."""
    annotation = service.readable(request.user, pk)
    return render(request, "labeling/review.html", _context(request, annotation))


def _context(request: HttpRequest, annotation: Annotation) -> dict[str, Any]:
    assignment = annotation.assignment
    project = assignment.round.project
    submitted = annotation.status == Annotation.Status.SUBMITTED
    own = assignment.annotator_id == request.user.pk
    may_write = access.leads(request.user, project) and submitted and not own
    verdicts = list(annotation.reviews.select_related("reviewer").order_by("-pk"))
    annotation.verdicts = verdicts  # type: ignore[attr-defined]
    next_url = _next_url(project, annotation, query_of(request, "tab"))
    locked = words_of(locking.why_locked(annotation, assignment.round))
    return {
        "project": project,
        "annotation": annotation,
        "conversation": assignment.conversation,
        "conversation_messages": assignment.conversation.messages,
        "guideline": shown_guideline(annotation.guideline),
        "verdicts": verdicts,
        "own": own,
        "locked": locked,
        "submitted": submitted,
        "may_write": may_write,
        "next_url": next_url,
        "layers": translated_layers(
            project.layers, project.event_schema, assignment.round.open_fields
        ),
        "keys": translated_keys(REVIEW_KEYS),
        "page": {
            "user": request.user.pk,
            "annotation": annotation.pk,
            "version": annotation.version,
            "read_only": not may_write,
            "locked": locked,
            "empty": annotation.empty,
            "clusters": _clusters(project, annotation),
            "urls": {"review": reverse("api-review", args=[annotation.pk]), "next": next_url},
        },
    }


def _next_url(project: Project, annotation: Annotation, query: str) -> str:
    address = reverse("review-next", args=[project.slug])
    return f"{address}?{query}{'&' if query else ''}after={annotation.pk}"


def _clusters(project: Project, annotation: Annotation) -> list[dict[str, Any]]:
    """Each label in the shape of a cluster of adjudication, with what an earlier fix made of it."""
    fix = fix_of(annotation)
    labels = ((fix and fix.payload) or annotation.payload).values()
    stands = {label.get("uid"): label for of_layer in labels for label in of_layer}
    return [
        {
            "how": "answer",
            "layer": layer,
            "label": label,
            "sides": [],
            "differs": [],
            "chosen": stands.get(label.get("uid")),
        }
        for layer in project.layers
        for label in annotation.payload.get(LAYERS[layer].key, [])
    ]
