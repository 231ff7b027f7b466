from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.http import Http404
from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class OneForm(DefaultContentNegotiation):
    """What an address answers with does not depend on ``Accept``: errors are JSON, files are files.

    Otherwise a program that accepts the CSV that it asks for would be refused with 406.
    """

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        known = list(renderers)
        try:
            chosen: Any = super().select_renderer(request, known, format_suffix)
        except (NotAcceptable, Http404):
            return known[0], known[0].media_type
        return chosen[0], chosen[1]
