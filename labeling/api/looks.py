from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.api.paging import NEWEST_FIRST, PageOut, page
from labeling.api.requests import sent
from labeling.domain.scopes import Scope
from labeling.models import GoldRelease, Look
from labeling.services.gold import gold, looks
from labeling.services.gold.looks import LONGEST_REASON, Sight


class LookIn(serializers.Serializer[Any]):
    gold = serializers.CharField(help_text="name (newest) or name@version")
    purpose = serializers.ChoiceField(
        Look.Purpose.choices, help_text="run is stated with the launch itself"
    )
    reason = serializers.CharField(max_length=LONGEST_REASON)


class LookOut(serializers.ModelSerializer[Look]):
    gold = serializers.CharField(source="release")
    user = serializers.CharField(
        source="user.username",
        allow_null=True,
        default=None,
        help_text="null: somebody at the command line",
    )

    class Meta:
        model = Look
        fields = ["id", "gold", "user", "purpose", "subject", "named", "reason", "n_items", "at"]


class LookPageOut(PageOut):
    results = LookOut(many=True)


class StandingOut(serializers.Serializer[Any]):
    gold = serializers.CharField()
    looks = serializers.IntegerField(help_text="At these test items, in whatever release")
    budget = serializers.IntegerField(allow_null=True, help_text="null: no limit")


class LooksView(ApiView):
    scopes = {"GET": (Scope.READ,), "POST": (Scope.GOLD, Scope.RUNS)}

    @extend_schema(
        parameters=[
            *NEWEST_FIRST,
            OpenApiParameter("gold", str, description="Only of this release"),
        ],
        responses={200: LookPageOut, 400: ErrorOut},
    )
    def get(self, request: Request) -> Response:
        """The looks at test items of the releases that I may read, newest first."""
        visible = GoldRelease.objects.visible_to(request.user)
        rows = Look.objects.filter(release__in=visible.values("pk"))
        if named := request.query_params.get("gold"):
            rows = rows.filter(release=gold.find(named, among=visible))
        return page(request, rows.select_related("release", "user"), LookOut, newest_first=True)

    @extend_schema(request=LookIn, responses={201: StandingOut, 400: ErrorOut, 403: ErrorOut})
    def post(self, request: Request) -> Response:
        """Say why I look at the test items of a release; what answered 403 opens for me."""
        asked = sent(request, LookIn)
        visible = GoldRelease.objects.visible_to(request.user).select_related("project")
        release = gold.find(asked["gold"], among=visible)
        looks.state(request.user, [release], Sight(asked["purpose"]), asked["reason"])
        standing = {"gold": str(release), **looks.standing(release).as_json()}
        return Response(StandingOut(standing).data, status=status.HTTP_201_CREATED)
