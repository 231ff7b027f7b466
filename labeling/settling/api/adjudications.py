from __future__ import annotations

from functools import partial
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.agreement.matching.merging import Cluster
from labeling.core import access
from labeling.core.api.base import LEADING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import PAGING, PageOut, listed
from labeling.core.api.records import FactField, computed, row_of, serializer_with
from labeling.core.api.requests import asked, sent, user_of
from labeling.domain.facts import Fact
from labeling.gold import reopenings
from labeling.jobs import pending
from labeling.models import Adjudication, Conversation, Project
from labeling.schema import LAYERS
from labeling.settling import adjudications, merges

Kind = Adjudication.Kind
KINDS = [kind for kind in Kind if kind != Kind.ACCEPTED]


class DecisionIn(serializers.Serializer[Any]):
    answers = serializers.CharField(
        max_length=64, help_text="`answers` as given by GET: which answers this decides about"
    )
    labels = serializers.ListField(
        child=serializers.DictField(allow_null=True),
        help_text="One entry for each cluster, in their order; null leaves the label out",
    )
    added = serializers.ListField(
        child=serializers.DictField(), default=list, help_text="Labels that nobody had"
    )
    kind = serializers.ChoiceField(
        choices=KINDS, default="", allow_blank=True, help_text="Why the annotators differed"
    )
    note = serializers.CharField(
        max_length=4000,
        default="",
        allow_blank=True,
        help_text="Required where the decision is one that no annotator had given",
    )
    guideline_flag = serializers.BooleanField(
        default=False, help_text="The guidelines should say more about this"
    )


ShortDecisionOut = row_of(
    "ShortDecisionOut",
    Adjudication,
    *("layer", "version", "kind", "guideline_flag", "decided_at"),
    decided_by=serializers.CharField(source="decided_by.username"),
    reason=FactField(
        source="why", help_text="What the adjudicator wrote, or what is known without that"
    ),
    reason_code=computed(
        serializers.CharField,
        lambda decision: decision.why.code if isinstance(decision.why, Fact) else None,
        allow_null=True,
        help_text="null where the adjudicator wrote the reason",
    ),
)
DecisionOut = row_of("DecisionOut", Adjudication, "payload", base=ShortDecisionOut)
ClusterOut = serializer_with(
    "ClusterOut",
    Cluster,
    fields=None,
    by_field=serializers.DictField(
        source="fields",
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Of each compared field in which they differ, who says what the label says",
    ),
)


class MergeOut(serializers.Serializer[Any]):
    layer = serializers.CharField()
    state = serializers.CharField(
        help_text="unanimous, majority, single, disputed; reopened: gold, next to what was "
        "proposed; waiting: not everybody has answered, "
        "or what the labels refer to is not settled; preparing: a worker is at it"
    )
    answers = serializers.CharField(allow_null=True)
    agreement = serializers.FloatField(allow_null=True)
    clusters = ClusterOut(many=True)
    decision = DecisionOut(allow_null=True)


class AdjudicationView(ApiView, scopes=LEADING):
    """What annotators gave for one conversation and layer, and what was decided."""

    @extend_schema(responses=MergeOut)
    def get(self, request: Request, pk: int, layer: str) -> Response:
        """The labels in clusters, with the newest decision."""
        conversation = _conversation(request, pk, layer)
        desk = reopenings.desk(conversation, layer, request.user)
        described = _reopened(desk, request) if desk else _described(conversation, layer)
        return Response(MergeOut(described).data)

    @extend_schema(
        request=DecisionIn,
        responses={201: DecisionOut},
    )
    def post(self, request: Request, pk: int, layer: str) -> Response:
        """Decide. An earlier decision is kept; the newest one counts."""
        conversation = _conversation(request, pk, layer)
        is_reopened = bool(reopenings.open_about(conversation, layer))
        if not is_reopened and not access.leads(request.user, conversation.project):
            raise PermissionDenied("Only a lead of the project may decide.")
        fields = sent(request, DecisionIn)
        decision = adjudications.Decision(fields.pop("answers"), **fields)
        decide = reopenings.decide if is_reopened else adjudications.decide_clusters
        decided = decide(conversation, layer, decision, by=user_of(request))
        return Response(DecisionOut(decided).data, status=201)


