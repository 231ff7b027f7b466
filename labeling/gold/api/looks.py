from __future__ import annotations

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core.api.base import ApiView
from labeling.core.api.described import extend_schema
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


class StandingOut(serializers.Serializer[Any]):
    gold = serializers.CharField()
    looks = serializers.IntegerField(help_text="At these test items, in whatever release")
    budget = serializers.IntegerField(allow_null=True, help_text="null: no limit")


class LooksView(ApiView):
    scopes = {"POST": (Scope.GOLD, Scope.RUNS)}

    @extend_schema(request=LookIn, responses={201: StandingOut})
    def post(self, request: Request) -> Response:
        """Say why I look at the test items of a release; what answered 403 opens for me."""
        asked = sent(request, LookIn)
        visible = GoldRelease.objects.visible_to(request.user).select_related("project")
        release = gold.find(asked["gold"], among=visible)
        looks.state(request.user, [release], Sight(asked["purpose"]), asked["reason"])
        standing = {"gold": str(release), **looks.standing(release).as_json()}
        return Response(StandingOut(standing).data, status=status.HTTP_201_CREATED)
