"""Two gold releases side by side: how many items differ, and what became of their labels."""

from __future__ import annotations

from collections import Counter
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from labeling.core.views.paging import part_of
from labeling.gold import gold_diffs, looks
from labeling.gold.looks import Sight
from labeling.gold.views.gold import release_of
from labeling.models import Conversation, GoldRelease, Look
from labeling.translation import lazy as _
from labeling.work import blindness

ITEMS = {
    "added": _("Added"),
    "removed": _("Removed"),
    "changed": _("Changed"),
    "same": _("Unchanged"),
}


@require_GET
def gold_compare(request: HttpRequest, slug: str, name: str, version: int) -> HttpResponse:
    """This release and the one that ``with`` names, or else its parent; the older one first."""
    release = release_of(request.user, slug, name, version)
    others = list(release.comparable().light().order_by("-pk"))
    other = _chosen(request.GET.get("with"), release, others)
    context = {"project": release.project, "release": release, "others": others, "other": other}
    if other:
        conversations = Conversation.objects.filter(gold_items__release__in=[release.pk, other.pk])
        blindness.refuse(request.user, conversations)
        both = sorted((release, other), key=lambda each: -each.pk)
        looks.require(request.user, both, Sight(Look.Purpose.LABELS))
        context["query"] = urlencode({"with": str(other)})
        context |= _compared(*reversed(both), start=request.GET.get("after"))
    return render(request, "labeling/gold_compare.html", context)


def _chosen(
    asked: str | None, release: GoldRelease, others: list[GoldRelease]
) -> GoldRelease | None:
    if asked is None:
        parents = (candidate for candidate in others if candidate.pk == release.parent_id)
        return next(parents, others[0] if others else None)
    named = next((candidate for candidate in others if asked == str(candidate)), None)
    if named is None:
        raise Http404
    return named


def _compared(before: GoldRelease, after: GoldRelease, *, start: str | None) -> dict[str, Any]:
    diff = gold_diffs.compare(before, after)
    total: Counter[str] = sum(diff.by_split.values(), Counter())
    page = part_of(list(diff.kinds), start=start)
    return {
        "before": before,
        "after": after,
        "n_differing": len(diff.kinds),
        "n_same": total["same"],
        "kinds": list(ITEMS.values()),
        "splits": [(split, [n[kind] for kind in ITEMS]) for split, n in diff.by_split.items()],
        "page": page._replace(rows=list(diff.changes(page.rows))),
    }
