"""The accounts of the demo, whose passwords everybody can read."""

from __future__ import annotations

import functools
import hmac
import json

from django.conf import settings
from django.contrib.auth.models import User

FOLDER = settings.BASE_DIR / "fixtures" / "demo"


def is_known(username: str, password: str) -> bool:
    """Whether this pair is in the demo's file, whatever accounts there are."""
    known = _passwords().get(username.strip())
    return known is not None and hmac.compare_digest(known.encode(), password.encode())


def open_accounts() -> list[str]:
    """Active accounts that still have a known password. Hashes once for each: not for requests."""
    users = User.objects.filter(username__in=_passwords(), is_active=True).order_by("username")
    known = _passwords()
    return [user.username for user in users if user.check_password(known[user.username])]


@functools.cache
def _passwords() -> dict[str, str]:
    people = json.loads((FOLDER / "people.json").read_text(encoding="utf-8"))
    return {person["username"]: person["password"] for person in people}
