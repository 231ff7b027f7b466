from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.http import HttpRequest, HttpResponse


@login_not_required
def healthz(request: HttpRequest) -> HttpResponse:
    """For load balancers and ``make serve``: the process answers and reaches its database."""
    connection.ensure_connection()
    return HttpResponse("ok\n", content_type="text/plain")
