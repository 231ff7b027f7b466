"""The form on which somebody tries a pipeline on conversations without gold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any, BinaryIO

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from evaluation.forms import BudgetForm, PipelineFields, PipelineForm
from evaluation.models import Run
from evaluation.services.language_models import endpoints
from evaluation.services.language_models.budgets import Estimate
from evaluation.services.unmeasured import launching, predicting, reading
from evaluation.services.unmeasured.predicting import Task, TrialRefused
from labeling.conversations.formats.conversations import AUTO
from labeling.conversations.formats.talks import HowToRead
from labeling.conversations.forms.conversations import TITLES
from labeling.conversations.forms.uploads import SeveralFilesField
from labeling.conversations.rules.importing import Record
from labeling.domain.errors import FileFault, RuleError
from labeling.models import Conversation, Project
from labeling.translation import lazy
from labeling.words import words
from pipelines.registry import MEMORY, describe

LISTED = 200
PREFERRED = "requirements-agent"
"""What most people come for; it writes a document, too."""
PASTED = _("Pasted transcript")


class UnmeasuredForm(PipelineForm):
    """``projects`` are those whose conversations and event types can be chosen."""

    file = SeveralFilesField(
        label=_("Files"),
        required=False,
        help_text=_("JSON, CSV, Parquet, text, WebVTT or SRT; up to 20 MB together."),
    )
    text = forms.CharField(
        label=_("Or paste a transcript"),
        required=False,
        strip=False,
        max_length=reading.MOST_BYTES,
        widget=forms.Textarea({"rows": 8, "dir": "auto", "spellcheck": "false"}),
        help_text=_("A line for each message: “Ana: What do you need?”. WebVTT works as well."),
    )
    format = forms.ChoiceField(
        label=_("Format"), choices=list(TITLES.items()), initial=AUTO, required=False
    )
    roles = forms.CharField(
        label=_("Who is who"),
        required=False,
        max_length=2000,
        widget=forms.TextInput({"dir": "auto", "placeholder": "Ana=analyst, *=user"}),
        help_text=_("Which name is the analyst's and which the user's, where names do not say it."),
    )
    project = forms.ModelChoiceField(
        Project.objects.none(),
        label=_("Project"),
        required=False,
        to_field_name="slug",
        empty_label=_("None: only you see the results"),
        help_text=_("Its leads see the results, too. Events are looked for by its event types."),
    )
    pipeline = forms.ChoiceField(label=_("Pipeline"))
    questions = forms.CharField(
        label=_("Questions"),
        required=False,
        widget=forms.Textarea({"rows": 4, "dir": "auto"}),
        help_text=_("One a line; each is asked of every conversation."),
    )
    name = forms.CharField(
        label=_("Name"),
        required=False,
        max_length=200,
        widget=forms.TextInput({"dir": "auto"}),
        help_text=_("To find the results again. Empty: the name of the file."),
    )
    budget_cost = BudgetForm.base_fields["budget_cost"]
    budget_tokens = BudgetForm.base_fields["budget_tokens"]

    def __init__(self, *args: Any, projects: QuerySet[Project], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["project"].queryset = projects  # type: ignore[attr-defined]
        pipelines = describe(predicting.offered())
        has_model = not endpoints.missing_setting()
        self.fields["pipeline"] = forms.ChoiceField(
            label=_("Pipeline"),
            initial=PREFERRED,
            choices=[
                (row["name"], lazy(row["title"]))
                for row in pipelines
                if has_model or not row["needs_model"]
            ],
        )
        self.has_model = has_model
        self.add_settings(pipelines)

    # --- what the page shows --------------------------------------------------------------------

    @property
    def settings(self) -> list[PipelineFields]:
        """Each pipeline with the bound fields of its settings."""
        chosen = self["pipeline"].value() or self.fields["pipeline"].choices[0][0]  # type: ignore[attr-defined]
        rows: list[PipelineFields] = []
        for row in self.pipelines:
            fields = self.settings_fields(row)
            unfold = any(field.errors for field in fields)
            is_chosen = row["name"] == chosen
            rows.append({**row, "fields": fields, "chosen": is_chosen, "unfold": unfold})
        return rows

    @property
    def asking(self) -> list[str]:
        """The pipelines that answer questions."""
        return [row["name"] for row in self.pipelines if set(row["layers"]) & set(MEMORY)]

    @property
    def of_project(self) -> Project | None:
        """Also of a form that nobody has sent yet."""
        field: Any = self.fields["project"]
        return field.queryset.filter(slug=self._slug).first()

    @property
    def _slug(self) -> str:
        return str(self["project"].value() or "").replace("\x00", "")

    @property
    def listed(self) -> list[Conversation]:
        """Conversations of the project that can be chosen, the first of them."""
        project = self.of_project
        return list(launching.choosable(project)[:LISTED]) if project else []

    @property
    def ticked(self) -> set[str]:
        sent = self.data.getlist("conversation") if self.is_bound else []  # type: ignore[attr-defined]
        return {id.replace("\x00", "") for id in sent}

    # --- what was asked -------------------------------------------------------------------------

    def task(self) -> Task:
        project = self.cleaned_data.get("project")
        pipeline = self.cleaned_data["pipeline"]
        asked = self.cleaned_data["questions"] if pipeline in self.asking else ""
        return predicting.checked_task(
            pipeline,
            self.config(),
            questions=predicting.questions_in(asked),
            event_schema=project.event_schema if project else None,
        )

    def begin(self, *, by: Any) -> Run | None:
        """The run; None with what is wrong written on the form."""
        try:
            stored, records = self._sources()
            wish = launching.Wish(
                by=by,
                task=self.task(),
                name=self._name(stored, records),
                project=self.cleaned_data["project"],
                budget_cost=self.cleaned_data["budget_cost"],
                budget_tokens=self.cleaned_data["budget_tokens"],
            )
            if stored:
                return launching.on_conversations(wish, stored)
            return launching.on_records(wish, records)
        except (RuleError, FileFault) as error:
            self.add_error(None, words(error.fact))
            return None

    def estimate(self) -> Estimate | None:
        """What a language model will cost; None where none is asked. Raises what is wrong."""
        stored, records = self._sources()
        sizes = [
            (sum(len(turn.content) for turn in record.turns), len(record.turns))
            for record in records
        ]
        sizes += [
            (sum(len(message.content) for message in talk.messages), talk.n_messages)
            for talk in stored
        ]
        return launching.estimate(self.task(), sizes)

    def _sources(self) -> tuple[Sequence[Conversation], Sequence[Record]]:
        data = self.cleaned_data
        files: list[UploadedFile] = [file for file in data.get("file") or [] if file]
        ticked = self.ticked
        if sum(map(bool, (files, data["text"].strip(), ticked))) != 1:
            raise TrialRefused("trial.one_source")
        if ticked:
            return self._chosen(ticked), []
        if sum(file.size or 0 for file in files) > reading.MOST_BYTES:
            raise TrialRefused("trial.file_too_large", most=reading.MOST_BYTES // 1024**2)
        how = HowToRead.written("", data["roles"])
        return [], reading.records_of(self._opened(files), format=data["format"] or AUTO, how=how)

    def _opened(self, files: Sequence[UploadedFile]) -> Iterator[tuple[str, BinaryIO]]:
        for file in files:
            file.seek(0)
            yield file.name or "file", file.file  # type: ignore[misc]
        if not files:
            name = self.cleaned_data["name"] or str(PASTED)
            yield name, BytesIO(self.cleaned_data["text"].encode("utf-8", "replace"))

    def _chosen(self, ids: set[str]) -> list[Conversation]:
        project = self.cleaned_data["project"]
        if project is None:
            raise TrialRefused("trial.no_project")
        rows = project.conversations.filter(external_id__in=ids).select_related("transcript")
        if len(rows) != len(ids):
            raise TrialRefused("trial.conversation_gone")
        return list(rows)

    def _name(self, stored: Sequence[Conversation], records: Sequence[Record]) -> str:
        if self.cleaned_data["name"]:
            return str(self.cleaned_data["name"])
        files = [file for file in self.cleaned_data.get("file") or [] if file]
        if files:
            return ", ".join(file.name for file in files)
        if stored:
            return ", ".join(talk.external_id for talk in stored[:3]) + (" …" if stored[3:] else "")
        return str(PASTED)
