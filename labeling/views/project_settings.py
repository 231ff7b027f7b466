"""What a project was set up with, for its leads to change."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.forms import Textarea
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from labeling.domain.errors import StaleVersion
from labeling.forms.project_settings import SettingsForm
from labeling.models import Project
from labeling.services import project_settings as service
from labeling.views import access, activity
from labeling.words import words


@require_http_methods(["GET", "POST"])
def project_settings(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.led(request.user, slug)
    form = SettingsForm(project, request.POST or None)
    if request.method == "POST" and form.is_valid():
        user = cast(User, request.user)
        base, settings = form.cleaned_data["base"], form.settings()
        try:
            fields = service.change(project, settings=settings, base=base, by=user)
        except service.SettingsRefused as error:
            form.add_error(error.details["field"], words(error.fact))
        except StaleVersion as error:
            return _stale(request, project, form, error)
        else:
            said = _("The settings are changed.") if fields else _("Nothing was changed.")
            messages.success(request, said)
            return redirect("project-settings", slug)
    return _page(request, project, form, status=400 if form.errors else 200)


def _stale(
    request: HttpRequest, project: Project, form: SettingsForm, error: StaleVersion
) -> HttpResponse:
    """The form once more: what holds now, and in it what this person wants to change."""
    base, wanted = form.cleaned_data["base"], service.plain(form.settings())
    project.refresh_from_db()
    now = service.of(project)
    again = SettingsForm(
        project, mine={name: wanted[name] for name in service.changed(base, wanted)}
    )
    theirs = error.details["fields"]
    stale = {
        "sentence": words(error.fact),
        "changes": activity.changes(theirs, base, now),
        "texts": [
            (activity.titled(name), SettingsForm(project).initial[name])
            for name in theirs
            if isinstance(form.fields[name].widget, Textarea)
        ],
    }
    return _page(request, project, again, status=409, stale=stale)


def _page(
    request: HttpRequest, project: Project, form: SettingsForm, *, status: int, **more: object
) -> HttpResponse:
    context = {"project": project, "form": form, **more}
    return render(request, "labeling/project_settings.html", context, status=status)
