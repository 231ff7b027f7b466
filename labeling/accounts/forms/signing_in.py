"""Signing in, and passwords."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from labeling.accounts import demo_accounts, signing_in
from labeling.accounts.signing_in import Caller


def wait_text(seconds: int) -> str:
    """When to try again: after wrong passwords, or mails asked for too often."""
    if seconds < 120:
        return ngettext(
            "Too many tries. Try again in %(n)d second.",
            "Too many tries. Try again in %(n)d seconds.",
            seconds,
        ) % {"n": seconds}
    minutes = -(-seconds // 60)
    return ngettext(
        "Too many tries. Try again in %(n)d minute.",
        "Too many tries. Try again in %(n)d minutes.",
        minutes,
    ) % {"n": minutes}


class Throttled:
    """A form at which somebody tries; ``wait`` is how many seconds no try is looked at."""

    caller: Caller
    wait = 0

    def begin(self, counts: tuple[signing_in.Count, ...], username: str) -> signing_in.Ticket:
        ticket = signing_in.begin(counts, username=username, caller=self.caller)
        if ticket.wait:
            self.wait = ticket.wait
            raise forms.ValidationError(wait_text(ticket.wait), code="throttled")
        return ticket


class SignInForm(Throttled, AuthenticationForm):
    def clean(self) -> dict[str, Any]:
        username = self.cleaned_data.get("username")
        password = self.cleaned_data.get("password")
        if username is None or not password:
            return self.cleaned_data
        ticket = self.begin(signing_in.counts_of(username, self.caller), username)
        if self._is_demo_from_elsewhere(username, password):
            signing_in.refused_demo(username, self.caller)
            raise forms.ValidationError(
                _(
                    "This is a demo account: everybody knows its password, so it opens only on "
                    "the machine that the server runs on. Those who run the server can set "
                    "ASSAY_DEMO_EVERYWHERE=true, or give the account another password."
                ),
                code="demo",
            )
        user = authenticate(self.request, username=username, password=password)
        if user is None:
            signing_in.failed(username, self.caller)
            raise self.get_invalid_login_error()
        self.confirm_login_allowed(user)
        signing_in.succeeded(ticket)
        self.user_cache = user
        return self.cleaned_data

    def _is_demo_from_elsewhere(self, username: str, password: str) -> bool:
        if settings.DEMO_EVERYWHERE or self.caller.is_local:
            return False
        return demo_accounts.is_known(username, password)


class OwnPasswordForm(Throttled, PasswordChangeForm):
    """Somebody at an open page must not try passwords without end."""

    def clean_old_password(self) -> str:
        ticket = self.begin(signing_in.counts_of_own(self.user), self.user.username)
        password: str = super().clean_old_password()
        signing_in.succeeded(ticket)
        return password


class ForgottenForm(forms.Form):
    name = forms.CharField(
        label=_("User name or mail address"),
        max_length=254,
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )
