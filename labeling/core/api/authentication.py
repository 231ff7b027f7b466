"""Programs sign in with a token: ``Authorization: Bearer assay_…``."""

from __future__ import annotations

from django.contrib.auth.models import User
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from labeling.core import tokens
from labeling.core.models.projects import limit_to
from labeling.core.views.callers import address_of
from labeling.models import ApiToken

SCHEME = "Bearer"


class TokenAuthentication(BaseAuthentication):
    """Comes before the session: a request with a token acts as its owner, regardless of cookies.

    No page of another site can send this header, so there is nothing for a CSRF token to guard.
    """

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _, secret = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != SCHEME.lower():
            return None
        token = tokens.use(secret.strip(), address=address_of(request))
        if token is None:
            raise AuthenticationFailed(
                "This token is unknown or revoked: make a new one on your page of API tokens.",
                code="bad_token",
            )
        if token.has_expired:
            raise AuthenticationFailed(
                f"The token “{token.name}” has expired: make a new one on your page of API tokens.",
                code="token_expired",
            )
        if token.project_ids is not None:
            limit_to(token.user, token.project_ids)
        return token.user, token

    def authenticate_header(self, request: Request) -> str | None:
        """401 for a wrong token; who sent none is answered as before, with 403."""
        return SCHEME if get_authorization_header(request) else None
