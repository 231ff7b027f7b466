"""A secret on its way from the form that made it to the one page that shows it.

Reloading that page makes no second secret, and no address holds it. Whoever could read it in the
session on this way could read the key of the session beside it.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

KEY = "shown_once"


def keep(request: HttpRequest, kind: str, **shown: Any) -> None:
    request.session[KEY] = {"kind": kind, **shown}


def take(request: HttpRequest, kind: str) -> dict[str, Any] | None:
    """What was kept for this page, which forgets it."""
    kept: dict[str, Any] | None = request.session.get(KEY)
    if kept is None or kept["kind"] != kind:
        return None
    del request.session[KEY]
    return kept
