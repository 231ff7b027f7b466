"""The log of experiments, as a file: the list of runs is its page."""

from __future__ import annotations

from functools import partial

from django.http import Http404, HttpRequest, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_GET

from evaluation.access import require_reader
from evaluation.models import Run
from evaluation.services import looks
from evaluation.services.run import experiments


@require_GET
def experiment_file(request: HttpRequest, form: str) -> HttpResponseBase:
    """The log as ``experiments.csv`` or ``experiments.json``; ``gold`` names one gold."""
    require_reader(request.user)
    if form not in ("csv", "json"):
        raise Http404("The log comes as CSV or JSON.")
    runs = Run.objects.visible_to(request.user).filter(scored_at__isnull=False)
    if name := request.GET.get("gold", ""):
        runs = runs.filter(release__name=name)
    log = experiments.rows(runs, sealed=partial(looks.sealed_among, request.user))
    if form == "json":
        options = {"indent": 2, "ensure_ascii": False}
        response: HttpResponseBase = JsonResponse(log, safe=False, json_dumps_params=options)
    else:
        lines = experiments.csv_lines(log)
        response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="experiments.{form}"'
    return response
