"""What is answered when a request fails outside of a view of the API: a page, or its JSON shape."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from django.conf import settings
from django.contrib.auth import get_user
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template import loader
from django.urls import Resolver404, resolve
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views import defaults
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.parsers import MultiPartParser
from rest_framework.settings import api_settings

from labeling.jobs import failures
from labeling.words import Text

API = "/api/"
RETRY_SECONDS = 10
MOST_BYTES_OF_FILES = 512 * 1024 * 1024
DRAINED_BYTES = 64 * 1024 * 1024
"""So much of a refused body is read, because many programs read no answer before they have sent."""


class Sentence(NamedTuple):
    status: int
    title: Text
    message: Text


SENTENCES = {
    "bad_request": Sentence(
        400,
        gettext_lazy("This cannot be read"),
        gettext_lazy("The request is not one that this server understands: check its address."),
    ),
    "method_not_allowed": Sentence(
        405,
        gettext_lazy("Not in this way"),
        gettext_lazy("This address cannot be opened, or not be sent to: go back and try again."),
    ),
    "too_large": Sentence(
        413,
        gettext_lazy("Too much at once"),
        gettext_lazy("What was sent is larger than this server reads: send less at a time."),
    ),
    "server_error": Sentence(
        500,
        gettext_lazy("Something broke"),
        gettext_lazy("It is our fault, and it has been written to the server's log."),
    ),
    failures.NO_DATABASE: Sentence(
        503,
        gettext_lazy("The database does not answer"),
        gettext_lazy(
            "Nothing was stored. Try again in a moment. Labels that the workspace could not "
            "save are kept in this browser."
        ),
    ),
    failures.DISK_FULL: Sentence(
        507,
        gettext_lazy("The server's disk is full"),
        gettext_lazy(
            "Nothing was stored. Tell an administrator, and try again when there is "
            "room. Labels that the workspace could not save are kept in this browser."
        ),
    ),
}


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    is_too_large = isinstance(exception, RequestDataTooBig)
    return _answer(request, "too_large" if is_too_large else "bad_request")


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not _is_api(request):
        return defaults.permission_denied(request, exception)
    message = str(exception) or _("Your account does not have the role that this needs.")
    return _json(403, "permission_denied", message)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if not _is_api(request):
        return defaults.page_not_found(request, exception)
    message = _("There is nothing here, or you may not see it: check the address.")
    return _json(404, "not_found", message)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    if not _is_api(request):
        return render(request, "403_csrf.html", status=403)
    message = _("The header X-CSRFToken is missing or wrong: send the value of the cookie.")
    return _json(403, "csrf_failed", message)


def server_error(request: HttpRequest) -> HttpResponse:
    """Called while the exception is handled."""
    what = failures.missing(sys.exc_info()[1])
    if what is None and not _is_api(request):
        return defaults.server_error(request)
    return _answer(request, what or "server_error")


def limited(get_response: Callable[[HttpRequest], HttpResponse]) -> object:
    """Middleware: a body that is too large is refused unread, and a wrong method gets words."""

    def checked(request: HttpRequest) -> HttpResponse:
        if _is_too_large(request):
            _drain(request)
            return _answer(request, "too_large")
        response = get_response(request)
        if response.status_code == 405 and not response.streaming and not response.content:
            answer = _answer(request, "method_not_allowed")
            answer["Allow"] = response["Allow"]
            return answer
        return response

    return checked


View = TypeVar("View", bound=Callable[..., HttpResponse])


def expects_files(view: View) -> View:
    """For pages: the one place where a body is written to disk as it comes."""
    view.expects_files = True  # type: ignore[attr-defined]
    return view


def _is_too_large(request: HttpRequest) -> bool:
    """What is refused here is never read, so nothing of it is written to disk."""
    try:
        length = int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return False  # Django reads nothing of such a body
    return length > _small() and length > _limit(request)


def _small() -> int:
    """Bytes that anybody may send."""
    sizes = settings.FILE_UPLOAD_MAX_MEMORY_SIZE, settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    return min(map(int, sizes))


def _limit(request: HttpRequest) -> int:
    """The bytes of a body: files of people we know where files belong, else what fits memory."""
    is_form = request.content_type == "multipart/form-data"
    if (is_form and not _takes_files(request)) or not _is_known(request):
        return _small()
    return MOST_BYTES_OF_FILES if is_form else int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)


def _takes_files(request: HttpRequest) -> bool:
    try:
        view = resolve(request.path_info).func
    except Resolver404:
        return False
    parsers = getattr(getattr(view, "cls", None), "parser_classes", ())
    return getattr(view, "expects_files", False) or MultiPartParser in parsers


def _is_known(request: HttpRequest) -> bool:
    """Signed in, or with a token, on which the view looks again."""
    try:
        scheme: Any = api_settings.DEFAULT_AUTHENTICATION_CLASSES[0]
        by_token = scheme().authenticate(request)
    except AuthenticationFailed:
        return False
    return by_token is not None or get_user(request).is_authenticated


def _drain(request: HttpRequest) -> None:
    left = DRAINED_BYTES
    while left > 0 and (piece := request.read(64 * 1024)):
        left -= len(piece)


def _answer(request: HttpRequest, code: str) -> HttpResponse:
    sentence = SENTENCES[code]
    response: HttpResponse
    if _is_api(request):
        response = _json(sentence.status, code, str(sentence.message))
    else:
        page = loader.render_to_string("failure.html", {"failure": sentence})
        response = HttpResponse(page, status=sentence.status)
    if sentence.status == 503:
        response["Retry-After"] = str(RETRY_SECONDS)
    return response


def _json(status: int, code: str, message: str) -> JsonResponse:
    return JsonResponse({"code": code, "message": message, "details": {}}, status=status)


def _is_api(request: HttpRequest) -> bool:
    return request.path.startswith(API)
