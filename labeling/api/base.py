"""What every view of the API is: open to tokens by scope, and carried out once for each key."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, ClassVar, cast

from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from rest_framework import views, viewsets
from rest_framework.exceptions import APIException
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.requests import user_of
from labeling.domain.errors import RuleError
from labeling.domain.scopes import Scope
from labeling.models import ApiToken
from labeling.services import idempotency, tokens, transactions
from labeling.services.idempotency import KeptAnswer, Reservation

Scopes = Mapping[str, tuple[Scope, ...]]
"""By method, scopes of which a token needs one; a method that is missing is closed to tokens."""

WRITING = ("POST", "PUT", "PATCH", "DELETE")
KEY = "Idempotency-Key"
REFUSALS = (RuleError, APIException, Http404, PermissionDenied)


def reading_and(write: Scope, *, read: tuple[Scope, ...] = (Scope.READ,)) -> Scopes:
    return {"GET": read, **dict.fromkeys(WRITING, (write,))}


READING: Scopes = {"GET": (Scope.READ,)}
OWN_WORK = reading_and(Scope.LABEL, read=(Scope.READ, Scope.LABEL))
LEADING = reading_and(Scope.LEAD)
RELEASING = reading_and(Scope.GOLD)
RUNNING = reading_and(Scope.RUNS)
ASKING: Scopes = {"GET": (Scope.READ,), "POST": (Scope.READ,)}
"""A POST that changes nothing: its question is too long for an address."""


ANYTHING: Scopes = {"GET": tuple(Scope)}


class ApiView(views.APIView):
    scopes: ClassVar[Scopes] = {}
    in_one_transaction: ClassVar[bool] = True
    """With an idempotency key, all that a request writes is stored together with its answer.

    False for work that is long or stores step by step: it can be repeated by itself. After a
    process was killed it may then be carried out twice.
    """
    answers_with_secret: ClassVar[bool] = False
    """The answer is not kept for another request with the same key."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        method = (request.method or "").lower()
        key = request.headers.get(KEY)
        handler = getattr(self, method, None)
        if key is not None and method.upper() in WRITING and handler is not None:
            setattr(self, method, self._once(request, key, handler))

    def check_permissions(self, request: Request) -> None:
        super().check_permissions(request)
        if isinstance(request.auth, ApiToken) and request.method != "OPTIONS":
            method = "GET" if request.method == "HEAD" else request.method or ""
            tokens.require(request.auth, self.scopes.get(method, ()))

    def _once(
        self, request: Request, key: str, handler: Callable[..., HttpResponseBase]
    ) -> Callable[..., HttpResponseBase]:
        idempotency.check_key(key)
        token = request.auth if isinstance(request.auth, ApiToken) else None
        user = user_of(request)
        owner = f"{user.pk} {token.pk if token else ''} {key}"
        reserved = idempotency.reserve(
            user=user,
            digest=sha256(owner.encode()).hexdigest(),
            request=_digest_of(request),
        )
        if isinstance(reserved, KeptAnswer):
            return lambda *args, **kwargs: _again(reserved)
        return lambda *args, **kwargs: self._carry_out(reserved, handler, *args, **kwargs)

    def _carry_out(
        self,
        reserved: Reservation,
        handler: Callable[..., HttpResponseBase],
        *args: Any,
        **kwargs: Any,
    ) -> HttpResponseBase:
        """What a refused request has stored stays stored, as without a key; a fault undoes it."""

        def act() -> HttpResponseBase | Exception:
            try:
                response = handler(*args, **kwargs)
            except REFUSALS as refusal:
                return refusal
            answer = None if self.answers_with_secret else _text_of(response)
            idempotency.keep(reserved, status=response.status_code, answer=answer)
            return response

        try:
            outcome = transactions.atomic(act)() if self.in_one_transaction else act()
        except BaseException:
            idempotency.release(reserved)
            raise
        if isinstance(outcome, Exception):
            idempotency.release(reserved)
            raise outcome
        return outcome


class ApiViewSet(viewsets.ViewSetMixin, ApiView):
    pass


def _digest_of(request: Request) -> str:
    """Of everything that was sent; files are read piece by piece."""
    digest = sha256()
    digest.update(f"{request.method} {request.get_full_path()}\n".encode())
    if not (request.content_type or "").startswith("multipart/"):
        digest.update(request.body)
        return digest.hexdigest()
    # the boundary in the body differs each time
    fields, files = cast(QueryDict, request.data), request.FILES
    sent = {name: fields.getlist(name) for name in sorted(fields) if name not in files}
    digest.update(json.dumps(sent).encode())
    for name in sorted(files):
        for file in cast(list[UploadedFile], files.getlist(name)):
            digest.update(json.dumps([name, file.name, file.size]).encode())
            for piece in file.chunks():
                digest.update(piece)
            file.seek(0)
    return digest.hexdigest()


def _text_of(response: HttpResponseBase) -> str | None:
    if isinstance(response, Response):
        return "" if response.data is None else JSONRenderer().render(response.data).decode()
    return None


def _again(kept: KeptAnswer) -> HttpResponse:
    response = HttpResponse(kept.body, status=kept.status, content_type="application/json")
    response["Idempotency-Replayed"] = "true"
    return response
