"""Everybody's labels as files: down for readers, up for leads, never stored without a preview."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from labeling.conversations import uploads
from labeling.core import access
from labeling.core.views.errors import expects_files
from labeling.domain.errors import RuleError
from labeling.exchange import label_exports, label_imports
from labeling.exchange.forms import LabelUploadForm
from labeling.models import Project
from labeling.work import blindness


@require_GET
def label_files(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    return _page(request, project, LabelUploadForm())


@require_GET
def labels_export(request: HttpRequest, slug: str) -> HttpResponseBase:
    return label_exports.download(access.readable(request.user, slug), cast(User, request.user))


@expects_files
@require_POST
def labels_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """A dry run of the file; what it would store is shown with a button that stores it."""
    project = access.led(request.user, slug)
    form = LabelUploadForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, project, form, status=400)
    kept = uploads.keep(form.cleaned_data["file"], **_whose(request, project))
    options = {
        "format": form.cleaned_data["format"],
        "create_annotators": form.cleaned_data["create_annotators"],
        "reason": form.cleaned_data["reason"],
    }
    try:
        report = _import(request, project, kept, options, dry_run=True)
    except RuleError as error:
        uploads.forget(kept)
        return _page(request, project, form, refused=error, status=400)
    context = {"project": project, "report": report, "upload": kept, **options}
    return render(request, "labeling/label_preview.html", context)


@require_POST
def labels_import(request: HttpRequest, slug: str) -> HttpResponse:
    """Store what a preview has shown. The file is checked again: the project may have changed."""
    project = access.led(request.user, slug)
    options = {
        "format": request.POST.get("format", ""),
        "create_annotators": request.POST.get("create_annotators") == "True",
        "reason": request.POST.get("reason", ""),
    }
    try:
        kept = uploads.find(request.POST.get("upload", ""), **_whose(request, project))
        report = _import(request, project, kept, options, dry_run=False)
    except RuleError as error:
        return _page(request, project, LabelUploadForm(), refused=error, status=400)
    uploads.forget(kept)
    messages.success(
        request,
        _("{new} answers are stored, {unchanged} were known.").format(
            new=report.new, unchanged=report.unchanged
        ),
    )
    if report.decisions:
        message = ngettext(
            "{n} decision about them is stored.",
            "{n} decisions about them are stored.",
            report.decisions,
        )
        messages.success(request, message.format(n=report.decisions))
    return redirect("labels", project.slug)


def _whose(request: HttpRequest, project: Project) -> dict[str, Any]:
    return {"project": project, "by": request.user, "purpose": "labels"}


def _import(
    request: HttpRequest,
    project: Project,
    kept: uploads.Upload,
    options: dict[str, Any],
    *,
    dry_run: bool,
) -> label_imports.LabelReport:
    with kept.open() as file:
        return label_imports.import_labels(
            project=project,
            files=[(kept.name, file)],
            dry_run=dry_run,
            by=request.user,  # type: ignore[arg-type]
            **options,
        )


def _page(
    request: HttpRequest,
    project: Project,
    form: LabelUploadForm,
    *,
    refused: RuleError | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "project": project,
        "form": form,
        "refused": refused,
        "answers": label_exports.finished(project, cast(User, request.user)).count(),
        "blind_again": blindness.round_again(request.user, project.conversations.all()),
        "may_write": access.leads(request.user, project),
    }
    return render(request, "labeling/label_files.html", context, status=status)
