"""Who may do full labeling, by person and layer: calibrating, and letting newcomers in."""

from __future__ import annotations

from typing import Any, TypedDict

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.api.base import LEADING, OWN_WORK, READING, ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut
from labeling.api.paging import OLDEST_FIRST, PageOut, listed
from labeling.api.requests import sent, user_of
from labeling.models import Admission, Membership, Project, Qualification
from labeling.services import access
from labeling.services.quality import newcomers
from labeling.services.quality.newcomers import LayerResult, Standing
from labeling.services.work import assignments, check_turns
from labeling.words import words_of

Role = Membership.Role


class LetInIn(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=4000, help_text="Gold and the audit log keep it")


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


class CalibrationOut(AdmissionOut):
    assignments = serializers.ListField(
        child=serializers.IntegerField(), help_text="To answer now, in order"
    )


class LayerAdmission(TypedDict):
    layer: str
    admitted: bool
    how: str | None
    reason: str
    let_in_by: str | None
    at: Any
    calibrated_at: Any


class OwnCalibrationView(ApiView):
    """One's own calibration in a project."""

    scopes = OWN_WORK

    @extend_schema(responses={200: CalibrationOut, 404: ErrorOut})
    def get(self, request: Request, slug: str) -> Response:
        """Where I am: what I may do full labeling of, and how my last try went."""
        return self._answer(user_of(request), access.any_role(request.user, slug))

    @extend_schema(request=None, responses={200: CalibrationOut, 400: ErrorOut, 404: ErrorOut})
    def post(self, request: Request, slug: str) -> Response:
        """Begin to calibrate, or try again; a try under way goes on."""
        user, project = user_of(request), access.any_role(request.user, slug)
        newcomers.begin(project, user)
        return self._answer(user, project)

    def _answer(self, user: User, project: Project) -> Response:
        waiting = newcomers.parts_of(user, project).exclude(newcomers.DONE)
        body = _admission(user, project) | {
            "assignments": list(waiting.values_list("pk", flat=True))
        }
        return Response(CalibrationOut(body).data)


class AdmissionsView(ApiView):
    scopes = READING

    @extend_schema(parameters=OLDEST_FIRST, responses={200: AdmissionPageOut, 404: ErrorOut})
    def get(self, request: Request, slug: str) -> Response:
        """Where every annotator is; nobody while no calibration round has passed."""
        project = access.readable(request.user, slug)
        tries = check_turns.plan_of(project).tries
        rows = [_shown(standing, tries) for standing in newcomers.by_person(project)]
        return listed(request, rows, AdmissionOut)


class AdmissionView(ApiView):
    """One annotator of a project, by user name."""

    scopes = LEADING

    @extend_schema(responses={200: AdmissionOut, 404: ErrorOut})
    def get(self, request: Request, slug: str, username: str) -> Response:
        project = access.readable(request.user, slug)
        person = get_object_or_404(assignments.annotators(project), username=username)
        return Response(AdmissionOut(_admission(person, project)).data)

    @extend_schema(
        request=LetInIn,
        responses={200: AdmissionOut, 400: ErrorOut, 403: ErrorOut, 404: ErrorOut},
    )
    def post(self, request: Request, slug: str, username: str) -> Response:
        """Let the person do full labeling without calibration, on all layers (leads)."""
        project, person = _led(request, slug, username)
        newcomers.let_in(project, person, by=user_of(request), **sent(request, LetInIn))
        return Response(AdmissionOut(_admission(person, project)).data)


class AnotherTryView(ApiView):
    scopes = LEADING

    @extend_schema(request=None, responses={200: AdmissionOut, 403: ErrorOut, 404: ErrorOut})
    def post(self, request: Request, slug: str, username: str) -> Response:
        """Allow another try after the last one (leads); changes nothing where one is left."""
        project, person = _led(request, slug, username)
        newcomers.allow_another_try(project, person, by=user_of(request))
        return Response(AdmissionOut(_admission(person, project)).data)


def _admission(user: User, project: Project) -> dict[str, Any]:
    standing = newcomers.in_project(project, user)
    tries = check_turns.plan_of(project).tries
    if standing is None:  # nobody has to calibrate yet
        standing = Standing(user, project, [], [], "", 0, 0, 0, {})
    return _shown(standing, tries)


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


def _led(request: Request, slug: str, username: str) -> tuple[Project, User]:
    project = access.readable(request.user, slug)
    if Role.LEAD not in project.roles_of(request.user):
        raise PermissionDenied("Only a lead of the project decides who is let in.")
    return project, get_object_or_404(assignments.annotators(project), username=username)
