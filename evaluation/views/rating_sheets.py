"""What the pages of both ratings have in common: of inferred requirements, and of answers."""

from __future__ import annotations

from typing import Any, TypeVar
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from evaluation.models import AnswerPanel, AnswerRating, Rating, RatingPanel
from labeling.domain.numbers import whole_number
from labeling.models import Conversation
from labeling.services import blindness

NO_SCORE = -1

P = TypeVar("P", RatingPanel, AnswerPanel)


def light(panels: QuerySet[Any]) -> QuerySet[Any]:
    loaded = panels.select_related("run__release__project")
    return loaded.defer("run__spec", "run__config", "run__release__header")


def get_panel(request: HttpRequest, model: type[P], code: UUID) -> P:
    panel: P = get_object_or_404(light(model.objects.to_rate_by(request.user)), code=code)
    shown = Conversation.objects.filter(gold_items__case_runs__run=panel.run_id)
    blindness.refuse(request.user, shown)  # what was stated stands beside what is rated
    return panel


def asked_after(request: HttpRequest, most: int) -> int | None:
    """Where the page starts if the address says so."""
    asked = request.GET.get("after")
    return None if asked is None else min(whole_number(asked) or 0, most)


def around(after: int, size: int, most: int) -> dict[str, int | None]:
    """Where the pages beside this one start."""
    return {
        "size": size,
        "before": max(after - size, 0) if after else None,
        "after": after + size if after + size < most else None,
    }


def posted(request: HttpRequest) -> dict[str, Any]:
    """The score, ``None`` to take it back, and the note; what is no number is no score either."""
    score = request.POST.get("score", "")
    number = whole_number(score)
    given = NO_SCORE if number is None else number
    return {"score": given if score else None, "note": request.POST.get("note", "")}


def swapped(request: HttpRequest, before: Rating | AnswerRating | None) -> dict[str, Any]:
    """For the one entry that replaces the old one: how to take back what was just done."""
    return {
        "swapped": True,
        "undo": request.POST.get("undo") != "1",
        "before_score": before.score if before else "",
        "before_note": before.note if before else "",
    }
