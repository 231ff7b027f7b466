"""A person's own page: password and mail address."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods

from labeling.accounts import mail_addresses, passwords
from labeling.accounts.forms.signing_in import MailAddressForm, OwnPasswordForm
from labeling.core import tokens
from labeling.core.links import absolute
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


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
@never_cache
def mail_address(request: HttpRequest) -> HttpResponse:
    user = person(request)
    form = MailAddressForm(user, request.POST or None, initial={"email": user.email})
    form.caller = caller_of(request)
    if request.method == "POST" and form.is_valid():
        address = form.cleaned_data["email"]
        if address and address != user.email:
            _send_confirmation(request, user, address)
        else:
            mail_addresses.store(user, address)
            messages.success(request, _("Your mail address is stored."))
        return redirect("account")
    return form_page(request, "mail_address", form, status=429 if form.wait else 0)


def _send_confirmation(request: HttpRequest, user: User, address: str) -> None:
    mail_addresses.send_link(
        user,
        address,
        lambda token: absolute(request, reverse("mail-address-confirm", args=[token])),
    )
    text = _("A link is on its way to {address}: open it in this browser to confirm the address.")
    messages.success(request, text.format(address=address))


@require_http_methods(["GET", "POST"])
@never_cache
def mail_address_confirm(request: HttpRequest, token: str) -> HttpResponse:
    """Asks first, because some mail programs open links by themselves."""
    user = person(request)
    address = mail_addresses.read(user, token)
    if request.method == "POST" and address:
        mail_addresses.store(user, address)
        messages.success(request, _("Your mail address is confirmed."))
        return redirect("account")
    return render(request, "labeling/mail_address_confirm.html", {"address": address})
