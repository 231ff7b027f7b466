"""Signing in and out, and passwords that were forgotten."""

from __future__ import annotations

from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, LogoutView, PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from labeling.accounts import mails, passwords, signing_in
from labeling.accounts.forms.signing_in import ForgottenForm, SignInForm, wait_text
from labeling.core.views.access import absolute
from labeling.core.views.callers import caller_of, remember


class SignIn(LoginView):
    template_name = "registration/sign_in.html"
    redirect_authenticated_user = True
    form_class = SignInForm

    def get_form(self, form_class: Any = None) -> SignInForm:
        form = cast(SignInForm, super().get_form(form_class))
        form.caller = caller_of(self.request, self.request.POST.get("username", ""))
        return form

    def form_valid(self, form: Any) -> HttpResponse:
        user = form.get_user()
        enter(self.request, user)
        response = redirect(self.get_success_url())
        remember(self.request, response, user.username)
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        response = super().form_invalid(form)
        if form.wait:
            response.status_code = 429
            response["Retry-After"] = str(form.wait)
        return response


def enter(request: HttpRequest, user: User) -> None:
    """Begin a session, and note where."""
    login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
    signing_in.succeeded_as(user, caller_of(request))


class SignOut(LogoutView):
    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated:
            signing_in.signed_out(request.user)
        return super().post(request, *args, **kwargs)


@login_not_required
def admin_sign_in(request: HttpRequest, **kwargs: Any) -> HttpResponse:
    """The administration has no separate door, at which nobody would count tries."""
    if request.user.is_authenticated:
        return redirect("home")
    query = urlencode({"next": request.GET.get("next") or reverse("admin:index")})
    return redirect(f"{reverse('sign-in')}?{query}")


@login_not_required
@require_http_methods(["GET", "POST"])
@never_cache
def password_forgotten(request: HttpRequest) -> HttpResponse:
    """The answer is the same, and as quick, whether there is such an account or not."""
    works, wait = mails.work(), 0
    form = ForgottenForm(request.POST or None)
    if request.method == "POST" and works and form.is_valid():
        name, caller = form.cleaned_data["name"], caller_of(request)
        account, address = signing_in.counts_of_mail(name, caller)
        wait = signing_in.begin([address], username="", caller=caller).wait
        if not wait:
            if not signing_in.begin([account], username="", caller=caller).wait:
                passwords.send_links(
                    name, lambda parts: absolute(request, reverse("password-set", args=parts))
                )
            return redirect(f"{reverse('password-forgotten')}?sent")
        form.add_error(None, wait_text(wait))
    context = {"form": form, "works": works, "sent": "sent" in request.GET}
    status = 429 if wait else 400 if form.errors else 200
    response = render(request, "registration/password_forgotten.html", context, status=status)
    if wait:
        response["Retry-After"] = str(wait)
    return response


class PasswordLink(PasswordResetConfirmView):
    """The address of the link is left at once for one without its secret."""

    template_name = "registration/password_link.html"
    success_url = reverse_lazy("sign-in")

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        passwords.set_again(form.user)
        messages.success(self.request, _("Your password is set. Sign in with it."))
        return response
