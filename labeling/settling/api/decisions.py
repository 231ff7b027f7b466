"""What is settled and what is not, layer by layer: the work of adjudicators."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core import access
from labeling.core.api.base import LEADING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import LIMIT, PageOut, address, limit
from labeling.core.api.requests import asked, sent, user_of
from labeling.jobs import pending
from labeling.models import Project
from labeling.schema import LAYERS
from labeling.settling import adjudications, merges
from labeling.settling.api.adjudications import ShortDecisionOut

TABS = ["disputed", "agreed", "decided"]
BLANK: dict[str, Any] = {"default": "", "allow_blank": True}


class CasesIn(serializers.Serializer[Any]):
    layer = serializers.ChoiceField(
        list(LAYERS), help_text="By default the project's first", **BLANK
    )
    tab = serializers.ChoiceField(TABS, default="disputed")
    round = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    search = serializers.CharField(max_length=200, help_text="The id contains this", **BLANK)
    after = serializers.IntegerField(
        min_value=0, max_value=2**63 - 1, required=False, help_text="As `next` has it"
    )


class AcceptIn(serializers.Serializer[Any]):
    layer = serializers.ChoiceField(list(LAYERS))
    majority = serializers.BooleanField(
        default=False, help_text="Also where a majority agreed, not only everybody"
    )
    expected = serializers.IntegerField(
        min_value=0, max_value=2**31 - 1, help_text="How many you know of: `acceptable` of the list"
    )


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


class AcceptableOut(serializers.Serializer[Any]):
    unanimous = serializers.IntegerField()
    majority = serializers.IntegerField()


class AdjudicationPageOut(PageOut):
    results = AdjudicationCaseOut(many=True)
    counts = CaseCountsOut()
    acceptable = AcceptableOut(help_text="Agreed, and not accepted yet")
    preparing = serializers.IntegerField(
        help_text="Conversations that a worker has to merge first: ask again in a moment"
    )
    waiting = serializers.IntegerField(
        help_text="Conversations that refer to labels which have to be decided first"
    )


class AcceptedOut(serializers.Serializer[Any]):
    accepted = serializers.IntegerField()


class CasesView(ApiView):
    scopes = LEADING

    @extend_schema(
        parameters=[CasesIn, LIMIT],
        responses=AdjudicationPageOut,
    )
    def get(self, request: Request, slug: str) -> Response:
        """What is disputed, agreed or decided, lowest agreement first (leads and researchers)."""
        project = access.readable(request.user, slug)
        fields = asked(request, CasesIn)
        layer = _layer(project, fields["layer"])
        workload = adjudications.workload(project, layer)
        if workload.preparing:
            pending.request(project)
        wanted = workload.only(str(fields.get("round", "")), fields["search"].strip())
        most = limit(request)
        behind = workload.place_of(fields.get("after"))
        cases = wanted.cases(fields["tab"], behind=behind, most=most + 1)
        shown = adjudications.with_decisions(layer, cases[:most])
        more, numbers = len(cases) > most, workload.numbers()
        body = {
            "next": address(request, "after", str(shown[-1].conversation)) if more else None,
            "results": [_case(layer, case) for case in shown],
            "counts": {name: numbers[name] for name in TABS},
            "acceptable": _acceptable(workload),
            "preparing": workload.preparing,
            "waiting": workload.waiting,
        }
        return Response(body)


class AcceptView(ApiView):
    scopes = LEADING

    @extend_schema(
        request=AcceptIn,
        responses=AcceptedOut,
    )
    def post(self, request: Request, slug: str) -> Response:
        """Accept what is agreed on a layer, all at once (leads)."""
        project = access.led(request.user, slug)
        fields = sent(request, AcceptIn)
        layer = _layer(project, fields["layer"])
        states = ["unanimous", *(["majority"] if fields["majority"] else [])]
        now = _acceptable(adjudications.workload(project, layer))
        if sum(now[state] for state in states) != fields["expected"]:
            raise adjudications.AnswersChanged("adjudication.answers_changed")
        accepted = adjudications.accept(project, layer, states=states, by=user_of(request))
        return Response({"accepted": accepted})


def _layer(project: Project, name: str) -> str:
    known = merges.layers_of(project)
    if name and name not in known:
        raise serializers.ValidationError({"layer": [f"The project settles {', '.join(known)}."]})
    return name or known[0]


def _acceptable(workload: adjudications.Workload) -> dict[str, int]:
    return {state: len(merges) for state, merges in workload.acceptable().items()}


def _case(layer: str, case: adjudications.Case) -> dict[str, Any]:
    shown = {
        "conversation": case.conversation,
        "external_id": case.external_id,
        "layer": layer,
        "round": case.round,
        "state": case.merge.state,
        "agreement": case.merge.agreement,
        "decision": case.decision,
    }
    return dict(AdjudicationCaseOut(shown).data)
