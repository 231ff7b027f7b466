"""Two gold releases side by side: how many items differ, and what became of their labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from labeling.core.views.paging import part_of
from labeling.gold import affected, gold_diffs, looks
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

MOST_READ = 1000


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
        context |= _compared(
            *sorted((release, other), key=lambda either: either.pk), request=request
        )
    return render(request, "labeling/gold_compare.html", context)


def _chosen(
    asked: str | None, release: GoldRelease, others: list[GoldRelease]
) -> GoldRelease | None:
    if asked is None:
        parents = (candidate for candidate in others if candidate.pk == release.parent_id)
        return next(parents, others[0] if others else None)
    named = next((candidate for candidate in others if asked in candidate.addresses), None)
    if named is None:
        raise Http404
    return named


def _compared(before: GoldRelease, after: GoldRelease, *, request: HttpRequest) -> dict[str, Any]:
    comparison = gold_diffs.compare(before, after)
    names = comparison.names
    page = part_of(names, start=request.GET.get("after"))
    counts = comparison.by_split()
    about = names
    if len(names) <= MOST_READ:  # how an item was made changes no score
        about = [item.item_id for item in comparison.changes() if item.is_of_gold]
    return {
        "before": before,
        "after": after,
        "n_differing": len(names),
        "n_same": comparison.same,
        "kinds": list(ITEMS.values()),
        "splits": [(split, _numbers(counts[split])) for split in counts],
        "total": _numbers(sum(counts.values(), Counter())),
        "runs": affected.runs(before, comparison.items_before(about), viewer=request.user),
        "page": page._replace(rows=list(comparison.changes(page.rows))),
    }


def _numbers(counts: Mapping[str, int]) -> list[int]:
    return [counts.get(kind, 0) for kind in ITEMS]
