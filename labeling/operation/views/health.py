"""Whether the product is well: for load balancers, watchers and ``make serve``.

``/healthz`` answers for this process alone, so that a database that is away restarts no web
server; ``/readyz`` asks everything that the product stands on. ``/metrics`` is for Prometheus, and
for any system that reads its form.
"""

from __future__ import annotations

import hmac

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from labeling.core.views.callers import is_local
from labeling.operation import health
from labeling.operation import metrics as figures


@login_not_required
@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """200: this process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """200 or 503. What exactly is missing is said to this machine, and to who has the key."""
    asked = [part for part in request.GET.get("only", "").split(",") if part in health.PARTS]
    parts = health.look(asked or health.PARTS)
    well = all(part["ok"] for part in parts.values())
    status = 200 if well else 503
    if not may_read(request):
        says = "ok\n" if well else "not ok\n"
        return HttpResponse(says, content_type="text/plain", status=status)
    return JsonResponse({"ok": well, "parts": parts}, status=status)


def may_read(request: HttpRequest) -> bool:
    scheme, _, key = request.headers.get("Authorization", "").partition(" ")
    if settings.HEALTH_KEY and scheme == "Bearer":
        return hmac.compare_digest(key.encode(), settings.HEALTH_KEY.encode())
    return is_local(request)


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
    return HttpResponse(figures.text(), content_type=CONTENT_TYPE_PLAIN_0_0_4)
