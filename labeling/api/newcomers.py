"""Who may do full labeling, by person and layer: calibrating, and letting newcomers in."""

from __future__ import annotations

from typing import Any, TypedDict

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import READING, ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.api.paging import OLDEST_FIRST, PageOut, listed
from labeling.models import Admission, Qualification
from labeling.services import access
from labeling.services.quality import newcomers
from labeling.services.quality.newcomers import LayerResult, Standing
from labeling.services.work import check_turns
from labeling.words import words_of


class LayerAdmissionOut(serializers.Serializer[Any]):
    layer = serializers.CharField()
    admitted = serializers.BooleanField()
    how = serializers.ChoiceField(choices=Admission.How.choices, allow_null=True)
    reason = serializers.CharField(allow_blank=True, help_text="Why a lead let the person in")
    let_in_by = serializers.CharField(allow_null=True)
    at = serializers.DateTimeField(allow_null=True)
    calibrated_at = serializers.DateTimeField(
        allow_null=True, help_text="null: gold says that they had not calibrated"
    )


class LayerResultOut(serializers.Serializer[Any]):
    layer = serializers.CharField()
    outcome = serializers.ChoiceField(choices=["passed", "failed", "not_measured"])
    measure = serializers.CharField(help_text="kappa, or f1 for events")
    value = serializers.FloatField(allow_null=True)
    threshold = serializers.FloatField()
    f1 = serializers.FloatField(allow_null=True, help_text="F1 of matched labels")
    f1_threshold = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_blank=True, help_text="Why there is no value")


class AdmissionOut(serializers.Serializer[Any]):
    user = serializers.CharField()
    full_labeling = serializers.BooleanField(
        help_text="Whether calibration keeps the person from nothing"
    )
    layers = LayerAdmissionOut(many=True, help_text="Those that calibration rounds have passed on")
    state = serializers.ChoiceField(
        choices=["", *Qualification.State.values],
        help_text="Of the last try; empty: none was begun",
    )
    tries = serializers.IntegerField()
    tries_left = serializers.IntegerField()
    answered = serializers.IntegerField(help_text="Conversations of the last try")
    conversations = serializers.IntegerField()
    results = LayerResultOut(many=True, help_text="What the gate said of the last try")


class AdmissionPageOut(PageOut):
    results = AdmissionOut(many=True)


class LayerAdmission(TypedDict):
    layer: str
    admitted: bool
    how: str | None
    reason: str
    let_in_by: str | None
    at: Any
    calibrated_at: Any


class AdmissionsView(ApiView):
    scopes = READING

    @extend_schema(parameters=OLDEST_FIRST, responses={200: AdmissionPageOut, 404: ErrorOut})
    def get(self, request: Request, slug: str) -> Response:
        """Where every annotator is; nobody while no calibration round has passed."""
        project = access.readable(request.user, slug)
        tries = check_turns.plan_of(project).tries
        rows = [_shown(standing, tries) for standing in newcomers.by_person(project)]
        return listed(request, rows, AdmissionOut)


def _shown(standing: Standing, tries: int) -> dict[str, Any]:
    return {
        "user": standing.user.get_username(),
        "full_labeling": standing.is_in,
        "layers": [
            *(_admitted(row) for row in standing.rows),
            *(_missing(layer) for layer in standing.missing),
        ],
        "state": standing.state,
        "tries": standing.tries,
        "tries_left": max(tries - standing.tries, 0),
        "answered": standing.done,
        "conversations": standing.parts,
        "results": [_result(layer, said) for layer, said in standing.results.items()],
    }


def _admitted(row: Admission) -> LayerAdmission:
    return {
        "layer": row.layer,
        "admitted": True,
        "how": row.how,
        "reason": row.reason,
        "let_in_by": row.let_in_by.get_username() if row.let_in_by else None,
        "at": row.at,
        "calibrated_at": row.calibrated_at,
    }


def _missing(layer: str) -> LayerAdmission:
    return {
        "layer": layer,
        "admitted": False,
        "how": None,
        "reason": "",
        "let_in_by": None,
        "at": None,
        "calibrated_at": None,
    }


def _result(layer: str, said: LayerResult) -> dict[str, Any]:
    return {**said, "layer": layer, "reason": words_of(said["reason"])}