def _conversation(request: Request, pk: int, layer: str) -> Conversation:
    conversation = adjudications.readable(request.user, pk)
    if layer not in merges.layers_of(conversation.project):
        raise Http404(f"{conversation.project.slug} does not settle a layer {layer!r}.")
    return conversation


def _reopened(desk: reopenings.Desk, request: Request) -> dict[str, Any]:
    """Each label twice; who may not decide it any more finds nothing to decide."""
    is_judge = reopenings.refusal(desk, user_of(request)) is None
    return {
        "layer": desk.layer,
        "state": "reopened",
        "answers": desk.answers_sha256 if is_judge else None,
        "agreement": None,
        "clusters": desk.clusters if is_judge else [],
        "decision": None,
    }


def _described(conversation: Conversation, layer: str) -> dict[str, Any]:
    standing = merges.ready(conversation.project, layer, among=[conversation.pk])
    ready = standing.get(conversation.pk)
    settled = ready is not None and not ready.waits_for
    merge = merges.with_clusters(conversation.pk, layer, ready) if ready and settled else None
    decisions = Adjudication.objects.filter(conversation=conversation, layer=layer)
    return {
        "layer": layer,
        "state": merge.state if merge else "preparing" if settled else "waiting",
        "answers": merge.answers_sha256 if merge else None,
        "agreement": merge.agreement if merge else None,
        "clusters": merges.read(merge).clusters if merge else [],
        "decision": decisions.select_related("decided_by").last() if ready else None,
    }


# --- the list -------------------------------------------------------------------------------------

TABS = ["disputed", "agreed", "decided"]


class CasesIn(serializers.Serializer[Any]):
    layer = serializers.ChoiceField(
        list(LAYERS), default="", allow_blank=True, help_text="By default the project's first"
    )
    tab = serializers.ChoiceField(TABS, default="disputed")


class AdjudicationCaseOut(serializers.Serializer[Any]):
    conversation = serializers.IntegerField(
        source="merge.conversation_id", help_text="Its `id`: names it for adjudication"
    )
    external_id = serializers.CharField(source="merge.conversation.external_id")
    layer = serializers.ChoiceField(list(LAYERS), source="merge.layer")
    round = serializers.IntegerField(source="merge.round.number")
    state = serializers.CharField(
        source="merge.state", help_text="unanimous, majority, single or disputed"
    )
    agreement = serializers.FloatField(source="merge.agreement")
    decision = ShortDecisionOut(allow_null=True, help_text="The newest, without its labels")


class CaseCountsOut(serializers.Serializer[Any]):
    disputed = serializers.IntegerField()
    agreed = serializers.IntegerField()
    decided = serializers.IntegerField()


class AdjudicationPageOut(PageOut):
    results = AdjudicationCaseOut(many=True)
    counts = CaseCountsOut()
    preparing = serializers.IntegerField(
        help_text="Conversations that a worker has to merge first: ask again in a moment"
    )
    waiting = serializers.IntegerField(
        help_text="Conversations that refer to labels which have to be decided first"
    )


class CasesView(ApiView, scopes=LEADING):
    @extend_schema(parameters=[*PAGING, CasesIn], responses=AdjudicationPageOut)
    def get(self, request: Request, slug: str) -> Response:
        """What is disputed, agreed or decided, lowest agreement first (leads and researchers)."""
        project = access.readable(request.user, slug)
        fields = asked(request, CasesIn)
        layer = _layer(project, fields["layer"])
        workload = adjudications.workload(project, layer)
        if workload.preparing:
            pending.request(project)
        numbers = workload.numbers()
        return listed(
            request,
            workload.cases(fields["tab"]),
            AdjudicationCaseOut,
            prepared=partial(adjudications.with_decisions, layer),
            counts={name: numbers[name] for name in TABS},
            preparing=workload.preparing,
            waiting=workload.waiting,
        )


def _layer(project: Project, name: str) -> str:
    known = merges.layers_of(project)
    if name and name not in known:
        raise serializers.ValidationError({"layer": [f"The project settles {', '.join(known)}."]})
    return name or known[0]
