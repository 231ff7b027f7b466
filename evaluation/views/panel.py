"""The rating of one run as those see it who run it: who judges, how far they are, how they agree.

Unlike the page of the judges it stands beside the run, and so with the pipeline's name.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from evaluation.models import RatingPanel, Run
from evaluation.services import ratings as service
from evaluation.services import scoring
from evaluation.views.run import get_run
from labeling.domain.errors import RuleError
from labeling.translation import translated
from labeling.views import access


@require_GET
def run_ratings(request: HttpRequest, pk: int) -> HttpResponse:
    run = get_run(request, pk)
    panel = RatingPanel.objects.filter(run=run).select_related("run", "closed_by").first()
    context = {
        "run": run,
        "panel": panel,
        "problem": service.why_not_ratable(run),
        "may_write": access.leads(request.user, run.release.project),
        **(_panel_context(panel, request.user) if panel else {}),
    }
    return render(request, "evaluation/run_ratings.html", context)


@require_POST
def run_ratings_change(request: HttpRequest, pk: int) -> HttpResponse:
    run = get_run(request, pk)
    if not access.leads(request.user, run.release.project):
        raise PermissionDenied(_("Only a lead of the project may change its ratings."))
    panel = RatingPanel.objects.filter(run=run).select_related("run__release__project").first()
    action = request.POST.get("action", "")
    if action == "close" and panel and request.POST.get("confirm") != "yes":
        context = {"run": run, "panel": panel, "judges": service.judges(panel)}
        return render(request, "evaluation/rating_close.html", context)
    try:
        messages.success(request, _act(action, run, panel, request))
    except RuleError as error:
        messages.error(request, translated(error.message))
    return redirect("run-ratings", run.pk)


def _act(action: str, run: Run, panel: RatingPanel | None, request: HttpRequest) -> str:
    if action == "open":
        service.open_panel(run, by=request.user)
        return _("The rating is open: pass its link on to the judges.")
    if panel is None or action not in ("invite", "close"):
        raise service.RatingRefused("There is no such action.")
    if action == "invite":
        service.invite(panel, request.POST.getlist("judge"), by=request.user)
        return _("The invitations are stored.")
    service.close(panel, by=request.user)
    return _("The rating is closed; the figures are being computed for the last time.")


def _panel_context(panel: RatingPanel, user: Any) -> dict[str, Any]:
    mine = service.rated_by(panel, user)
    sees = service.may_see_others(panel, mine) or mine == 0  # who only runs it is no judge
    invited = set(panel.invited.values_list("pk", flat=True))
    return {
        "mine": mine,
        "sees_others": sees,
        "outdated": panel.is_stale and not scoring.is_current(panel.run),
        "judges": service.judges(panel),
        "pairs": service.agreement(panel) if sees else [],
        "people": [{"user": one, "invited": one.pk in invited} for one in service.invitable(panel)],
    }
