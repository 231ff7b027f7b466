"""The ratings of one run as those see them who run it: samples, who rates, how they agree.

Unlike the pages of the raters they belong to the run, and so show the pipeline's name.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from evaluation.models import JudgeCertificate, RatingKind, RatingPanel, Run
from evaluation.services.judging import certificates, ratings, samples
from evaluation.services.judging.samples import NEED
from evaluation.views.opening import get_run, opened_run
from labeling.core import access
from labeling.core.views.access import refusals_told
from labeling.domain.msgids import msgid
from labeling.domain.numbers import whole_number


@require_GET
def run_ratings(request: HttpRequest, pk: int) -> HttpResponse:
    run = opened_run(request, pk)
    panel = RatingPanel.objects.filter(run=run).select_related("run__release").first()
    problem = samples.why_not_ratable(run)
    context = {
        "run": run,
        "panel": panel,
        "problem": problem,
        "may_write": access.leads(request.user, run.release.project),
        "of_answers": NEED not in samples.kinds_of(run),
        "required": certificates.requirements(),
        "drawable": [] if problem else _drawable(run),
        "size": samples.DEFAULT_SIZE,
        **(_of_panel(panel) if panel else {}),
    }
    return render(request, "evaluation/run_ratings.html", context)


@require_POST
def run_ratings_change(request: HttpRequest, pk: int) -> HttpResponse:
    run = get_run(request, pk)
    if not access.leads(request.user, run.release.project):
        raise PermissionDenied(_("Only a lead of the project may change its ratings."))
    panel = RatingPanel.objects.filter(run=run).select_related("run__release__project").first()
    with refusals_told(request):
        messages.success(request, _act(run, panel, request))
    return redirect("run-ratings", run.pk)


def _of_panel(panel: RatingPanel) -> dict[str, Any]:
    drawn = list(panel.samples.select_related("panel", "drawn_by", "closed_by"))
    rows = [
        {"progress": done, "kind": str(RatingKind(done.sample.kind).label)}
        for done in samples.progress(drawn)
    ]
    closed = [sample for sample in drawn if sample.kind == NEED and sample.closed_at]
    invited = set(panel.invited.values_list("pk", flat=True))
    return {
        "samples": rows[::-1],
        "raters": ratings.raters(panel),
        "pairs": ratings.agreement(closed[0]) if closed else [],
        "people": [
            {"user": person, "invited": person.pk in invited} for person in ratings.invitable(panel)
        ],
    }


def _drawable(run: Run) -> list[dict[str, Any]]:
    """Kinds with something to draw; ``blocked_by`` is the run whose sample is still open."""
    opened = samples.of_project(run.release.project_id).filter(closed_at=None).exclude(kind=NEED)
    blocking = dict(opened.order_by().values_list("kind", "panel__run"))
    return [
        {
            "kind": kind,
            "title": str(RatingKind(kind).label),
            "left": number,
            "blocked_by": blocking.get(kind),
        }
        for kind, number in samples.available(run).items()
        if number
    ]


def _act(run: Run, panel: RatingPanel | None, request: HttpRequest) -> str:
    posted = request.POST
    action = posted.get("action", "")
    if action == "draw":
        size = whole_number(posted.get("size", "")) or 0
        samples.draw(run, size=size, kinds=posted.getlist("kind"), by=request.user)
        return _("The sample is drawn: pass the link on to the raters.")
    if panel is None or action not in ("invite", "close", "give_up"):
        raise samples.RatingRefused(msgid("There is no such action."))
    if action == "invite":
        ratings.invite(panel, posted.getlist("judge"), by=request.user)
        return _("The invitations are stored.")
    sample = get_object_or_404(panel.samples, pk=whole_number(posted.get("sample", "")) or 0)
    reason = posted.get("reason", "")
    if action == "give_up":
        samples.give_up(sample, by=request.user, reason=reason)
        return _("The sample is given up. It stays listed with its reason.")
    samples.close(sample, by=request.user, reason=reason)
    if sample.kind == NEED:
        return _("The sample is closed; the figures are computed with its ratings.")
    return _compared(certificates.attempt_all(sample, by=request.user))


def _compared(issued: list[JudgeCertificate]) -> str:
    if not issued:
        return _("The sample is closed. No judge has judged all of it yet.")
    certified = sum(certificate.passed for certificate in issued)
    return _("The sample is closed. Judges compared: {all}; certified: {certified}.").format(
        all=len(issued), certified=certified
    )
