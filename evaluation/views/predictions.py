"""Measuring predictions of another system."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from evaluation.access import require_reader
from evaluation.forms import PredictionsForm
from labeling.models import GoldRelease


@require_http_methods(["GET", "POST"])
def run_predictions(request: HttpRequest) -> HttpResponse:
    require_reader(request.user)
    releases = GoldRelease.objects.visible_to(request.user).light()
    posted = (request.POST, request.FILES) if request.method == "POST" else ()
    form = PredictionsForm(*posted, releases=releases)
    if request.method == "POST" and form.is_valid():
        run = form.launch(by=request.user)
        if run is not None:
            message = _("The predictions were read; run {number} scores them.")
            messages.success(request, message.format(number=run.pk))
            return redirect(run)
    status = 422 if form.errors else 200
    return render(request, "evaluation/run_predictions.html", {"form": form}, status=status)
