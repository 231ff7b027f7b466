"""``/metrics`` for Prometheus, and for any system that reads its form."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from labeling.operation import metrics as service
from labeling.operation.views.health import may_read


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
    return HttpResponse(service.text(), content_type=CONTENT_TYPE_PLAIN_0_0_4)
