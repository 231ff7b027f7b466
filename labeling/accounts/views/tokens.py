"""A person's own tokens for the API."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from labeling.core import tokens as service
from labeling.core.forms.members import TokenForm
from labeling.core.views import once
from labeling.core.views.access import form_page, person


@require_http_methods(["GET", "POST"])
@never_cache
def tokens(request: HttpRequest) -> HttpResponse:
    """A new token is shown by the page after the form, once: only its digest is stored."""
    user = person(request)
    form = TokenForm(user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        token, secret = service.issue(user=user, **form.cleaned_data)
        once.keep(request, "token", name=token.name, secret=secret)
        return redirect("tokens")
    issued = once.take(request, "token") if request.method == "GET" else None
    return form_page(request, "tokens", form, issued=issued, tokens=service.described(user))


@require_http_methods(["GET", "POST"])
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Asks first; the answer comes back as a POST."""
    user = person(request)
    token = get_object_or_404(service.of_user(user), pk=pk)
    if request.method == "GET":
        return render(request, "labeling/token_revoke.html", {"token": token})
    service.revoke(token, by=user)
    messages.success(request, _("“{name}” opens nothing any more.").format(name=token.name))
    return redirect("tokens")
