"""The requirements document that a pipeline wrote of one case, next to the conversation."""

from __future__ import annotations

from typing import NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from evaluation import adapters
from evaluation.layers import MalformedOutput, gold_layer
from evaluation.layers.end_to_end import SCORE, check_document
from evaluation.metrics.document import SECTIONS
from evaluation.models import CaseRun, Run
from evaluation.services import looks
from evaluation.templatetags.present import score_cell
from evaluation.views.unmeasured import unmeasured_document
from labeling.core.views.markdown import render_section
from pipelines.requirements.document.files import FORMS
from pipelines.requirements.document.markdown import NUMBER
from pipelines.requirements.labels import Document


@require_GET
def case_document(request: HttpRequest, run_pk: int, pk: int) -> HttpResponse:
    case = opened_case(request, run_pk, pk)
    document = document_of(case)
    score = case.scores.filter(metric=SCORE).first()
    context = {
        "run": case.run,
        "case": case,
        "document": document,
        "sections": _sections(document) if document else [],
        "missing": _missing(document) if document else [],
        "score": score_cell(score, failed=case.state == "failed") if score else None,
        "conversation": adapters.content_of(case)["conversation"],
    }
    return render(request, "evaluation/document.html", context)


@require_GET
def case_document_file(request: HttpRequest, run_pk: int, pk: int, form: str) -> HttpResponse:
    if Run.objects.filter(pk=run_pk, release__isnull=True).exists():
        return unmeasured_document(request, run_pk, pk, form)
    file = document_file(opened_case(request, run_pk, pk), form)
    if file is None:
        raise Http404("No such file was written for this case.")
    return file


def document_file(case: CaseRun, form: str) -> HttpResponse | None:
    """The same as one file, with the conversation at its end; None where none was written."""
    document = document_of(case)
    if document is None or form not in FORMS:
        return None
    messages = adapters.to_case(case, gold_layer(case.run.release.layer)).messages
    content_type, write = FORMS[form]
    response = HttpResponse(write(document, messages), content_type=content_type)
    name = slugify(case.case_id) or f"case-{case.pk}"
    response["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return response


class ShownSection(NamedTuple):
    title: str
    html: str


def document_of(case: CaseRun) -> Document | None:
    """The document with a title and a text in every section, even if the pipeline left some out."""
    written = (case.output or {}).get("document")
    try:
        check_document(written)
    except MalformedOutput:  # outside of the end-to-end layer nothing has checked it
        return None
    if written is None:
        return None
    return {
        "title": written.get("title") or case.case_id,
        "notice": written.get("notice") or "",
        "sections": [
            {
                "id": section["id"],
                "title": section.get("title") or section["id"],
                "body": (section.get("body") or "").strip(),
            }
            for section in written.get("sections") or []
        ],
    }


def opened_case(request: HttpRequest, run_pk: int, pk: int) -> CaseRun:
    cases = CaseRun.objects.filter(run__in=Run.objects.visible_to(request.user))
    related = cases.select_related("item", "run__release__project")
    case = get_object_or_404(related, run__pk=run_pk, pk=pk)
    looks.require_case(request.user, case)
    return case


def _sections(document: Document) -> list[ShownSection]:
    return [
        ShownSection(
            section["title"],
            render_section(section["body"], anchored=NUMBER) if section["body"] else "",
        )
        for section in document["sections"]
    ]


def _missing(document: Document) -> list[str]:
    """Required sections that are missing; an empty one is shown as empty."""
    there = {section["id"] for section in document["sections"]}
    return [name.replace("_", " ") for name in SECTIONS if name not in there]
