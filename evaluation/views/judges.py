"""Judges of answers: what each is worth, and every attempt to certify it."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from evaluation.access import require_reader
from evaluation.metrics.judges import REQUIRED
from evaluation.models import Kind
from evaluation.services.judging import certificates, judges, samples
from evaluation.services.judging.judges import Judge
from labeling.core import access
from labeling.models import Membership, Project
from labeling.translation import lazy
from labeling.words import words

BADGES = {
    judges.VALID: ("ok", lazy("valid")),
    judges.EXPIRED: ("warn", lazy("expired")),
    judges.REFUSED: ("bad", lazy("refused")),
    judges.UNKNOWN: ("", lazy("no certificate")),
}


@require_GET
def judge_list(request: HttpRequest) -> HttpResponse:
    require_reader(request.user)
    roles = (Membership.Role.LEAD, Membership.Role.RESEARCHER)
    seen = judges.seen(Project.objects.with_role(request.user, *roles))
    context = {"rows": [_row(judge) for judge in seen], "required": REQUIRED}
    return render(request, "evaluation/judges.html", context)


@require_GET
def judge_page(request: HttpRequest, slug: str, kind: str, sha256: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    judge = judges.find(project, kind, sha256)
    if judge is None:
        raise Http404
    rows = certificates.of_judge(judge.key).select_related("issued_by", "sample")
    looks = [(look, [words(why) for why in certificates.reasons_of(look)]) for look in rows]
    drawn = samples.of_project(judge.key.project).filter(kind=judge.key.kind).order_by("-pk")
    context = {
        "project": project,
        "row": _row(judge),
        "newest": looks[0][0] if looks else None,
        "looks": looks,
        # of the project for this kind, also those that it was not compared on
        "samples": samples.progress(drawn.select_related("panel", "drawn_by", "closed_by")),
        "next": certificates.missing(judge.key),
    }
    return render(request, "evaluation/judge.html", context)


def _row(judge: Judge) -> dict[str, Any]:
    badge, state = BADGES[judge.state]
    kind, reasons = str(Kind(judge.key.kind).label), _reasons(judge)
    return {"judge": judge, "kind": kind, "badge": badge, "state": state, "reasons": reasons}


def _reasons(judge: Judge) -> list[str]:
    if judge.state == judges.EXPIRED:
        return [
            _(
                "Model, settings, prompt or parser have changed since: another judge has judged "
                "the last run."
            )
        ]
    if judge.state == judges.UNKNOWN or judge.certificate is None:
        return [_("It was not yet compared with people.")]
    return [words(reason) for reason in certificates.reasons_of(judge.certificate)]
