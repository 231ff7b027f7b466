"""What a page answers when a rule refuses something."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme

from labeling.domain.errors import RuleError
from labeling.models import Assignment
from labeling.services.work import ownership
from labeling.words import words


def own_work(user: Any, pk: int, *related: str) -> Assignment:
    """The user's assignment; 403 in words for those who no longer annotate in its project."""
    try:
        return ownership.own(user, pk, *related)
    except ownership.NotAnAnnotator as error:
        raise PermissionDenied(words(error.fact)) from None


def own_address(request: HttpRequest, asked: str) -> str:
    """What somebody sent as the way back, if it leads to a page of this server; else empty."""
    host = {request.get_host()}
    is_ours = url_has_allowed_host_and_scheme(asked, host, require_https=request.is_secure())
    return asked if is_ours else ""


def refused(request: HttpRequest, why: RuleError | str, back_to: str) -> HttpResponse:
    sentence = words(why.fact) if isinstance(why, RuleError) else why
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponse(sentence, status=400, content_type="text/plain; charset=utf-8")
    messages.error(request, sentence)
    return redirect(back_to)
