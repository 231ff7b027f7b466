"""``/metrics`` for Prometheus, and for any system that reads its form."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from config import web_counts
from labeling.services import metrics as service
from labeling.services.metrics import Sample
from labeling.views.health import may_read

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@login_not_required
@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """For this machine, and for who has the key."""
    if not may_read(request):
        return HttpResponse(
            "Send the server's ASSAY_HEALTH_KEY: Authorization: Bearer KEY\n",
            content_type="text/plain",
            status=403,
        )
    return HttpResponse(service.text(_of_web()), content_type=CONTENT_TYPE)


def _of_web() -> Iterator[Sample]:
    for area in web_counts.read():
        of_area = {"area": area.name}
        for status, number in area.by_status.items():
            labels = of_area | {"status": str(status or "other")}
            yield Sample("assay_http_requests_total", number, labels)
        bounds = [*(f"{bound:g}" for bound in web_counts.BOUNDS), "+Inf"]
        for bound, number in zip(bounds, accumulate(area.by_duration), strict=True):
            yield Sample("assay_http_request_seconds_bucket", number, of_area | {"le": bound})
        yield Sample("assay_http_request_seconds_sum", area.seconds, of_area)
        yield Sample("assay_http_request_seconds_count", sum(area.by_duration), of_area)
