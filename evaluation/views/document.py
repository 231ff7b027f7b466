"""The requirements document that a pipeline wrote of one case, next to the conversation."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from evaluation import adapters
from evaluation.layers import gold_layer
from evaluation.layers.end_to_end import SCORE
from evaluation.metrics.document import SECTIONS
from evaluation.services.unmeasured import files
from evaluation.templatetags.present import score_cell
from evaluation.views.opening import opened_case
from evaluation.views.pairs import messages_of
from labeling.core.views.markdown import render_section
from pipelines.requirements.document.files import FORMS
from pipelines.requirements.document.markdown import NUMBER


@require_GET
def case_document(request: HttpRequest, run_pk: int, pk: int) -> HttpResponse:
    """Of required sections that are missing it says so; an empty one is shown as empty."""
    case = opened_case(request, run_pk, pk)
    document = files.document_of(case.output or {}, case.case_id)
    sections = document["sections"] if document else []
    there = {section["id"] for section in sections}
    score = case.scores.filter(metric=SCORE).first()
    context = {
        "run": case.run,
        "case": case,
        "document": document,
        "sections": [
            (each["title"], render_section(each["body"], anchored=NUMBER) if each["body"] else "")
            for each in sections
        ],
        "missing": [name.replace("_", " ") for name in SECTIONS if name not in there],
        "score": score_cell(score, failed=case.state == "failed") if score else None,
        "conversation": messages_of(case),
        "forms": FORMS.values(),
    }
    return render(request, "evaluation/document.html", context)


@require_GET
def case_document_file(request: HttpRequest, run_pk: int, pk: int, form: str) -> HttpResponse:
    """The same as one file, with the conversation at its end."""
    case = opened_case(request, run_pk, pk)
    shape = FORMS.get(form)
    document = files.document_of(case.output or {}, case.case_id)
    if shape is None or document is None:
        raise Http404("No such file was written for this case.")
    messages = adapters.to_case(case, gold_layer(case.run.spec.layer)).messages
    response = HttpResponse(shape.write(document, messages), content_type=shape.content_type)
    name = f"{files.file_stem(case.case_id)}.{form}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
