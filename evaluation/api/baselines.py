from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.models import Run
from evaluation.services.run import chosen_baselines
from labeling.api.base import RUNNING, ApiView
from labeling.api.described import extend_schema
from labeling.api.errors import ErrorOut


class BaselineIn(serializers.Serializer[Any]):
    chosen = serializers.BooleanField(
        default=True, help_text="false: this run is no longer the baseline"
    )


class ChosenBaselineOut(serializers.Serializer[Any]):
    run = serializers.IntegerField()
    since = serializers.CharField()
    by = serializers.CharField(allow_null=True)
    number = serializers.IntegerField(help_text="1 for the first choice on this gold and split")
    after_figures_of = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="This run, if its figures could be seen before the baseline was chosen",
    )


class BaselineOut(serializers.Serializer[Any]):
    baseline = ChosenBaselineOut(allow_null=True, help_text="null: nobody chose one")


class RunBaselineView(ApiView):
    scopes = RUNNING

    @extend_schema(responses={200: BaselineOut, 404: ErrorOut})
    def get(self, request: Request, pk: int) -> Response:
        """The chosen baseline of the run's gold and split, since when and by whom."""
        return Response(_shown(_run(request, pk)))

    @extend_schema(request=BaselineIn, responses={200: BaselineOut, 400: ErrorOut, 404: ErrorOut})
    def post(self, request: Request, pk: int) -> Response:
        """Make the run the baseline of its gold and split, or take that back."""
        run = _run(request, pk)
        fields = BaselineIn(data=request.data)
        fields.is_valid(raise_exception=True)
        act = chosen_baselines.choose
        if not fields.validated_data["chosen"]:
            act = chosen_baselines.take_back
        act(run, by=request.user)
        return Response(_shown(run))


def _run(request: Request, pk: int) -> Run:
    visible = Run.objects.visible_to(request.user).select_related("release__project")
    return get_object_or_404(visible, pk=pk)


def _shown(run: Run) -> dict[str, Any]:
    choice = chosen_baselines.choice_on(run.release_id, run.split)
    return {"baseline": choice.as_json([run]) if choice else None}
