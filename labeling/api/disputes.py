"""Disputes about gold: opened on a label, judged blind, decided where judges do not agree."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.shortcuts import get_object_or_404
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import RELEASING, ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.api.paging import OLDEST_FIRST, PageOut, part
from labeling.api.requests import asked, sent, user_of
from labeling.domain.gold.disputes import blind
from labeling.domain.schema.labels import StoredLabel
from labeling.models import (
    Conversation,
    Dispute,
    DisputeReading,
    DisputeVerdict,
    GoldRelease,
    Project,
)
from labeling.services import access, blindness
from labeling.services.gold import disputes, looks
from labeling.services.gold.disputes import Standing
from labeling.services.settling.corrections import side_of
from labeling.words import words

LONGEST_REASON = 5000
STATES = ("open", "tied", "kept", "corrected", "withdrawn")


class DisputeListIn(serializers.Serializer[Any]):
    state = serializers.ChoiceField(
        ["open", "settled"], default="", allow_blank=True, help_text="Default: all"
    )


class DisputeIn(serializers.Serializer[Any]):
    item_id = serializers.CharField(max_length=200)
    layer = serializers.CharField()
    label = serializers.CharField(  # type: ignore[assignment]  # a field, not the base's label
        default="", allow_blank=True, max_length=100, help_text="uid in gold; empty: it is missing"
    )
    proposal = serializers.DictField(
        allow_null=True, help_text="The label as it should be; null: there should be none"
    )
    reason = serializers.CharField(
        max_length=LONGEST_REASON, help_text="Judges do not see it before their verdict"
    )


class DisputeOut(serializers.Serializer[Any]):
    id = serializers.IntegerField(source="dispute.pk")
    gold = serializers.CharField(source="dispute.item.release")
    item_id = serializers.CharField(source="dispute.item.item_id")
    layer = serializers.CharField(source="dispute.layer")
    state = serializers.ChoiceField(STATES)
    n_verdicts = serializers.IntegerField()
    opened_at = serializers.DateTimeField(source="dispute.opened_at")
    may_judge = serializers.SerializerMethodField()
    why_not = serializers.SerializerMethodField()

    def get_may_judge(self, standing: Standing) -> bool:
        return standing.why_not is None

    def get_why_not(self, standing: Standing) -> str:
        """Why you may not judge it; empty if you may"""
        return words(standing.why_not) if standing.why_not else ""


class DisputePageOut(PageOut):
    results = DisputeOut(many=True)


class VerdictOut(serializers.Serializer[Any]):
    judge = serializers.CharField(source="judge.username")
    says = serializers.SerializerMethodField()
    label = serializers.DictField(  # type: ignore[assignment]  # a field, not the base's label
        source="verdict.label", allow_null=True, help_text="The judge's own, after neither"
    )
    reason = serializers.CharField(source="verdict.reason")

    def get_says(self, reading: DisputeReading) -> str:
        """gold, proposal, both or neither"""
        return side_of(reading)


class DisputeDetailOut(DisputeOut):
    label_uid = serializers.CharField(source="dispute.label_uid", help_text="Empty: missing")
    gold_label = serializers.DictField(allow_null=True)
    proposal = serializers.DictField(source="dispute.proposal", allow_null=True)
    reason = serializers.CharField(source="dispute.reason")
    opened_by = serializers.CharField(source="dispute.opened_by.username")
    verdicts = VerdictOut(many=True, help_text="Empty while judges are still to come")
    decided_by = serializers.CharField(allow_null=True, help_text="null: the judges' majority")


class BlindOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    layer = serializers.CharField()
    a = serializers.DictField(allow_null=True, help_text="null: no such label should be here")
    b = serializers.DictField(allow_null=True)
    conversation = serializers.ListField(child=serializers.DictField())


class VerdictIn(serializers.Serializer[Any]):
    choice = serializers.ChoiceField(DisputeVerdict.Choice.choices)
    reason = serializers.CharField(max_length=LONGEST_REASON, help_text="What was said")
    label = serializers.DictField(  # type: ignore[assignment]
        default=None, allow_null=True, help_text="With neither: the right label; null: none"
    )


class DecideIn(serializers.Serializer[Any]):
    accept = serializers.BooleanField(help_text="true: as proposed; false: gold stays")
    reason = serializers.CharField(max_length=LONGEST_REASON)


class WithdrawDisputeIn(serializers.Serializer[Any]):
    reason = serializers.CharField(default="", allow_blank=True, max_length=LONGEST_REASON)


class DisputesView(ApiView):
    scopes = RELEASING

    @extend_schema(
        parameters=[
            *OLDEST_FIRST,
            DisputeListIn,
        ],
        responses={200: DisputePageOut, 400: ErrorOut, 404: ErrorOut},
    )
    def get(self, request: Request, slug: str) -> Response:
        """Disputes about the project's gold. Of what I may judge it shows no side and no reason."""
        project = access.readable(request.user, slug)
        rows = disputes.shown_to(Dispute.objects.of_project(project), user_of(request))
        if state := asked(request, DisputeListIn)["state"]:
            rows = rows.filter(outcome__isnull=state == "open")
        shown, following = part(request, disputes.with_verdicts(rows).defer("item__canonical"))
        standings = disputes.standings(project, shown, user_of(request))
        return Response(DisputePageOut({"next": following, "results": standings}).data)


