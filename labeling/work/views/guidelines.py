from __future__ import annotations

from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from labeling.agreement import discussions
from labeling.core import access
from labeling.core.rules.line_diffs import DiffLine, compare
from labeling.core.views.access import form_page, person, refusals_in, refusals_told
from labeling.core.views.markdown import render_markdown
from labeling.domain.numbers import whole_number
from labeling.models import (
    Assignment,
    Conversation,
    Disagreement,
    Guideline,
    GuidelineReason,
    Project,
    Round,
)
from labeling.schema import LAYERS
from labeling.translation import lazy
from labeling.work import blindness
from labeling.work import guidelines as service
from labeling.work.forms.guidelines import MOST_CHARACTERS, GuidelineForm
from labeling.work.guideline_starters import starter_for
from labeling.work.views.guideline_worklist import open_checks

WRITTEN = lazy("Version {version} is written. New rounds follow it.")


class Because(NamedTuple):
    """A disagreement that led to a version; ``message`` or ``layer`` say what it was about."""

    conversation: str
    message: str
    layer: str
    round: int
    query: str


@require_GET
def guidelines(request: HttpRequest, slug: str, version: int | None = None) -> HttpResponse:
    """The newest version, or the one asked for, with what it changed."""
    project = access.any_role(request.user, slug)
    versions = list(project.guidelines.select_related("created_by").defer("body"))
    shown = _shown(project, versions, version)
    context = {
        "project": project,
        "versions": versions,
        "shown": shown,
        "html": render_markdown(shown.body) if shown else "",
        "diff": _changes(project, shown),
        "reads": access.reads(request.user, project),
        "may_write": access.leads(request.user, project),
        "discussions": list(_discussed(request.user, project)[:10]),
        "reasons": _reasons(request.user, project, shown),
    }
    if context["reads"]:
        context["open_checks"] = open_checks(project)
    return render(request, "labeling/guidelines.html", context)


@require_http_methods(["GET", "POST"])
def guideline_new(request: HttpRequest, slug: str) -> HttpResponse:
    project = access.led(request.user, slug)
    newest = project.guidelines.first()
    user = person(request)
    asked = _disagreement(user, project, request.GET.get("disagreement"))
    draft = _draft(asked) if asked else ""
    initial = {
        "body": (newest.body if newest else starter_for(project.layers)) + draft,
        "base_version": newest.version if newest else 0,
        "summary": "" if newest else _("The first version"),
        "because": [asked.pk] if asked else [],
    }
    form = GuidelineForm(
        request.POST or None, disagreements=service.to_answer(project, user, asked), initial=initial
    )
    only_preview = "preview" in request.POST
    if only_preview and request.htmx:  # type: ignore[attr-defined]
        return HttpResponse(render_markdown(request.POST.get("body", "")[:MOST_CHARACTERS]))
    if request.method == "POST" and not only_preview and form.is_valid():
        with refusals_in(form):
            added = service.add_version(project=project, by=user, **form.cleaned_data)
            messages.success(request, WRITTEN.format(version=added.version))
            return redirect("guideline", project.slug, added.version)
    html = render_markdown((form["body"].value() or "")[:MOST_CHARACTERS])
    context = {"project": project, "newest": newest, "html": html}
    status = 200 if only_preview else 0
    return form_page(request, "guideline_new", form, status=status, **context)


@require_POST
def guideline_start(request: HttpRequest, slug: str) -> HttpResponse:
    """The first version, as the text to start from has it."""
    project = access.led(request.user, slug)
    with refusals_told(request):
        service.add_version(
            project=project,
            by=person(request),
            body=starter_for(project.layers),
            summary=_("The first version"),
            base_version=0,
        )
        messages.success(request, WRITTEN.format(version=1))
    return redirect(project)


def _discussed(user: Any, project: Project) -> QuerySet[Round]:
    """The closed rounds that the user has labeled, newest first."""
    mine = Assignment.objects.answered_by(user).filter(round__project=project).order_by()
    rounds = project.rounds.filter(pk__in=mine.values("round")).exclude(state=Round.State.OPEN)
    return rounds.only("number", "kind").order_by("-number")


def _reasons(user: Any, project: Project, shown: Guideline | None) -> list[Because]:
    """The disagreements that led to the version, as far as the user may read about them now."""
    rows = GuidelineReason.objects.filter(guideline=shown)
    if not access.reads(user, project):
        rows = rows.filter(disagreement__round__in=_discussed(user, project).order_by())
    rows = rows.exclude(disagreement__conversation__in=blindness.again(user)).order_by("pk")
    rows = rows.select_related("disagreement__conversation", "disagreement__round")
    return [_because(row.disagreement) for row in rows]


def _because(row: Disagreement) -> Because:
    place = discussions.UnitPlace(row.conversation_id, int(row.unit), row.layer)
    layer = LAYERS[row.layer]
    return Because(
        conversation=row.conversation.external_id,
        message=row.unit if layer.by_message else "",
        layer="" if layer.by_message else layer.title,
        round=row.round.number,
        query=urlencode({"layer": row.layer, "at": str(place)}),
    )


def _disagreement(user: User, project: Project, asked: str | None) -> Disagreement | None:
    number = whole_number(asked or "")
    if number is None:
        return None
    disagreements = service.named_in_disagreements(project).select_related("conversation")
    row = get_object_or_404(disagreements.select_related("round__project"), pk=number)
    blindness.refuse(user, Conversation.objects.filter(pk=row.conversation_id))
    return row


def _draft(row: Disagreement) -> str:
    """The message of a disagreement as a quotation to write a rule under."""
    split = discussions.split_of(row)
    if split is None:
        raise Http404
    about = (
        f", {split.name}" if split.name else _(", message {message}").format(message=split.message)
    )
    rule = row.note or _("Write the rule here.")
    return f"\n## Draft: {row.conversation}{about}\n\n{_quoted(row, split.message)}{rule}\n"


def _quoted(row: Disagreement, index: int | None) -> str:
    if index is None:
        return ""
    message = row.conversation.messages[index]
    lines = "\n".join(f"> {line}" for line in message.content.splitlines())
    return f"> **{message.speaker or message.role}**:\n{lines}\n\n"


def _shown(project: Project, versions: list[Guideline], version: int | None) -> Guideline | None:
    if version is None and not versions:
        return None
    wanted = versions[0].version if version is None else version
    return get_object_or_404(project.guidelines.select_related("created_by"), version=wanted)


def _changes(project: Project, shown: Guideline | None) -> list[DiffLine]:
    if shown is None or shown.version == 1:
        return []
    before = project.guidelines.filter(version__lt=shown.version).first()
    return compare(before.body, shown.body) if before else []
