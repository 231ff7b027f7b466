from __future__ import annotations

import hashlib
from collections.abc import Mapping
from string import ascii_uppercase
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from labeling.agreement.matching.candidates import perhaps_same
from labeling.agreement.matching.merging import Cluster, plain
from labeling.core import access, projects
from labeling.core.views.markdown import shown_guideline
from labeling.core.views.paging import part_of, query_of
from labeling.domain.numbers import whole_number
from labeling.gold import reopenings
from labeling.gold.reopenings import Desk
from labeling.jobs import pending
from labeling.models import Adjudication, Conversation, Merge, Project, Round
from labeling.schema import LAYERS, compared_names, form_layers
from labeling.schema.sameness import differing
from labeling.settling import adjudications as service
from labeling.settling import merges
from labeling.settling.settling import needs_of
from labeling.translation import lazy as _
from labeling.translation import translated_keys, translated_tree
from labeling.work.rules.keys import adjudication_keys

TABS = {"disputed": _("Disputed"), "agreed": _("Agreed"), "decided": _("Decided")}
KINDS = [kind for kind in Adjudication.Kind if kind != Adjudication.Kind.ACCEPTED]


@require_GET
def adjudication(request: HttpRequest, slug: str) -> HttpResponse:
    """What people agree and disagree on, the lowest agreement first."""
    project = access.readable(request.user, slug)
    layer = _layer(project, request.GET.get("layer", ""))
    workload = service.workload(project, layer)
    if workload.preparing and not request.htmx:  # type: ignore[attr-defined]
        pending.request(project)
    tab = request.GET.get("tab", "disputed")
    tab = tab if tab in TABS else "disputed"
    numbers = workload.numbers()
    page = part_of(workload.cases(tab), start=request.GET.get("after"))
    context = {
        "project": project,
        "layer": LAYERS[layer],
        "layers": [LAYERS[name] for name in merges.layers_of(project)],
        "tab": tab,
        "tabs": [(name, title, numbers[name]) for name, title in TABS.items()],
        "page": page._replace(rows=service.with_decisions(layer, page.rows)),
        "query": query_of(request),
        "filters": query_of(request, "tab"),
        "preparing": workload.preparing,
        "waiting": workload.waiting,
        "needed": [LAYERS[name] for name in needs_of(project, layer)],
        "may_write": access.leads(request.user, project),
        "next": numbers["disputed"],
    }
    return render(request, "labeling/adjudication.html", context)


def _layer(project: Project, asked: str) -> str:
    known = merges.layers_of(project)
    return asked if asked in known else known[0]


@require_GET
def adjudication_next(request: HttpRequest, slug: str) -> HttpResponse:
    """Go on with the disputed conversation of lowest agreement, or back to the list."""
    project = access.readable(request.user, slug)
    layer = _layer(project, request.GET.get("layer", ""))
    after = request.GET.get("after", "")
    item = service.next_disputed(project, layer, after=whole_number(after))
    if item is None:
        messages.info(request, _("Nothing is disputed any more: everything has been decided."))
        return redirect(f"{reverse('adjudication', args=[project.slug])}?layer={layer}")
    return redirect(f"{reverse('adjudicate', args=[item])}?layer={layer}")


@require_GET
def adjudicate(request: HttpRequest, pk: int) -> HttpResponse:
    """One conversation with its labels in clusters. Opening it stores nothing."""
    conversation = service.readable(request.user, pk)
    layer = _layer(conversation.project, request.GET.get("layer", ""))
    if desk := reopenings.desk(conversation, layer, request.user):
        if reopenings.refusal(desk, request.user):  # type: ignore[arg-type]
            return redirect(desk.reopened[0])
        context = _context(request, conversation, desk)
        return render(request, "labeling/adjudicate.html", context)
    ready = merges.ready(conversation.project, layer, among=[pk]).get(pk)
    merge = merges.with_clusters(pk, layer, ready) if ready and not ready.waits_for else None
    if request.htmx:  # type: ignore[attr-defined]
        # the page asks whether a worker is done; then it is loaded again
        return HttpResponse(status=204, headers={"HX-Refresh": "true"} if merge else {})
    if merge is None:
        return _unready(request, conversation, ready)
    return render(request, "labeling/adjudicate.html", _context(request, conversation, merge))


