"""What every request passes through before anything else looks at it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.middleware.common import CommonMiddleware

from config.logs import request_id

OF_PROXY = re.compile(r"[A-Za-z0-9._-]{8,64}")


def numbered(get_response: Callable[[HttpRequest], HttpResponse]) -> object:
    """Each request has an id, in its answer and in every line of the log that it leaves.

    A proxy may have given it one, so that its own log can be read next to this one.
    """

    def answered(request: HttpRequest) -> HttpResponse:
        said = request.headers.get("X-Request-ID", "")
        own = said if OF_PROXY.fullmatch(said) else uuid4().hex
        before = request_id.set(own)
        try:
            response = get_response(request)
        finally:
            request_id.reset(before)
        response["X-Request-ID"] = own
        return response

    return answered


def refuse_nul(get_response: Callable[[HttpRequest], HttpResponse]) -> object:
    """PostgreSQL takes no NUL, not even to look for it. Forms and the API check what is sent."""

    def checked(request: HttpRequest) -> HttpResponse:
        if "\x00" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            raise BadRequest("The address holds a NUL character.")
        return get_response(request)

    return checked


class SignedIn(LoginRequiredMiddleware):
    """What is open to everybody asks no session: ``/healthz`` has to answer without a database."""

    def process_view(
        self, request: HttpRequest, view_func: Any, view_args: Any, view_kwargs: Any
    ) -> Any:
        if not getattr(view_func, "login_required", True):
            return None
        return super().process_view(request, view_func, view_args, view_kwargs)


class SameRequestElsewhere(HttpResponsePermanentRedirect):
    status_code = 308


class WithSlash(CommonMiddleware):
    """An address without its last slash leads to the right one, and what was sent goes along.

    After 301, programs ask with GET: they would get a list, and what they sent would be lost.
    """

    response_redirect_class = SameRequestElsewhere
