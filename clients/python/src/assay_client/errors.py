"""What can go wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class AssayError(Exception):
    """The base of everything that this package raises by itself."""


class ApiError(AssayError):
    """The server refused. ``code`` is for programs, ``message`` says what to do next."""

    def __init__(self, status: int, code: str, message: str, details: Mapping[str, Any]) -> None:
        super().__init__(f"{message} ({status} {code})")
        self.status = status
        self.code = code
        self.message = message
        self.details = details

    @property
    def fields(self) -> Mapping[str, Any]:
        """By wrong field of the request what is wrong with it; empty if it is not about fields."""
        fields = self.details.get("fields", {})
        return fields if isinstance(fields, Mapping) else {}


class NotSignedIn(ApiError):
    """401: the token is unknown, revoked or expired."""


class NotAllowed(ApiError):
    """403: you may see it, but not do this."""


class ReasonNeeded(NotAllowed):
    """``details`` names the releases and the purpose that a reason is asked for."""


class NotFound(ApiError):
    """404: it does not exist, or not for you."""


class Conflict(ApiError):
    """409: not now, or not in this state."""


class ServerUnavailable(ApiError):
    """429, 502, 503, 504: tried again already, and still so."""


class Unreachable(AssayError):
    """No answer came, however often the request was sent."""


class NotAnAssay(AssayError):
    """An answer came that no Assay server gives."""


class _OfWork(AssayError):
    def __init__(self, message: str, last: object) -> None:
        super().__init__(message)
        self.last = last


class StillAtWork(_OfWork):
    """``last`` is how the work stood when it was last looked at; it goes on regardless."""


class WorkFailed(_OfWork):
    """What was waited for ended without a result; ``last`` is the work as it ended."""


_BY_CODE = {"look_reason_needed": ReasonNeeded}
_BY_STATUS = {
    401: NotSignedIn,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    429: ServerUnavailable,
    502: ServerUnavailable,
    503: ServerUnavailable,
    504: ServerUnavailable,
}


def api_error(status: int, body: object) -> ApiError:
    """The error that an answer stands for, also where a proxy gave it and not Assay."""
    said = body if isinstance(body, Mapping) else {}
    code, details = str(said.get("code", "error")), said.get("details")
    kind = _BY_CODE.get(code) or _BY_STATUS.get(status, ApiError)
    message = str(said.get("message") or f"The server answered {status}.")
    return kind(status, code, message, details if isinstance(details, Mapping) else {})
