"""The discussion of a closed round: what was marked differently, what is said and decided."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.agreement import agreement, discussed, discussions, measurements
from labeling.agreement.discussed import Discussion
from labeling.agreement.discussions import UnitPlace
from labeling.core.api.base import LEADING, ApiView, Scopes
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import LIMIT, PageOut, address, limit
from labeling.core.api.requests import asked, sent, user_of
from labeling.core.rules.scopes import Scope
from labeling.jobs import pending
from labeling.models import Disagreement, Round
from labeling.schema import LAYERS

OUTCOMES = Disagreement.Outcome.values
STATES = ["open", "decided"]
DISCUSSING: Scopes = {"GET": (Scope.READ, Scope.LABEL), "POST": (Scope.LABEL, Scope.LEAD)}
BLANK: dict[str, Any] = {"default": "", "allow_blank": True}


class ListIn(serializers.Serializer[Any]):
    layer = serializers.ChoiceField(
        list(LAYERS), help_text="By default the project's first", **BLANK
    )
    state = serializers.ChoiceField(STATES, **BLANK)
    after = serializers.CharField(
        max_length=60, help_text="Go on after this place, as `next` does", **BLANK
    )

    def validate_after(self, text: str) -> UnitPlace | None:
        place = UnitPlace.parse(text) if text else None
        if text and place is None:
            raise serializers.ValidationError("Take it from `next` as it is.")
        return place


class RemarkIn(serializers.Serializer[Any]):
    body = serializers.CharField(max_length=5000)


class OutcomeIn(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(
        OUTCOMES, allow_blank=True, help_text="Empty: it is open again"
    )
    note = serializers.CharField(max_length=5000, **BLANK)


class ChoiceOut(serializers.Serializer[Any]):
    annotator = serializers.CharField(help_text="A letter where names are hidden")
    choice = serializers.JSONField(
        allow_null=True, help_text="Of messages 0 or 1: marked; of other units what was said"
    )


class MarkedSideOut(ChoiceOut):
    labels = serializers.ListField(
        child=serializers.DictField(), help_text="The labels that say so"
    )


class DisagreementOut(serializers.Serializer[Any]):
    place = serializers.CharField(help_text="Names it in addresses")
    id = serializers.IntegerField(
        source="row.pk",
        allow_null=True,
        help_text="For guidelines that answer it; null: nothing was said yet",
    )
    conversation = serializers.CharField(source="split.conversation", help_text="Its `external_id`")
    conversation_id = serializers.IntegerField(source="place.conversation")
    layer = serializers.ChoiceField(list(LAYERS), source="place.layer")
    message = serializers.IntegerField(
        source="split.message", allow_null=True, help_text="Where to read"
    )
    name = serializers.CharField(
        source="split.name", help_text="What it is about, where that is not a message"
    )
    sides = ChoiceOut(source="choices", many=True)
    outcome = serializers.ChoiceField(
        OUTCOMES, source="row.outcome", allow_blank=True, help_text="Empty: open"
    )
    note = serializers.CharField(source="row.note")
    decided_by = serializers.CharField(source="row.decided_by", allow_null=True)
    decided_at = serializers.DateTimeField(source="row.decided_at", allow_null=True)
    remarks = serializers.IntegerField(source="n_remarks", help_text="How many")


class CountsOut(serializers.Serializer[Any]):
    total = serializers.IntegerField()
    discussed = serializers.IntegerField()
    decided = serializers.IntegerField()


class DisagreementPageOut(PageOut):
    results = DisagreementOut(many=True)
    progress = CountsOut()


class RemarkOut(serializers.Serializer[Any]):
    author = serializers.CharField(help_text="A letter where names are hidden")
    body = serializers.CharField()
    created_at = serializers.DateTimeField()


class DisagreementDetailOut(DisagreementOut):
    sides = MarkedSideOut(many=True)
    thread = RemarkOut(many=True)
    answered_in = serializers.ListField(
        child=serializers.IntegerField(), help_text="Versions of the guidelines"
    )


class DisagreementsView(ApiView, scopes=DISCUSSING):
    @extend_schema(parameters=[ListIn, LIMIT], responses=DisagreementPageOut)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """What was marked differently in a closed round (readers, and who labeled it)."""
        _project, round_ = discussed.round_for(request.user, slug, number)
        discussed.refuse_blind(round_, request.user)
        wanted = asked(request, ListIn)
        layer = wanted["layer"] or agreement.first_layer(round_.project)
        if layer not in round_.project.layers:
            raise serializers.ValidationError({"layer": ["The project does not label it."]})
        discussion = Discussion(round_, layer, request.user)
        try:
            following = discussion.behind(wanted["after"] or None, wanted["state"])
        except measurements.NotMeasured:
            pending.request(round_.project, measure=round_)
            raise
        shown, rest = following[: limit(request)], following[limit(request) :]
        entries = [discussion.entry(place) for place in shown]
        return Response(
            {
                "next": address(request, "after", str(shown[-1])) if rest else None,
                "results": DisagreementOut(entries, many=True).data,
                "progress": discussion.progress,
            }
        )


class DisagreementView(ApiView, scopes=DISCUSSING):
    @extend_schema(responses=DisagreementDetailOut)
    def get(self, request: Request, slug: str, number: int, place: str) -> Response:
        """One disagreement with everybody's labels and what was said about it."""
        _project, round_ = discussed.round_for(request.user, slug, number)
        discussed.refuse_blind(round_, request.user)
        return Response(_detail(request, round_, _place(place)))


class RemarksView(ApiView, scopes=DISCUSSING):
    @extend_schema(request=RemarkIn, responses={201: DisagreementDetailOut})
    def post(self, request: Request, slug: str, number: int, place: str) -> Response:
        """Say something about it (leads, and who labeled the round)."""
        round_ = discussed.joined_round(request.user, slug, number)
        at = _place(place)
        discussions.say(round_, at, by=user_of(request), **sent(request, RemarkIn))
        return Response(_detail(request, round_, at), status=201)


class OutcomeView(ApiView, scopes=LEADING):
    @extend_schema(request=OutcomeIn, responses=DisagreementDetailOut)
    def put(self, request: Request, slug: str, number: int, place: str) -> Response:
        """Say what came of it, or open it again (leads). The last word counts."""
        round_ = discussed.led_round(request.user, slug, number)
        at = _place(place)
        discussions.decide(round_, at, by=user_of(request), **sent(request, OutcomeIn))
        return Response(_detail(request, round_, at))


def _place(text: str) -> UnitPlace:
    place = UnitPlace.parse(text)
    if place is None:
        raise Http404
    return place


def _detail(request: Request, round_: Round, place: UnitPlace) -> Any:
    return DisagreementDetailOut(Discussion(round_, place.layer, request.user).entry(place)).data
