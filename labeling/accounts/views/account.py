"""A person's own page, and their password."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods

from labeling.accounts import passwords
from labeling.accounts.forms.signing_in import OwnPasswordForm
from labeling.core import tokens
from labeling.core.views.access import form_page, person
from labeling.core.views.callers import caller_of


@require_GET
@never_cache
def account(request: HttpRequest) -> HttpResponse:
    user = person(request)
    return render(request, "labeling/account.html", {"tokens": tokens.of_user(user).count()})


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
@never_cache
def password_change(request: HttpRequest) -> HttpResponse:
    user = person(request)
    form = OwnPasswordForm(user, request.POST or None)
    form.caller = caller_of(request)
    if request.method == "POST" and form.is_valid():
        form.save()
        update_session_auth_hash(request, user)
        passwords.changed(user)
        messages.success(
            request, _("Your password is changed, and you are signed out everywhere else.")
        )
        return redirect("account")
    return form_page(request, "password_change", form, status=429 if form.wait else 0)
