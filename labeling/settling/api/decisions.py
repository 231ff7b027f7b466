"""What is settled and what is not, layer by layer: the work of adjudicators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core import access
from labeling.core.api.base import LEADING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import PAGING, PageOut, listed
from labeling.core.api.requests import asked
from labeling.jobs import pending
from labeling.models import Project
from labeling.schema import LAYERS
from labeling.settling import adjudications, merges
from labeling.settling.api.adjudications import ShortDecisionOut

TABS = ["disputed", "agreed", "decided"]


class CasesIn(serializers.Serializer[Any]):
    layer = serializers.ChoiceField(
        list(LAYERS), default="", allow_blank=True, help_text="By default the project's first"
    )
    tab = serializers.ChoiceField(TABS, default="disputed")


class AdjudicationCaseOut(serializers.Serializer[Any]):
    conversation = serializers.IntegerField(help_text="Its `id`: names it for adjudication")
    external_id = serializers.CharField()
    layer = serializers.ChoiceField(list(LAYERS))
    round = serializers.IntegerField()
    state = serializers.CharField(help_text="unanimous, majority, single or disputed")
    agreement = serializers.FloatField()
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


class CasesView(ApiView):
    scopes = LEADING

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
            prepared=lambda cases: _rows(layer, adjudications.with_decisions(layer, cases)),
            counts={name: numbers[name] for name in TABS},
            preparing=workload.preparing,
            waiting=workload.waiting,
        )


def _layer(project: Project, name: str) -> str:
    known = merges.layers_of(project)
    if name and name not in known:
        raise serializers.ValidationError({"layer": [f"The project settles {', '.join(known)}."]})
    return name or known[0]


def _rows(layer: str, cases: Sequence[adjudications.Case]) -> list[dict[str, Any]]:
    merged = ("state", "agreement")
    return [
        {**case._asdict(), "layer": layer, **{name: getattr(case.merge, name) for name in merged}}
        for case in cases
    ]
