"""Runs without gold: begun on conversations, read, and taken over as suggestions."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from evaluation import adapters
from evaluation.forms import BudgetForm
from evaluation.models import CaseRun, Run
from evaluation.services.unmeasured import adopting, files, launching, predicting
from evaluation.views.live import progress_of
from evaluation.views.opening import opened_unmeasured
from evaluation.views.unmeasured_case import context_of
from labeling.core import access
from labeling.domain.errors import RuleError
from labeling.models import Membership, Project
from labeling.words import words

SHOWN_CASES = 200


def unmeasured_page(request: HttpRequest, run: Run) -> HttpResponse:
    """The page of a run without gold, in place of the one with figures."""
    opened_unmeasured(request.user, run.pk)
    progress = progress_of(run)
    cases = launching.cases_of(run).select_related("talk").defer("talk__text")
    context = {
        **progress,
        "rows": [_row(run, case) for case in cases[:SHOWN_CASES]],
        "questions": run.spec.questions,
        "more": max(0, progress["n_cases"] - SHOWN_CASES),
        "projects": _led(request, run),
        "settings": sorted(run.config.items()),
        "budget_form": BudgetForm() if run.paused and run.spec.model else None,
    }
    return render(request, "evaluation/unmeasured_run.html", context)


class CaseRow(NamedTuple):
    case: CaseRun
    question: str
    n_labels: int


def _row(run: Run, case: CaseRun) -> CaseRow:
    counted = predicting.counted(case.output, run.spec.layer) if case.output else {}
    question = run.spec.questions.get(case.part, "")
    return CaseRow(case, question, sum(counted.values()))


def _led(request: HttpRequest, run: Run) -> list[Project]:
    """The projects into which its labels could go."""
    led = Project.objects.with_role(request.user, Membership.Role.LEAD).order_by("name")
    return [project for project in led if adopting.layers_for(run, project)]


@require_POST
def run_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Before it expires; a run on gold stays."""
    run = opened_unmeasured(request.user, pk, reading=False)
    if request.POST.get("confirm") != "yes":
        return redirect(run)
    run.delete()
    messages.success(request, _("The run and its results are deleted."))
    return redirect("runs")


@require_POST
def run_suggest(request: HttpRequest, pk: int) -> HttpResponse:
    run = opened_unmeasured(request.user, pk)
    project = access.led(request.user, request.POST.get("project", "").replace("\x00", ""))
    try:
        adopted = adopting.adopt(run, project, by=request.user)
    except RuleError as error:
        messages.error(request, words(error.fact))
        return redirect(run)
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
def run_outputs(request: HttpRequest, pk: int) -> HttpResponseBase:
    run = opened_unmeasured(request.user, pk)
    lines = map(files.prediction_line, launching.predictions_of(run))
    return _attached(lines, "application/x-ndjson; charset=utf-8", f"run-{pk}.jsonl")


@require_GET
def run_labels(request: HttpRequest, pk: int) -> HttpResponseBase:
    run = opened_unmeasured(request.user, pk)
    lines = files.label_table(launching.predictions_of(run), run.spec.layer)
    return _attached(lines, "text/csv; charset=utf-8", f"run-{pk}.csv")


def _attached(lines: Any, content_type: str, name: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(lines, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def unmeasured_case(request: HttpRequest, run_pk: int, pk: int) -> HttpResponse:
    run = opened_unmeasured(request.user, run_pk)
    case = _case(run, pk)
    siblings = launching.done_cases(run)
    context = {
        "run": run,
        "case": case,
        "question": run.spec.questions.get(case.part, ""),
        "forms": files.DOCUMENTS.values(),
        "previous": siblings.filter(pk__lt=pk).last(),
        "next": siblings.filter(pk__gt=pk).first(),
        **context_of(case, run.spec.layer),
    }
    return render(request, "evaluation/unmeasured_case.html", context)


def unmeasured_document(request: HttpRequest, run_pk: int, pk: int, form: str) -> HttpResponse:
    case = _case(opened_unmeasured(request.user, run_pk), pk)
    shape = files.DOCUMENTS.get(form)
    document = files.document_of(case.output or {}, case.case_id)
    if shape is None or document is None or case.talk is None:
        raise Http404("No document was written for this case in this form.")
    content = shape.write(document, adapters.messages_of(case.talk))
    response = HttpResponse(content, content_type=shape.content_type)
    name = f"{files.file_stem(case.case_id)}.{form}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _case(run: Run, pk: int) -> CaseRun:
    rows = CaseRun.objects.filter(run=run).select_related("talk__conversation__transcript", "run")
    return get_object_or_404(rows, pk=pk)
