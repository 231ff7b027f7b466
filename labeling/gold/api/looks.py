from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core.api.base import ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import NEWEST_FIRST, page, page_of
from labeling.core.api.records import row_of, username
from labeling.core.api.requests import sent
from labeling.core.rules.scopes import Scope
from labeling.gold import gold, looks
from labeling.gold.looks import LONGEST_REASON, Sight
from labeling.models import GoldRelease, Look


class LookIn(serializers.Serializer[Any]):
    gold = serializers.CharField(help_text="name (newest) or name@version")
    purpose = serializers.ChoiceField(
        Look.Purpose.choices, help_text="run is stated with the launch itself"
    )
    reason = serializers.CharField(max_length=LONGEST_REASON)


LookOut = row_of(
    "LookOut",
    Look,
    *("id", "purpose", "subject", "named", "reason", "n_items", "at"),
    gold=serializers.CharField(source="release"),
    user=username("user", help_text="null: somebody at the command line"),
)


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
        responses=page_of(LookOut),
    )
    def get(self, request: Request) -> Response:
        """The looks at test items of the releases that I may read, newest first."""
        visible = GoldRelease.objects.visible_to(request.user)
        rows = Look.objects.filter(release__in=visible.values("pk"))
        if named := request.query_params.get("gold"):
            rows = rows.filter(release=gold.find(named, among=visible))
        return page(request, rows.select_related("release", "user"), LookOut, newest_first=True)

    @extend_schema(request=LookIn, responses={201: StandingOut})
    def post(self, request: Request) -> Response:
        """Say why I look at the test items of a release; what answered 403 opens for me."""
        asked = sent(request, LookIn)
        visible = GoldRelease.objects.visible_to(request.user).select_related("project")
        release = gold.find(asked["gold"], among=visible)
        looks.state(request.user, [release], Sight(asked["purpose"]), asked["reason"])
        standing = {"gold": str(release), **looks.standing(release).as_json()}
        return Response(StandingOut(standing).data, status=status.HTTP_201_CREATED)