class GoldDisputesView(ApiView):
    scopes = RELEASING

    @extend_schema(
        request=DisputeIn,
        responses={201: DisputeDetailOut, 400: ErrorOut, 403: ErrorOut, 404: ErrorOut},
    )
    def post(self, request: Request, name: str, version: int) -> Response:
        """Say that a label of an item is wrong, should not be there, or is missing."""
        visible = GoldRelease.objects.visible_to(request.user)
        release = get_object_or_404(visible, name=name, version=version)
        fields = sent(request, DisputeIn)
        items = release.items.select_related("release__project")
        item = get_object_or_404(items, item_id=fields.pop("item_id"))
        blindness.refuse(request.user, Conversation.objects.filter(pk=item.conversation_id))
        looks.require_item(request.user, item)
        uid = fields.pop("label")
        row = disputes.open_dispute(item=item, uid=uid, by=user_of(request), **fields)
        return Response(_detail(request, row.pk), status=status.HTTP_201_CREATED)


class DisputeView(ApiView):
    scopes = RELEASING

    @extend_schema(responses={200: DisputeDetailOut, 403: ErrorOut, 404: ErrorOut})
    def get(self, request: Request, pk: int) -> Response:
        """Both sides, for those who must not judge it any more; others judge it first."""
        return Response(_detail(request, pk))


class DisputeVerdictView(ApiView):
    scopes = RELEASING

    @extend_schema(responses={200: BlindOut, 400: ErrorOut, 403: ErrorOut, 404: ErrorOut})
    def get(self, request: Request, pk: int) -> Response:
        """Two labels, a and b, with the conversation. Nothing says which of them is in gold."""
        opened = _open(request, pk)
        reading = disputes.reading_of(opened.dispute, user_of(request))
        gold, proposal = (_seen(opened.dispute, label) for label in opened.labels)
        a, b = (gold, proposal) if reading.gold_is_a else (proposal, gold)
        said = opened.dispute.item.content["conversation"]
        shown = {"id": pk, "layer": opened.dispute.layer, "a": a, "b": b, "conversation": said}
        return Response(BlindOut(shown).data)

    @extend_schema(
        request=VerdictIn,
        responses={201: DisputeOut, 400: ErrorOut, 403: ErrorOut, 404: ErrorOut},
    )
    def post(self, request: Request, pk: int) -> Response:
        """Say which side the conversation supports."""
        opened = _open(request, pk)
        fields = sent(request, VerdictIn)
        reading = disputes.reading_of(opened.dispute, user_of(request))
        disputes.judge(reading, **fields)
        return Response(DisputeOut(_open(request, pk).standing).data, status=201)


class DisputeDecideView(ApiView):
    scopes = RELEASING

    @extend_schema(
        request=DecideIn,
        responses={200: DisputeDetailOut, 400: ErrorOut, 403: ErrorOut, 404: ErrorOut},
    )
    def post(self, request: Request, pk: int) -> Response:
        """Decide where the judges do not agree (leads)."""
        opened = _open(request, pk)
        access.require_lead(request.user, opened.project)
        disputes.break_tie(opened.dispute, by=user_of(request), **sent(request, DecideIn))
        return Response(_detail(request, pk))


class DisputeWithdrawView(ApiView):
    scopes = RELEASING

    @extend_schema(
        request=WithdrawDisputeIn,
        responses={200: DisputeOut, 400: ErrorOut, 403: ErrorOut, 404: ErrorOut},
    )
    def post(self, request: Request, pk: int) -> Response:
        """Take a dispute back while it is open: who opened it, or a lead."""
        opened = _open(request, pk)
        fields = sent(request, WithdrawDisputeIn)
        disputes.withdraw(opened.dispute, by=user_of(request), **fields)
        return Response(DisputeOut(_open(request, pk).standing).data)


class Opened(NamedTuple):
    project: Project
    dispute: Dispute
    standing: Standing

    @property
    def labels(self) -> tuple[StoredLabel | None, StoredLabel | None]:
        """What gold says, and what is proposed."""
        row = self.dispute
        gold = disputes.label_of(row.item.content, row.layer, row.label_uid)
        return gold, row.proposal


def _open(request: Request, pk: int) -> Opened:
    visible = Dispute.objects.visible_to(request.user)
    row = get_object_or_404(disputes.with_verdicts(visible), pk=pk)
    blindness.refuse(request.user, Conversation.objects.filter(pk=row.conversation_id))
    project = row.item.release.project
    (standing,) = disputes.standings(project, [row], user_of(request))
    return Opened(project, row, standing)


def _seen(dispute: Dispute, label: StoredLabel | None) -> StoredLabel | None:
    return None if label is None else blind(dispute.layer, label)


def _detail(request: Request, pk: int) -> dict[str, Any]:
    opened = _open(request, pk)
    row, standing = opened.dispute, opened.standing
    if not standing.may_see_sides:
        raise disputes.NotTheJudge("dispute.judge_first")
    if not row.readings.filter(judge=request.user.pk, verdict__isnull=False).exists():
        looks.require_item(request.user, row.item)  # who judged has read it at work
    is_over = not standing.is_open or standing.state == "tied"
    outcome = row.outcome if not standing.is_open else None
    return {
        **DisputeOut(standing).data,
        "label_uid": row.label_uid,
        "gold_label": opened.labels[0],
        "proposal": row.proposal,
        "reason": row.reason,
        "opened_by": row.opened_by.get_username(),
        "verdicts": VerdictOut(row.verdicts if is_over else [], many=True).data,  # type: ignore[attr-defined]
        "decided_by": outcome.decided_by.get_username() if outcome and outcome.decided_by else None,
    }
