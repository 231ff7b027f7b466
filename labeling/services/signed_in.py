"""Who is signed in: two rows that every request reads, by statements that are put together once.

Everything else about sessions and passwords is Django's.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.http import HttpRequest
from django.utils import timezone

from labeling.services.statements import Prepared, prepared_cursor


class SessionStore(db.SessionStore):
    """``SESSION_ENGINE`` names this module."""

    def _get_session_from_db(self) -> Session | None:
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        with prepared_cursor() as cursor:
            cursor.execute(_SESSION, [self.session_key, now])
            row = cursor.fetchone()
        if row is None:
            self._session_key = None
            return None
        return Session(session_key=str(self.session_key), session_data=row[0])


_SESSION = "SELECT session_data FROM django_session WHERE session_key = %s AND expire_date > %s"


class Backend(ModelBackend):
    """Django's own, which is listed behind it: sessions that it began go on."""

    def get_user(self, user_id: Any) -> User | None:
        user = _USER.first(int(user_id))
        return user if user is not None and self.user_can_authenticate(user) else None

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        """A wrong password is not tried a second time by the backend behind this one."""
        user = super().authenticate(request, username, password, **kwargs)
        if user is None:
            raise PermissionDenied
        return user


_USER = Prepared(lambda pk: User.objects.filter(pk=pk))
