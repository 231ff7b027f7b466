"""Reservations from a pool, kept or given back from the queue."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from labeling.core.views.access import own_work
from labeling.work import assignments


@require_POST
def lease_renew(request: HttpRequest, pk: int) -> HttpResponse:
    mine = own_work(request.user, pk, "conversation", "round")
    is_kept = assignments.renew(mine)
    text = (
        _("{conversation} stays reserved for you.")
        if is_kept
        else _("{conversation} is no longer free: others have taken it.")
    )
    level = messages.SUCCESS if is_kept else messages.ERROR
    messages.add_message(request, level, text.format(conversation=mine.conversation))
    return redirect("home")


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
