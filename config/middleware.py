"""What every request passes through before anything else looks at it."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse


def refuse_nul(get_response: Callable[[HttpRequest], HttpResponse]) -> object:
    """PostgreSQL takes no NUL, not even to look for it. Forms and the API check what is sent."""

    def checked(request: HttpRequest) -> HttpResponse:
        if "\x00" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            raise BadRequest("The address holds a NUL character.")
        return get_response(request)

    return checked
