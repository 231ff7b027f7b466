from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_GET

from labeling.core import access
from labeling.exchange import label_exports


@require_GET
def labels_export(request: HttpRequest, slug: str) -> HttpResponseBase:
    return label_exports.download(access.readable(request.user, slug), cast(User, request.user))
