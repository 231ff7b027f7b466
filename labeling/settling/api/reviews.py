from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core import access
from labeling.core.api.base import LEADING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.records import row_of
from labeling.core.api.requests import sent, user_of
from labeling.models import Review
from labeling.settling import reviews


class ReviewIn(serializers.Serializer[Any]):
    version = serializers.IntegerField(min_value=0, help_text="The version that was looked at")
    verdict = serializers.ChoiceField(choices=Review.Verdict.choices)
    comment = serializers.CharField(
        max_length=4000, default="", allow_blank=True, help_text="Required when it is returned"
    )
    payload = serializers.DictField(
        default=None, allow_null=True, help_text="The corrected labels, for `fixed`"
    )


ReviewOut = row_of(
    "ReviewOut",
    Review,
    *("version", "verdict", "comment", "payload", "reviewed_at"),
    reviewer=serializers.CharField(source="reviewer.username"),
)


class ReviewView(ApiView, scopes=LEADING):
    """Verdicts on one submitted answer, addressed by the answer's id."""

    @extend_schema(request=ReviewIn, responses={201: ReviewOut})
    def post(self, request: Request, pk: int) -> Response:
        """Accept, fix or return. The newest verdict about a version counts."""
        annotation = reviews.readable(request.user, pk)
        access.require_lead(request.user, annotation.assignment.round.project)
        opinion = reviews.Opinion(**sent(request, ReviewIn))
        stored = reviews.review(annotation, opinion, by=user_of(request))
        return Response(ReviewOut(stored).data, status=201)
