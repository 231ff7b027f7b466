"""What pages share: who asks, what a form says, and how a refusal is shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme

from labeling.domain.errors import RuleError
from labeling.models import Assignment
from labeling.words import words
from labeling.work import ownership


def person(request: HttpRequest) -> User:
    """The signed-in user: the middleware has let nobody else through."""
    return cast(User, request.user)


def sent(request: HttpRequest) -> Any:
    """What a form got, also if no field of it was sent; None where it is only opened."""
    return request.POST if request.method == "POST" else None


def form_page(
    request: HttpRequest, template: str, form: forms.BaseForm, *, status: int = 0, **context: Any
) -> HttpResponse:
    """A page with a form: 400 where the form says what is wrong."""
    status = status or (400 if form.errors else 200)
    return render(request, f"labeling/{template}.html", {**context, "form": form}, status=status)


def said_by(form: forms.BaseForm) -> str:
    """All that is wrong, in one text."""
    return " ".join(str(error) for errors in form.errors.values() for error in errors)


@contextmanager
def refusals_told(request: HttpRequest) -> Iterator[None]:
    """What a rule refuses is a message of the next page."""
    try:
        yield
    except RuleError as error:
        messages.error(request, words(error.fact))


@contextmanager
def refusals_in(form: forms.BaseForm, field: str | None = None) -> Iterator[None]:
    """What a rule refuses is said in the form."""
    try:
        yield
    except RuleError as error:
        form.add_error(field, words(error.fact))


def own_work(user: Any, pk: int, *related: str) -> Assignment:
    """The user's assignment; 403 in words for those who no longer annotate in its project."""
    try:
        return ownership.own(user, pk, *related)
    except ownership.NotAnAnnotator as error:
        raise PermissionDenied(words(error.fact)) from None


def own_address(request: HttpRequest, asked: str) -> str:
    """What somebody sent as the way back, if it leads to a page of this server; else empty."""
    host = {request.get_host()}
    is_ours = url_has_allowed_host_and_scheme(asked, host, require_https=request.is_secure())
    return asked if is_ours else ""


def absolute(request: HttpRequest, path: str) -> str:
    """An address that people hand on, or that is mailed to them."""
    if settings.PUBLIC_URL:
        return f"{settings.PUBLIC_URL}{path}"
    return request.build_absolute_uri(path)


def refused(request: HttpRequest, why: RuleError | str, back_to: str) -> HttpResponse:
    sentence = words(why.fact) if isinstance(why, RuleError) else why
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponse(sentence, status=400, content_type="text/plain; charset=utf-8")
    messages.error(request, sentence)
    return redirect(back_to)
