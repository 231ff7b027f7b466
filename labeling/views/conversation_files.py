"""Conversations out of a file that a lead uploads, never stored without a preview."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from labeling.domain.errors import RuleError
from labeling.domain.exchange.importing import EXAMPLE
from labeling.forms.conversations import ConversationStoreForm, ConversationUploadForm
from labeling.models import Project
from labeling.services.exchange import conversations, uploads
from labeling.views import access


@require_GET
def conversations_import(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.led(request.user, slug)
    return _page(request, project, ConversationUploadForm())


@require_POST
def conversations_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """A dry run of the file; what it would store is shown with a button that stores it."""
    project = access.led(request.user, slug)
    form = ConversationUploadForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, project, form, status=400)
    kept = uploads.keep(form.cleaned_data.pop("file"), **_whose(request, project))
    try:
        report = _import(request, project, kept, form.cleaned_data, dry_run=True)
    except RuleError as error:
        uploads.forget(kept)
        return _page(request, project, form, refused=error, status=400)
    context = {
        "project": project,
        "report": report,
        "upload": kept,
        "split": form.cleaned_data["split"],
        "confirm": ConversationStoreForm(initial={**form.cleaned_data, "upload": kept.key}),
    }
    return render(request, "labeling/conversations_preview.html", context)


@require_POST
def conversations_store(request: HttpRequest, slug: str) -> HttpResponse:
    """Store what a preview has shown. The file is checked again: the project may have changed."""
    project = access.led(request.user, slug)
    form = ConversationStoreForm(request.POST)
    if not form.is_valid():
        return _page(request, project, ConversationUploadForm(request.POST), status=400)
    try:
        kept = uploads.find(form.cleaned_data.pop("upload"), **_whose(request, project))
        report = _import(request, project, kept, form.cleaned_data, dry_run=False)
    except RuleError as error:
        return _page(request, project, ConversationUploadForm(), refused=error, status=400)
    uploads.forget(kept)
    message = ngettext(
        "{new} conversation is stored, {unchanged} were known.",
        "{new} conversations are stored, {unchanged} were known.",
        report.new,
    )
    messages.success(request, message.format(new=report.new, unchanged=report.unchanged))
    return redirect("conversations", project.slug)


def _whose(request: HttpRequest, project: Project) -> dict[str, Any]:
    return {"project": project, "by": request.user, "purpose": "conversations"}


def _import(
    request: HttpRequest,
    project: Project,
    kept: uploads.Upload,
    options: dict[str, str],
    *,
    dry_run: bool,
) -> conversations.ImportReport:
    with kept.open() as file:
        return conversations.import_files(
            project_slug=project.slug,
            files=[(kept.name, file)],
            dry_run=dry_run,
            actor=request.user,
            **options,
        )


def _page(
    request: HttpRequest,
    project: Project,
    form: ConversationUploadForm,
    *,
    refused: RuleError | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {"project": project, "form": form, "refused": refused, "example": EXAMPLE}
    return render(request, "labeling/conversations_import.html", context, status=status)
