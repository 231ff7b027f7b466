"""The note of a run: read, and written by those who may launch in its project."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from evaluation.access import require_reader
from evaluation.models import Run
from evaluation.services.run import notes
from evaluation.services.run.notes import LONGEST_NOTE, NoteRefused
from labeling.models import Event
from labeling.words import words

VERBS = ("run.tagged", "run.noted")


class NotesForm(forms.Form):
    note = forms.CharField(
        label=_("Note"),
        required=False,
        max_length=LONGEST_NOTE,
        widget=forms.Textarea({"rows": 6, "dir": "auto"}),
        help_text=_(
            "Plain text; the list of runs is searched for it. Earlier texts stay in the log."
        ),
    )


@require_http_methods(["GET", "POST"])
def run_notes(request: HttpRequest, pk: int) -> HttpResponse:
    require_reader(request.user)
    visible = Run.objects.visible_to(request.user).select_related("release__project", "note")
    run = get_object_or_404(visible.defer("spec"), pk=pk)
    note = getattr(run, "note", None)
    form = NotesForm(request.POST or None, initial={"note": note.text if note else ""})
    if request.method == "POST" and form.is_valid():
        try:
            notes.write(run, form.cleaned_data["note"], by=request.user)
        except NoteRefused as error:
            form.add_error(None, words(error.fact))
        else:
            messages.success(request, gettext("Saved."))
            return redirect(run)
    log = Event.objects.filter(
        verb__in=VERBS, object_type="run", object_id=str(run.pk), project=run.release.project
    )
    context = {"run": run, "form": form, "log": log.select_related("actor").order_by("-pk")[:50]}
    return render(request, "evaluation/run_notes.html", context, status=422 if form.errors else 200)
