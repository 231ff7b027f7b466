"""A reservation from a pool, given back from the queue."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from labeling.core.views.access import own_work
from labeling.work import assignments


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
