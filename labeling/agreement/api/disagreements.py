"""The discussion of a closed round: what was marked differently, what is said and decided."""

from __future__ import annotations

from itertools import islice
from typing import Any

from django.http import Http404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.agreement import agreement, discussed, discussions, measurements
from labeling.agreement.discussed import People
from labeling.agreement.discussions import UnitPlace
from labeling.agreement.rules.disagreements import Split
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
    outcome = serializers.ChoiceField(OUTCOMES, **BLANK)
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
        allow_null=True, help_text="For guidelines that answer it; null: nothing was said yet"
    )
    conversation = serializers.CharField(help_text="Its `external_id`")
    conversation_id = serializers.IntegerField()
    layer = serializers.ChoiceField(list(LAYERS))
    message = serializers.IntegerField(allow_null=True, help_text="Where to read")
    name = serializers.CharField(help_text="What it is about, where that is not a message")
    sides = ChoiceOut(many=True)
    outcome = serializers.ChoiceField(OUTCOMES, allow_blank=True, help_text="Empty: open")
    note = serializers.CharField()
    decided_by = serializers.CharField(allow_null=True)
    decided_at = serializers.DateTimeField(allow_null=True)
    remarks = serializers.IntegerField(help_text="How many")


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


class DisagreementsView(ApiView):
    scopes = DISCUSSING

    @extend_schema(parameters=[ListIn, LIMIT], responses=DisagreementPageOut)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """What was marked differently in a closed round (readers, and who labeled it)."""
        _project, round_ = discussed.round_for(request.user, slug, number)
        discussed.refuse_blind(round_, request.user)
        wanted = asked(request, ListIn)
        layer = wanted["layer"] or agreement.first_layer(round_.project)
        if layer not in round_.project.layers:
            raise serializers.ValidationError({"layer": ["The project does not label it."]})
        try:
            progress = discussions.progress_on(round_, layer)
        except measurements.NotMeasured:
            if round_.state != Round.State.OPEN:
                pending.request(round_.project, measure=round_)
                raise
            raise discussions.RoundOpen("discussion.round_open") from None
        behind = wanted["after"]
        splits = discussions.walk(round_, layer, after=behind)
        rows = discussed.stored_rows(round_, layer)
        fitting = (
            (place, split)
            for place, split in splits
            if _fits(rows.get(place), wanted["state"], wanted["outcome"])
        )
        shown = list(islice(fitting, limit(request)))
        more = next(fitting, None) is not None
        people = People.of(round_, request.user)
        return Response(
            {
                "next": address(request, "after", str(shown[-1][0])) if more else None,
                "results": [
                    DisagreementOut(_line(place, split, rows.get(place), people)).data
                    for place, split in shown
                ],
                "progress": progress,
            }
        )


class DisagreementView(ApiView):
    scopes = DISCUSSING

    @extend_schema(responses=DisagreementDetailOut)
    def get(self, request: Request, slug: str, number: int, place: str) -> Response:
        """One disagreement with everybody's labels and what was said about it."""
        _project, round_ = discussed.round_for(request.user, slug, number)
        discussed.refuse_blind(round_, request.user)
        return Response(_detail(request, round_, _place(place)))


class RemarksView(ApiView):
    scopes = DISCUSSING

    @extend_schema(request=RemarkIn, responses={201: DisagreementDetailOut})
    def post(self, request: Request, slug: str, number: int, place: str) -> Response:
        """Say something about it (leads, and who labeled the round)."""
        round_ = discussed.joined_round(request.user, slug, number)
        at = _place(place)
        discussions.say(round_, at, by=user_of(request), **sent(request, RemarkIn))
        return Response(_detail(request, round_, at), status=201)


class OutcomeView(ApiView):
    scopes = LEADING

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


def _fits(row: Disagreement | None, state: str, outcome: str) -> bool:
    stored = row.outcome if row else ""
    is_wanted = not state or (state == "decided") == bool(stored)
    return is_wanted and outcome in ("", stored)


def _line(
    place: UnitPlace, split: Split, row: Disagreement | None, people: People
) -> dict[str, Any]:
    sides = [
        {"annotator": people.name(name), "choice": choice} for name, choice in split.labels.items()
    ]
    return {
        "place": str(place),
        "id": row.pk if row else None,
        "conversation": split.conversation,
        "conversation_id": place.conversation,
        "layer": place.layer,
        "message": split.message,
        "name": split.name,
        "sides": sorted(sides, key=lambda side: side["annotator"]),
        "outcome": row.outcome if row else "",
        "note": row.note if row else "",
        "decided_by": row.decided_by.get_username() if row and row.decided_by else None,
        "decided_at": row.decided_at if row else None,
        "remarks": row.n_remarks if row else 0,  # type: ignore[attr-defined]
    }


def _detail(request: Request, round_: Round, place: UnitPlace) -> Any:
    split = discussions.split_at(round_, place)
    if split is None:
        raise Http404
    people = People.of(round_, request.user)
    row = discussed.stored_rows(round_, place.layer).get(place)
    payloads = discussed.payloads_of(round_, place.conversation)
    sides = [
        {
            "annotator": people.name(name),
            "choice": choice,
            "labels": discussed.labels_behind(split, name, payloads.get(name, {}), place),
        }
        for name, choice in split.labels.items()
    ]
    thread = [
        {
            "author": people.name(comment.author.get_username()),
            "body": comment.body,
            "created_at": comment.created_at,
        }
        for comment in (discussed.thread_of(row) if row else [])
    ]
    shown = {
        **_line(place, split, row, people),
        "sides": sorted(sides, key=lambda side: str(side["annotator"])),
        "thread": thread,
        "answered_in": discussed.answered_in(row) if row else [],
    }
    return DisagreementDetailOut(shown).data
