"""One shape for every error: ``{code, message, details}``. The table of HTTP numbers is here."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from django.utils.translation import gettext
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler

from labeling.domain.errors import RuleError
from labeling.words import worded, words

STATUS = {
    "already_submitted": 409,
    "answers_changed": 409,
    "blind": 409,
    "freeze_under_way": 409,
    "gate_locked": 409,
    "locked": 409,
    "look_reason_needed": 403,
    "not_an_annotator": 403,
    "not_calibrated": 409,
    "not_measured": 409,
    "not_merged": 409,
    "not_qualified": 409,
    "paused": 409,
    "place_taken": 409,
    "round_closed": 409,
    "round_open": 409,
    "scope_missing": 403,
    "stale_version": 409,
    "suggestions_hidden": 409,
}
"""Everything not named here is a 400: the request itself has to change."""


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler: our rule errors and DRF's own, in the one shape."""
    if isinstance(error, RuleError):
        details = worded(error.details, with_codes=True)
        if "fields" in error.details:  # the facts of each wrong field, for programs
            details["fields"] = error.details["fields"]
        body = {"code": error.code, "message": words(error.fact), "details": details}
        return Response(body, status=STATUS.get(error.code, 400))
    response = exception_handler(error, context)
    if response is not None:
        response.data = _body(error, response)
    return response


def _body(error: Exception, response: Response) -> dict[str, Any]:
    if isinstance(error, exceptions.ValidationError):
        message = gettext("Some fields are missing or wrong; see details.")
        return {"code": "invalid", "message": message, "details": {"fields": response.data}}
    if isinstance(error, Http404):
        message = gettext("There is nothing here, or you may not see it: check the address.")
        return {"code": "not_found", "message": message, "details": {}}
    detail = (response.data or {}).get("detail", "")
    return {"code": getattr(detail, "code", "error"), "message": str(detail), "details": {}}
