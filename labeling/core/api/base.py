"""What every view of the API is: open to tokens by scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rest_framework import views, viewsets
from rest_framework.request import Request

from labeling.core import tokens
from labeling.core.rules.scopes import Scope
from labeling.models import ApiToken

Scopes = Mapping[str, tuple[Scope, ...]]
"""By method, scopes of which a token needs one; a method that is missing is closed to tokens."""

WRITING = ("POST", "PUT", "PATCH", "DELETE")


def reading_and(write: Scope, *, read: tuple[Scope, ...] = (Scope.READ,)) -> Scopes:
    return {"GET": read, **dict.fromkeys(WRITING, (write,))}


READING: Scopes = {"GET": (Scope.READ,)}
OWN_WORK = reading_and(Scope.LABEL, read=(Scope.READ, Scope.LABEL))
LEADING = reading_and(Scope.LEAD)
RELEASING = reading_and(Scope.GOLD)
RUNNING = reading_and(Scope.RUNS)
ANYTHING: Scopes = {"GET": tuple(Scope)}


class ApiView(views.APIView):
    scopes: ClassVar[Scopes] = {}

    def __init_subclass__(cls, scopes: Scopes | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.scopes = cls.scopes if scopes is None else scopes

    def check_permissions(self, request: Request) -> None:
        super().check_permissions(request)
        if isinstance(request.auth, ApiToken) and request.method != "OPTIONS":
            method = "GET" if request.method == "HEAD" else request.method or ""
            tokens.require(request.auth, self.scopes.get(method, ()))


class ApiViewSet(viewsets.ViewSetMixin, ApiView):
    pass
