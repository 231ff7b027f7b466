"""Keeping what a list shows under a name, and taking the name away again."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from evaluation.access import require_reader
from evaluation.models import Run, SavedView
from evaluation.services.run import saved_views
from labeling.domain.errors import RuleError
from labeling.domain.numbers import whole_number
from labeling.words import words

Page = SavedView.Page


@require_POST
def run_views(request: HttpRequest) -> HttpResponse:
    require_reader(request.user)
    sent = request.POST
    page, name, query = sent.get("page", ""), sent.get("name", ""), sent.get("query", "")
    if page not in Page.values:
        page = Page.RUNS
    try:
        if sent.get("action") == "remove":
            saved_views.remove(request.user, page, name=name)
            messages.success(request, _("Removed."))
        else:
            query = saved_views.save(request.user, page, name=name, query=query).query
            messages.success(request, _("Saved."))
    except RuleError as error:
        messages.error(request, words(error.fact))
    return redirect(f"{_address(request, page)}?{saved_views.query_of(query)}")


def _address(request: HttpRequest, page: str) -> str:
    if page != Page.CASES:
        return reverse(page)
    number = whole_number(request.POST.get("run", ""))
    visible = Run.objects.visible_to(request.user).only("pk")
    return str(get_object_or_404(visible, pk=number).get_absolute_url())
