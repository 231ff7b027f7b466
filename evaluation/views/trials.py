"""Pipelines on conversations without gold: begun, followed, read and carried on."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    StreamingHttpResponse,
)
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evaluation import adapters
from evaluation.access import require_reader
from evaluation.models import Trial, TrialCase, Work
from evaluation.services.language_models import bills, budgets
from evaluation.services.trials import adopting, files, trials
from evaluation.views.opening import opened_trial
from evaluation.views.trial_case import context_of
from evaluation.views.trial_form import TrialForm
from labeling.domain.errors import FileFault, RuleError
from labeling.models import Membership, Project
from labeling.services import access
from labeling.views.errors import expects_files
from labeling.views.paging import page_of
from labeling.words import words

STOP_POLLING = 286
SHOWN_CASES = 200
STATUS_BADGES = {"running": "info", "finished": "ok", "stopped": "bad", "cancelled": "warn"}
ROLES = (Membership.Role.LEAD, Membership.Role.RESEARCHER)


@require_GET
def trial_list(request: HttpRequest) -> HttpResponse:
    require_reader(request.user)
    rows = Trial.objects.visible_to(request.user).with_progress()
    rows = rows.select_related("maker", "project")
    page = page_of(rows, order=["-pk"], after=request.GET.get("after"), anchors=Trial.objects.all())
    context = {"page": page, "badges": STATUS_BADGES, "days": trials.KEPT_DAYS}
    return render(request, "evaluation/trials.html", context)


@expects_files
@require_http_methods(["GET", "POST"])
def trial_new(request: HttpRequest) -> HttpResponse:
    require_reader(request.user)
    form = _form(request)
    if request.method == "POST" and form.is_valid():
        trial = form.begin(by=request.user)
        if trial is not None:
            return redirect(trial)
    context = {
        "form": form,
        "days": trials.KEPT_DAYS,
        "most_conversations": trials.MOST_CONVERSATIONS,
        "most_messages": trials.MOST_MESSAGES,
    }
    return render(request, "evaluation/trial_new.html", context, status=422 if form.errors else 200)


@expects_files
@require_POST
def trial_cost(request: HttpRequest) -> HttpResponse:
    """What the trial on the form would cost: asked for at each choice."""
    require_reader(request.user)
    form = _form(request)
    problem, cost = "", ""
    if form.is_valid():
        try:
            cost = bills.estimate(form.estimate())
        except (RuleError, FileFault) as error:
            problem = words(error.fact)
    context = {"cost": cost, "problem": problem}
    return render(request, "evaluation/_trial_cost.html", context)


def _form(request: HttpRequest) -> TrialForm:
    projects = Project.objects.with_role(request.user, *ROLES).order_by("name")
    start = {name: request.GET[name] for name in ("project", "pipeline") if name in request.GET}
    posted = (request.POST, request.FILES) if request.method == "POST" else ()
    return TrialForm(*posted, projects=projects, initial=start)


@require_GET
def trial_page(request: HttpRequest, pk: int) -> HttpResponse:
    trial = opened_trial(request.user, pk)
    is_part = bool(request.htmx)  # type: ignore[attr-defined]
    cases = TrialCase.objects.filter(trial=trial).select_related("conversation").defer("output")
    spent = budgets.spent_on(TrialCase.objects.filter(trial=trial))
    context = {
        "trial": trial,
        "badge": STATUS_BADGES.get(trial.status, ""),
        "cases": cases[:SHOWN_CASES],
        "n_ended": trial.n_done + trial.n_failed,  # type: ignore[attr-defined]
        "more": max(0, trial.n_cases - SHOWN_CASES),  # type: ignore[attr-defined]
        "usage": bills.usage(spent) if spent.calls else [],
        "projects": _led(request, trial),
        "settings": sorted(trial.config.items()),
    }
    if not is_part:
        return render(request, "evaluation/trial.html", context)
    response = render(request, "evaluation/_trial_progress.html", context)
    if not trial.is_open:
        response.status_code = STOP_POLLING
        response["HX-Refresh"] = "true"
    return response


def _led(request: HttpRequest, trial: Trial) -> list[Project]:
    """The projects into which its labels could go."""
    led = Project.objects.with_role(request.user, Membership.Role.LEAD).order_by("name")
    return [project for project in led if adopting.layers_for(trial, project)]


@require_POST
def trial_control(request: HttpRequest, pk: int) -> HttpResponse:
    trial = opened_trial(request.user, pk, reading=False)
    match request.POST.get("action"):
        case "cancel":
            if trials.cancel(trial):
                messages.success(request, _("The trial is cancelled; what is done stays."))
        case "again":
            try:
                trials.again(trial)
                messages.success(request, _("What has no result is tried again."))
            except RuleError as error:
                messages.error(request, words(error.fact))
        case "delete":
            trial.delete()
            messages.success(request, _("The trial and its results are deleted."))
            return redirect("trials")
    return redirect(trial)


@require_POST
def trial_suggest(request: HttpRequest, pk: int) -> HttpResponse:
    trial = opened_trial(request.user, pk)
    project = access.led(request.user, request.POST.get("project", "").replace("\x00", ""))
    try:
        adopted = adopting.adopt(trial, project, by=request.user)
    except RuleError as error:
        messages.error(request, words(error.fact))
        return redirect(trial)
    said = ngettext("{n} suggestion is new", "{n} suggestions are new", adopted.made)
    known = ngettext("{n} was there", "{n} were there", adopted.known)
    new = ngettext(
        "{n} conversation was imported", "{n} conversations were imported", adopted.imported
    )
    parts = [
        said.format(n=adopted.made),
        known.format(n=adopted.known),
        new.format(n=adopted.imported),
    ]
    messages.success(request, "; ".join(parts) + ".")
    for id, why in list(adopted.left_out.items())[:5]:
        messages.warning(request, f"{id}: {words(why)}")
    return redirect("suggestions", project.slug)


@require_GET
def trial_predictions(request: HttpRequest, pk: int) -> HttpResponseBase:
    trial = opened_trial(request.user, pk)
    lines = map(files.prediction_line, trials.predictions_of(trial))
    return _attached(lines, "application/x-ndjson; charset=utf-8", f"trial-{pk}.jsonl")


@require_GET
def trial_labels(request: HttpRequest, pk: int) -> HttpResponseBase:
    trial = opened_trial(request.user, pk)
    lines = files.label_table(trials.predictions_of(trial), trial.layer)
    return _attached(lines, "text/csv; charset=utf-8", f"trial-{pk}.csv")


def _attached(lines: Any, content_type: str, name: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(lines, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_GET
def trial_case(request: HttpRequest, trial_pk: int, pk: int) -> HttpResponse:
    trial = opened_trial(request.user, trial_pk)
    case = _case(trial, pk)
    siblings = TrialCase.objects.filter(trial=trial, state=Work.State.DONE).order_by("pk")
    context = {
        "trial": trial,
        "case": case,
        "forms": files.DOCUMENTS.values(),
        "previous": siblings.filter(pk__lt=pk).last(),
        "next": siblings.filter(pk__gt=pk).first(),
        **context_of(case, trial),
    }
    return render(request, "evaluation/trial_case.html", context)


@require_GET
def trial_document(request: HttpRequest, trial_pk: int, pk: int, ending: str) -> HttpResponseBase:
    file = document_file(opened_trial(request.user, trial_pk), pk, ending)
    if file is None:
        raise Http404("No document was written for this case in this form.")
    return file


def document_file(trial: Trial, pk: int, ending: str) -> HttpResponse | None:
    """None: no document was written for this case, or not in this form."""
    case = _case(trial, pk)
    form = files.DOCUMENTS.get(ending)
    document = files.document_of(case.output or {}, case.case_id)
    if form is None or document is None:
        return None
    content = form.write(document, adapters.messages_of(case.conversation))
    name = f"{files.file_stem(case.case_id)}.{ending}"
    response = HttpResponse(content, content_type=form.content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _case(trial: Trial, pk: int) -> TrialCase:
    rows = TrialCase.objects.filter(trial=trial)
    return get_object_or_404(
        rows.select_related("conversation__conversation__transcript", "trial"), pk=pk
    )
