"""Submitted answers of full labeling that wait for a review, and those that have one."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core import access
from labeling.core.api.base import LEADING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import LIMIT, PageOut, address, limit
from labeling.core.api.records import serializer_with
from labeling.core.api.requests import asked, user_of
from labeling.jobs import pending
from labeling.settling import merges, reviews
from labeling.settling.reviews import Choice, ReviewLine

MODES = ["sample", "lowest", "all"]
STATES = ["open", "done"]


class ReviewListIn(serializers.Serializer[Any]):
    mode = serializers.ChoiceField(
        MODES,
        required=False,
        help_text="The drawn sample, all by the lowest agreement, or all, oldest first. By default "
        "the sample where the project draws one, else the lowest agreement",
    )
    state = serializers.ChoiceField(STATES, default="open")
    annotator = serializers.CharField(max_length=150, default="", allow_blank=True)
    after = serializers.IntegerField(
        min_value=0, max_value=2**63 - 1, required=False, help_text="As `next` has it"
    )


ReviewRowOut = serializer_with(
    "ReviewRowOut",
    ReviewLine,
    annotation=serializers.IntegerField(help_text="Names it for reviews"),
)


class ReviewCountsOut(serializers.Serializer[Any]):
    open = serializers.IntegerField()
    done = serializers.IntegerField()


class ReviewsPageOut(PageOut):
    results = ReviewRowOut(many=True)
    counts = ReviewCountsOut()


class ReviewsView(ApiView):
    scopes = LEADING

    @extend_schema(
        parameters=[ReviewListIn, LIMIT],
        responses=ReviewsPageOut,
    )
    def get(self, request: Request, slug: str) -> Response:
        """Submitted answers of full labeling, without your own (leads and researchers)."""
        project = access.readable(request.user, slug)
        fields = asked(request, ReviewListIn)
        if merges.layers_of(project):
            pending.request(project)
        choice = Choice(fields.get("mode", reviews.usual_mode(project)), fields["annotator"])
        answers = reviews.ReviewList(project, viewer=user_of(request))
        people = answers.numbers(Choice(choice.mode))
        number = people[choice.annotator] if choice.annotator else people.total()
        done = answers.number_done(choice)
        most = limit(request)
        rows = answers.page(
            choice, is_done=fields["state"] == "done", behind=fields.get("after"), most=most + 1
        )
        more = len(rows) > most
        body = {
            "next": address(request, "after", str(rows[most - 1].annotation)) if more else None,
            "results": ReviewRowOut(rows[:most], many=True).data,
            "counts": {"open": number - done, "done": done},
        }
        return Response(body)
