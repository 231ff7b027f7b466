"""Reservations from a pool, kept or given back from the queue."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from labeling.models import Assignment
from labeling.services.work import assignments
from labeling.views.access import own_work


@require_POST
def lease_renew(request: HttpRequest, pk: int) -> HttpResponse:
    mine = _mine(request.user, pk)
    if assignments.renew(mine):
        messages.success(
            request,
            _("{conversation} stays reserved for you.").format(conversation=mine.conversation),
        )
    else:
        messages.error(
            request,
            _("{conversation} is no longer free: others have taken it.").format(
                conversation=mine.conversation
            ),
        )
    return redirect("home")


@require_POST
def lease_give_back(request: HttpRequest, pk: int) -> HttpResponse:
    mine = _mine(request.user, pk)
    if assignments.give_back(mine):
        messages.success(
            request,
            _("{conversation} is free for others. Your draft is kept.").format(
                conversation=mine.conversation
            ),
        )
    else:
        messages.info(
            request,
            _("{conversation} is not reserved: there is nothing to return.").format(
                conversation=mine.conversation
            ),
        )
    return redirect("home")


def _mine(user: Any, pk: int) -> Assignment:
    return own_work(user, pk, "conversation", "round")
