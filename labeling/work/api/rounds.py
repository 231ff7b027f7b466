"""Rounds of labeling: planned, opened and closed by leads."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.core import access
from labeling.core.api.base import LEADING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import PAGING, page, page_of
from labeling.core.api.requests import people, sent, user_of
from labeling.models import Project, Round
from labeling.work import assignments, batches, rounds
from labeling.work.api.round_shapes import RoundIn, RoundOut
from labeling.work.round_counts import counted


class RoundsView(ApiView, scopes=LEADING):
    @extend_schema(parameters=PAGING, responses=page_of(RoundOut))
    def get(self, request: Request, slug: str) -> Response:
        """The rounds of a project, newest first (leads and researchers)."""
        project = access.readable(request.user, slug)
        return page(request, rounds_of(project), RoundOut, by=["-number"], prepared=counted_rows)

    @extend_schema(request=RoundIn, responses={201: RoundOut})
    def post(self, request: Request, slug: str) -> Response:
        """Open a round and hand out its work (leads)."""
        project = access.led(request.user, slug)
        plan = _plan(project, sent(request, RoundIn))
        opened = rounds.open_round(project=project, by=user_of(request), **plan)
        return Response(round_out(opened), status=201)


class RoundView(ApiView, scopes=LEADING):
    @extend_schema(responses=RoundOut)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """One round and how far it is (leads and researchers)."""
        project = access.readable(request.user, slug)
        return Response(round_out(get_object_or_404(rounds_of(project), number=number)))


class CloseView(ApiView, scopes=LEADING):
    @extend_schema(request=None, responses=RoundOut)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """End full labeling: open assignments can no longer be saved (leads)."""
        project = access.led(request.user, slug)
        finished = get_object_or_404(rounds_of(project), number=number)
        rounds.close(finished, by=user_of(request))
        return Response(round_out(finished))


def rounds_of(project: Project) -> QuerySet[Round]:
    return project.rounds.select_related("project")


def round_out(round_: Round) -> Any:
    (row,) = counted_rows([round_])
    return RoundOut(row).data


def counted_rows(rows: list[Round]) -> list[Any]:
    """The rounds as they are now, with how far they are."""
    fresh = {row.pk: row for row in counted(Round.objects.filter(pk__in=[row.pk for row in rows]))}
    return [fresh[row.pk] for row in rows]


def _plan(project: Project, wanted: dict[str, Any]) -> dict[str, Any]:
    """What the service takes: rows in place of names."""
    drawn = {name: wanted.pop(name) for name in ("conversations", "number", "split", "domain")}
    chosen = batches.chosen(project, **drawn, seed=wanted["seed"], same_as=wanted.pop("same_as"))
    annotators = _annotators(project, wanted.pop("annotators"))
    return {**wanted, "conversations": chosen, "annotators": annotators}


def _annotators(project: Project, names: list[str] | None) -> Any:
    return None if names is None else people("annotators", names, assignments.annotators(project))
