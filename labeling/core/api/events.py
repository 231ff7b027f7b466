"""The audit log of a project."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core import access
from labeling.core.api.base import READING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import NEWEST_FIRST, page, page_of
from labeling.core.api.records import computed, row_of, username
from labeling.core.forms.audit import AuditFilter
from labeling.models import Event
from labeling.words import EVENTS, worded

EventOut = row_of(
    "EventOut",
    Event,
    *("id", "at", "verb", "object_type", "object_id"),
    actor=username("actor", help_text="null: a worker"),
    details=computed(
        serializers.DictField,
        lambda event: worded(event.data, with_codes=True),
        help_text="What else there is to say, by verb: `conversation`, `reason`, …",
    ),
)


FILTERS = [
    OpenApiParameter("actor", str, description="User name"),
    OpenApiParameter("verb", str, enum=sorted(EVENTS)),
    OpenApiParameter("object_type", str),
    OpenApiParameter("object_id", str, description="Also the id of a conversation"),
    OpenApiParameter("since", OpenApiTypes.DATE),
    OpenApiParameter("until", OpenApiTypes.DATE, description="The last day"),
]


class EventsView(ApiView):
    scopes = READING

    @extend_schema(
        parameters=[*FILTERS, *NEWEST_FIRST],
        responses=page_of(EventOut),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Who did what, newest first (leads and researchers)."""
        project = access.readable(request.user, slug)
        chosen = AuditFilter(request.query_params)
        if not chosen.is_valid():
            raise serializers.ValidationError(
                {name: [str(each) for each in why] for name, why in chosen.errors.items()}
            )
        rows = chosen.narrow(project.events.select_related("actor"))
        return page(request, rows, EventOut, newest_first=True)
