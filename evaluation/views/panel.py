"""The ratings of one run as those see them who run it: who rates, how far they are, how they agree.

Unlike the pages of the raters they belong to the run, and so show the pipeline's name.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from evaluation.models import AnswerPanel, JudgeCertificate, Kind, RatingPanel, Run
from evaluation.services.judging import answer_ratings, certificates, panels, samples
from evaluation.services.judging.panels import Panel
from evaluation.services.run import ratings, scoring
from evaluation.views.opening import get_run, opened_run
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.domain.numbers import whole_number
from labeling.services import access
from labeling.words import words


class Invitable(NamedTuple):
    user: User
    invited: bool


class DrawableKind(NamedTuple):
    kind: str
    title: str
    left: int
    blocked_by: int | None


class SampleRow(NamedTuple):
    progress: samples.Progress
    kind: str


@require_GET
def run_ratings(request: HttpRequest, pk: int) -> HttpResponse:
    run = opened_run(request, pk)
    panel = RatingPanel.objects.filter(run=run).select_related("run", "closed_by").first()
    context = {
        **_frame(request, run, panel, ratings.why_not_ratable(run)),
        **(_panel_context(panel, request.user) if panel else {}),
    }
    return render(request, "evaluation/run_ratings.html", context)


@require_POST
def run_ratings_change(request: HttpRequest, pk: int) -> HttpResponse:
    run = _led_run(request, pk)
    panel = RatingPanel.objects.filter(run=run).select_related("run__release__project").first()
    action = request.POST.get("action", "")
    if action == "close" and panel and request.POST.get("confirm") != "yes":
        context = {"run": run, "panel": panel, "judges": ratings.judges(panel)}
        return render(request, "evaluation/rating_close.html", context)
    try:
        messages.success(request, _act(action, run, panel, request))
    except RuleError as error:
        messages.error(request, words(error.fact))
    return redirect("run-ratings", run.pk)


@require_GET
def run_answer_ratings(request: HttpRequest, pk: int) -> HttpResponse:
    run = opened_run(request, pk)
    panel = AnswerPanel.objects.filter(run=run).select_related("run__release").first()
    problem = samples.why_not_ratable(run)
    left = {} if problem else samples.available(run)
    context = {
        **_frame(request, run, panel, problem),
        "raters": answer_ratings.raters(panel) if panel else [],
        "required": certificates.requirements(),
        "samples": _samples(panel) if panel else [],
        "drawable": _drawable(run, left),
        "size": min(samples.DEFAULT_SIZE, max(left.values(), default=0)),
    }
    return render(request, "evaluation/run_answer_ratings.html", context)


@require_POST
def run_answer_ratings_change(request: HttpRequest, pk: int) -> HttpResponse:
    run = _led_run(request, pk)
    panel = AnswerPanel.objects.filter(run=run).select_related("run__release__project").first()
    try:
        messages.success(request, _act_on_answers(run, panel, request))
    except RuleError as error:
        messages.error(request, words(error.fact))
    return redirect("run-answer-ratings", run.pk)


def _led_run(request: HttpRequest, pk: int) -> Run:
    run = get_run(request, pk)
    if not access.leads(request.user, run.release.project):
        raise PermissionDenied(_("Only a lead of the project may change its ratings."))
    return run


def _frame(
    request: HttpRequest, run: Run, panel: Panel | None, problem: Fact | None
) -> dict[str, Any]:
    invited = set(panel.invited.values_list("pk", flat=True)) if panel else set()
    people = panels.invitable(panel) if panel else []
    return {
        "run": run,
        "panel": panel,
        "problem": problem,
        "may_write": access.leads(request.user, run.release.project),
        "people": [Invitable(person, invited=person.pk in invited) for person in people],
    }


def _act(action: str, run: Run, panel: RatingPanel | None, request: HttpRequest) -> str:
    if action == "open":
        ratings.open_panel(run, by=request.user)
        return _("The rating is open: pass its link on to the judges.")
    if panel is None or action not in ("invite", "close"):
        raise panels.RatingRefused("rating.unknown_action")
    if action == "invite":
        ratings.invite(panel, request.POST.getlist("judge"), by=request.user)
        return _("The invitations are stored.")
    ratings.close(panel, by=request.user)
    return _("The rating is closed; the figures are being computed for the last time.")


def _drawable(run: Run, left: dict[str, int]) -> list[DrawableKind]:
    """Kinds with something to draw; ``blocked_by`` is the run whose sample is still open."""
    opened = samples.of_project(run.release.project_id).filter(closed_at=None)
    blocking = dict(opened.order_by().values_list("kind", "panel__run"))
    return [
        DrawableKind(kind, str(Kind(kind).label), number, blocking.get(kind))
        for kind, number in left.items()
        if number
    ]


def _samples(panel: AnswerPanel) -> list[SampleRow]:
    drawn = panel.samples.select_related("drawn_by", "closed_by")
    return [SampleRow(done, str(Kind(done.sample.kind).label)) for done in samples.progress(drawn)][
        ::-1
    ]


def _act_on_answers(run: Run, panel: AnswerPanel | None, request: HttpRequest) -> str:
    posted = request.POST
    action = posted.get("action", "")
    if action == "draw":
        size = whole_number(posted.get("size", "")) or 0
        samples.draw(run, size=size, kinds=posted.getlist("kind"), by=request.user)
        return _("The sample is drawn: pass the link on to the raters.")
    if panel is None or action not in ("invite", "close", "give_up"):
        raise panels.RatingRefused("rating.unknown_action")
    if action == "invite":
        answer_ratings.invite(panel, posted.getlist("judge"), by=request.user)
        return _("The invitations are stored.")
    sample = get_object_or_404(panel.samples, pk=whole_number(posted.get("sample", "")) or 0)
    reason = posted.get("reason", "")
    if action == "give_up":
        samples.give_up(sample, by=request.user, reason=reason)
        return _("The sample is given up. It stays listed with its reason.")
    samples.close(sample, by=request.user, reason=reason)
    return _compared(certificates.attempt_all(sample, by=request.user))


def _compared(issued: list[JudgeCertificate]) -> str:
    if not issued:
        return _("The sample is closed. No judge has judged all of it yet.")
    certified = sum(certificate.passed for certificate in issued)
    return _("The sample is closed. Judges compared: {all}; certified: {certified}.").format(
        all=len(issued), certified=certified
    )


def _panel_context(panel: RatingPanel, user: Any) -> dict[str, Any]:
    mine = ratings.rated_by(panel, user)
    sees = (
        ratings.may_see_others(panel, mine) or mine == 0
    )  # a lead who rates nothing is not a judge
    return {
        "mine": mine,
        "sees_others": sees,
        "outdated": panel.is_stale and not scoring.is_current(panel.run),
        "judges": ratings.judges(panel),
        "pairs": ratings.agreement(panel) if sees else [],
    }
