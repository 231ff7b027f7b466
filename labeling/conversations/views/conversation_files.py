"""Conversations out of files that a lead uploads, never stored without a preview."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from labeling.conversations import conversations, previews, uploads
from labeling.conversations.formats.tables import NO_COLUMN
from labeling.conversations.formats.talks import (
    ENCODINGS,
    EVERYBODY_ELSE,
    LEFT_OUT,
    NOT_A_SPEAKER,
    HowToRead,
)
from labeling.conversations.forms.conversations import (
    TITLES,
    ChosenReading,
    ConversationStoreForm,
    ConversationUploadForm,
    how_chosen,
)
from labeling.conversations.rules.importing import EXAMPLE
from labeling.core import access
from labeling.core.views.errors import expects_files
from labeling.domain.errors import RuleError
from labeling.models import Conversation, Project
from labeling.translation import lazy
from labeling.words import words

SHOWN_LEFT_OUT = 10

ROLES = {
    "user": lazy("user, client"),
    "analyst": lazy("analyst, interviewer"),
    "assistant": lazy("assistant"),
    "participant": lazy("someone else"),
    LEFT_OUT: lazy("skip these messages"),
    NOT_A_SPEAKER: lazy("not a speaker"),
}
USES = {
    "conversation": lazy("Conversation"),
    "speaker": lazy("Speaker"),
    "role": lazy("Role"),
    "text": lazy("Text"),
    "time": lazy("Time"),
    "order": lazy("Order"),
}


@require_GET
def conversations_import(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.led(request.user, slug)
    return _page(request, project, ConversationUploadForm())


@expects_files
@require_POST
def conversations_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """A dry run of new files, or of kept ones that shall be read in another way."""
    project = access.led(request.user, slug)
    if "upload" in request.POST:
        again = ConversationStoreForm(request.POST)
        if not again.is_valid():
            return _page(request, project, ConversationUploadForm(), status=400)
        try:
            kept = _found(request, project, again.keys)
            for upload in [each for each in kept if each.key == request.POST.get("without")]:
                kept.remove(upload)
                uploads.forget(upload)
        except RuleError as error:
            return _page(request, project, ConversationUploadForm(), refused=error, status=400)
        if not kept:
            return redirect("conversations-import", project.slug)
        return _preview(request, project, kept, again.cleaned_data, how_chosen(request.POST))
    form = ConversationUploadForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, project, form, status=400)
    files = form.cleaned_data["file"]
    kept = [uploads.keep(file, **_whose(request, project)) for file in files]
    return _preview(request, project, kept, form.cleaned_data, HowToRead())


def _preview(
    request: HttpRequest,
    project: Project,
    kept: Sequence[uploads.Upload],
    options: dict[str, Any],
    how: HowToRead,
) -> HttpResponse:
    asked = {"format": options["format"], "split": options["split"]}
    leave_out = options.get("leave_out") or conversations.UNREADABLE
    report, refused = None, None
    try:
        report = _import(
            request, project, kept, how=how, dry_run=True, leave_out=leave_out, **asked
        )
    except RuleError as error:
        refused = error
    shown = previews.look_at(_opened(kept), format=asked["format"], how=how)
    written = ChosenReading.model_validate(how, from_attributes=True).model_dump_json()
    keys = [upload.key for upload in kept]
    context = {
        "project": project,
        "report": report,
        "refused": refused,
        "uploads": kept,
        "shown": shown,
        "split": asked["split"],
        "splits": Conversation.Split.choices,
        "format": asked["format"],
        "titles": TITLES.items(),
        "formats": [TITLES.get(name, name) for name in shown.formats],
        "tables": [
            (table, [(what, title, table.columns.get(what, "")) for what, title in USES.items()])
            for table in shown.tables.values()
        ],
        "leave_out": leave_out,
        "may_leave_out_more": refused is not None and leave_out != conversations.CONFLICTS,
        "conflicts": conversations.CONFLICTS,
        "encodings": ENCODINGS,
        "encoding": how.encoding,
        "no_column": NO_COLUMN,
        "roles": [
            (value, title)
            for value, title in ROLES.items()
            if value != NOT_A_SPEAKER
            or {"transcript", "vtt", "srt", "ass", "whatsapp"} & set(shown.formats)
        ],
        "everybody_else": EVERYBODY_ELSE,
        "role_of_others": how.roles.get(EVERYBODY_ELSE, ""),
        "confirm": {**asked, "upload": keys, "how": written},
    }
    status = 400 if refused else 200
    return render(request, "labeling/conversations_preview.html", context, status=status)


@require_POST
def conversations_store(request: HttpRequest, slug: str) -> HttpResponse:
    """Store what a preview has shown. The files are checked again: the project may have changed."""
    project = access.led(request.user, slug)
    form = ConversationStoreForm(request.POST)
    if not form.is_valid():
        return _page(request, project, ConversationUploadForm(), status=400)
    try:
        kept = _found(request, project, form.keys)
        asked = {**form.cleaned_data}
        asked["leave_out"] = asked["leave_out"] or conversations.NOTHING
        report = _import(request, project, kept, dry_run=False, **asked)
    except RuleError as error:
        return _page(request, project, ConversationUploadForm(), refused=error, status=400)
    for upload in kept:
        uploads.forget(upload)
    message = ngettext(
        "{new} conversation imported.", "{new} conversations imported.", report.new
    ).format(new=report.new)
    if report.unchanged:
        message += " " + _("{number} were stored already.").format(number=report.unchanged)
    if report.n_refused or report.n_left_out:
        message += " " + _(
            "Conversations or files left out: {wholes}. Messages or values left out: {parts}."
        ).format(wholes=report.n_refused, parts=report.n_left_out)
    messages.success(request, message)
    for each in report.left_out[:SHOWN_LEFT_OUT]:
        if each.is_whole:
            messages.warning(request, words(each.fact))
    if not project.rounds.exists():
        return redirect(project)  # which says what comes next
    return redirect("conversations", project.slug)


def _whose(request: HttpRequest, project: Project) -> dict[str, Any]:
    return {"project": project, "by": request.user, "purpose": "conversations"}


def _found(request: HttpRequest, project: Project, keys: Sequence[str]) -> list[uploads.Upload]:
    if not keys:
        raise uploads.UploadGone("upload.gone")
    return [uploads.find(key, **_whose(request, project)) for key in keys]


def _opened(kept: Sequence[uploads.Upload]) -> Iterator[tuple[str, BinaryIO]]:
    for upload in kept:
        with upload.open() as file:
            yield upload.name, file


def _import(
    request: HttpRequest, project: Project, kept: Sequence[uploads.Upload], **options: Any
) -> conversations.ImportReport:
    return conversations.import_files(
        project_slug=project.slug, files=_opened(kept), actor=request.user, **options
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