def _unready(
    request: HttpRequest, conversation: Conversation, ready: merges.Ready | None
) -> HttpResponse:
    waits_for = ready.waits_for if ready else ""
    if ready:
        pending.request(conversation.project, conversation=conversation.pk)
    newest = conversation.rounds.order_by("-number").first()
    blind = newest is not None and newest.kind == Round.Kind.CALIBRATION
    context = {
        "project": conversation.project,
        "conversation": conversation,
        "ready": ready is not None and not waits_for,
        "waits_for": LAYERS[waits_for] if waits_for else None,
        "round": newest,
        "blind": blind and newest is not None and newest.state == Round.State.OPEN,
    }
    return render(request, "labeling/adjudicate_unready.html", context)


def _context(
    request: HttpRequest, conversation: Conversation, merge: Merge | Desk
) -> dict[str, Any]:
    is_reopened = isinstance(merge, Desk)
    clusters, referred = (
        (merge.clusters, merge.base) if isinstance(merge, Desk) else merges.read(merge)
    )
    annotators = [side.annotator for side in clusters[0].sides] if clusters else []
    letters = dict(zip("AB", "AB", strict=True))
    if not is_reopened:
        letters = _letters(conversation, annotators)
    decisions = Adjudication.objects.filter(conversation=conversation, layer=merge.layer)
    # who decides anew must not learn what was decided
    decision = None if is_reopened else decisions.select_related("decided_by").last()
    may_write = is_reopened or access.leads(request.user, conversation.project)
    schema = conversation.project.event_schema
    return {
        "project": conversation.project,
        "conversation": conversation,
        "conversation_messages": conversation.messages,
        "layer": LAYERS[merge.layer],
        "merge": merge,
        "decision": decision,
        "kinds": KINDS,
        "may_write": may_write,
        "reopened": is_reopened,
        "guideline": shown_guideline(conversation.project.guidelines.first()),
        "layers": translated_tree(
            form_layers(
                [merge.layer, *referred],
                event_schema=schema,
                open_fields=projects.open_fields(conversation.project),
            )
        ),
        "keys": translated_keys(adjudication_keys(list(letters.values()))),
        "page": {
            "user": request.user.pk,
            "conversation": conversation.pk,
            "layer": merge.layer,
            "answers": merge.answers_sha256,
            "read_only": not may_write,
            "clusters": [
                _cluster(cluster, letters, merge.layer, perhaps)
                for cluster, perhaps in zip(
                    clusters, perhaps_same(merge.layer, clusters), strict=True
                )
            ],
            "given": {LAYERS[name].key: labels for name, labels in referred.items()},
            "decision": _decision(decision, merge),
            "urls": _urls(conversation, merge.layer, is_reopened=is_reopened),
        },
    }


def _urls(conversation: Conversation, layer: str, *, is_reopened: bool) -> dict[str, str]:
    name = "reopenings" if is_reopened else "adjudication-next"
    following = reverse(name, args=[conversation.project.slug])
    return {
        "decide": reverse("api-adjudication", args=[conversation.pk, layer]),
        "next": following if is_reopened else f"{following}?layer={layer}&after={conversation.pk}",
    }


def _letters(conversation: Conversation, annotators: list[str]) -> dict[str, str]:
    """A, B, C … by annotator, dealt differently in each conversation, so that they name nobody."""

    def dealt(name: str) -> str:
        return hashlib.sha256(f"{conversation.pk}:{name}".encode()).hexdigest()

    return dict(zip(sorted(annotators, key=dealt), ascii_uppercase, strict=False))


def _cluster(
    cluster: Cluster, letters: dict[str, str], layer: str, perhaps: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """A cluster for the page; letters represent the annotators.

    Who is missing in it has ``perhaps`` the same label in another one; ``apart`` are the fields in
    which such a label differs.
    """
    sides = [
        {
            **side._asdict(),
            "letter": letters[side.annotator],
            "perhaps": perhaps.get(side.annotator),
        }
        for side in cluster.sides
    ]
    fields = compared_names(layer)
    apart = {n for label in perhaps.values() for n in differing([cluster.label, label], fields)}
    return {
        **cluster._asdict(),
        "apart": sorted(apart),
        "sides": sorted(sides, key=lambda side: side["letter"]),
    }


def _decision(decision: Adjudication | None, merge: Merge | Desk) -> dict[str, Any] | None:
    """The earlier decision, from which a new one starts; what was accepted is one while agreed."""
    if decision is None:
        return None
    is_accepted = decision.kind == Adjudication.Kind.ACCEPTED
    if is_accepted and merge.state == "disputed":
        return None
    labels = decision.payload.get(LAYERS[merge.layer].key, [])
    return {
        "version": decision.version,
        "labels": [plain(label) for label in labels],
        "kind": "" if is_accepted else decision.kind,
        "note": decision.reason,
        "guideline_flag": decision.guideline_flag,
    }
