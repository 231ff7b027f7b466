"""A secret on its way from the form that made it to the one page that shows it.

Reloading that page creates no second secret, and no URL contains it. Anyone able to read it in the
session could read the session's own key as well.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

KEY = "shown_once"


def keep(request: HttpRequest, kind: str, **shown: Any) -> None:
    request.session[KEY] = {"kind": kind, "shown": shown}


def take(request: HttpRequest, kind: str) -> dict[str, Any] | None:
    """What was kept for this page, which forgets it."""
    kept = request.session.get(KEY)
    if kept is None or kept["kind"] != kind:
        return None
    shown: dict[str, Any] = request.session.pop(KEY)["shown"]
    return shown
