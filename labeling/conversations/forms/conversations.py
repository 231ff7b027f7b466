from __future__ import annotations

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, ValidationError

from labeling.conversations.conversations import LEAVE_OUT
from labeling.conversations.formats.conversations import AUTO
from labeling.conversations.formats.tables import COLUMNS
from labeling.conversations.formats.talks import ENCODINGS, HowToRead
from labeling.conversations.forms.uploads import SeveralFilesField, check_size
from labeling.core.forms.choices import ANY, offer
from labeling.models import Conversation, Project
from labeling.work.listing import narrowed


class ConversationFilter(forms.Form):
    """Narrows a project's conversations; a value that is not offered narrows nothing."""

    search = forms.CharField(label=_("Id contains"), required=False, max_length=200)
    domain = forms.ChoiceField(required=False)
    difficulty = forms.ChoiceField(required=False, choices=[ANY, *Conversation.Difficulty.choices])
    split = forms.ChoiceField(required=False, choices=[ANY, *Conversation.Split.choices])
    origin = forms.ChoiceField(
        label=_("Origin"), required=False, choices=[ANY, *Conversation.Origin.choices]
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        named = project.conversations.exclude(domain="").order_by("domain")
        offer(self, "domain", [ANY, *named.values_list("domain", flat=True).distinct()])

    def narrow(self, conversations: QuerySet[Conversation]) -> QuerySet[Conversation]:
        self.is_valid()
        asked = {name: value for name, value in self.cleaned_data.items() if value}
        return narrowed(conversations, **asked)


TITLES = {
    AUTO: _("Detect automatically"),
    "native": _("Native"),
    "sample": _("Samples (JSON, YAML)"),
    "openai": _("OpenAI chat (JSON, JSONL)"),
    "sharegpt": _("ShareGPT (JSON, JSONL)"),
    "chatgpt": _("ChatGPT export (conversations.json)"),
    "csv": _("CSV, one message per row"),
    "tsv": _("TSV, one message per row"),
    "parquet": "Parquet",
    "transcript": _("Transcript, “Ana: Hello”"),
    "whatsapp": _("WhatsApp chat (TXT)"),
    "vtt": _("WebVTT subtitles"),
    "srt": _("SubRip subtitles (SRT)"),
    "ass": _("SubStation Alpha subtitles (ASS)"),
    "labelstudio": "Label Studio JSON",
    "doccano": "doccano JSONL",
}
MOST_CHOICES, MOST_CHARACTERS = 10_000, 1_000_000


class ReadingForm(forms.Form):
    """How files are read, whatever they come from."""

    format = forms.ChoiceField(
        label=_("Format"), choices=list(TITLES.items()), initial=AUTO, required=False
    )
    split = forms.ChoiceField(
        label=_("Default split"),
        required=False,
        choices=[("", "–"), *Conversation.Split.choices],
        help_text=_("For conversations that name none; one that names another split is refused."),
    )

    def clean_format(self) -> str:
        return self.cleaned_data["format"] or AUTO


class ConversationUploadForm(ReadingForm):
    """Files with conversations."""

    command = "import_conversations"

    file = SeveralFilesField(
        label=_("Files"),
        allow_empty_file=True,
        help_text=_(
            "JSON, CSV, Parquet, text, WebVTT, SRT or ASS; "
            "several at once, of up to 100 MB together."
        ),
    )
    field_order = ("file", "format", "split")

    def clean_file(self) -> list[UploadedFile]:
        files: list[UploadedFile] = self.cleaned_data["file"]
        check_size(sum(file.size or 0 for file in files), self.command)
        return files


class ChosenReading(BaseModel):
    """How a preview has read its files, on its way through the page."""

    columns: dict[str, str] = {}
    roles: dict[str, str] = {}
    encoding: str = ""
    by_header: dict[str, dict[str, str]] = {}


class ConversationStoreForm(ReadingForm):
    """What a preview was asked for, and the files that were kept for it."""

    how = forms.CharField(required=False, max_length=MOST_CHARACTERS)
    leave_out = forms.ChoiceField(required=False, choices=[(each, each) for each in LEAVE_OUT])

    def __init__(self, data: QueryDict | None = None, **options: Any) -> None:
        super().__init__(data, **options)
        self.keys = data.getlist("upload") if data else []

    def clean_how(self) -> HowToRead:
        try:
            how = ChosenReading.model_validate_json(self.cleaned_data["how"] or "{}")
        except ValidationError:
            raise forms.ValidationError(_("Open the preview again.")) from None
        chosen = [how.columns, how.roles, *how.by_header.values()]
        if how.encoding not in ("", *ENCODINGS) or sum(map(len, chosen)) > MOST_CHOICES:
            raise forms.ValidationError(_("Open the preview again."))
        return HowToRead(how.columns, how.roles, how.encoding, by_header=how.by_header)


def how_chosen(data: QueryDict) -> HowToRead:
    """What the selects of a preview say; a guess that was left alone is chosen by that."""
    columns = {what: str(data[f"column_{what}"]) for what in COLUMNS if data.get(f"column_{what}")}
    pairs = zip(data.getlist("name"), data.getlist("role"), strict=False)
    roles = {str(name): str(role) for name, role in pairs if name and role}
    encoding = data.get("encoding")
    by_header: dict[str, dict[str, str]] = {}
    for field in data:
        _column, _, key = field.rpartition("_")[0].partition("_")
        if field.startswith("column_") and key and data[field]:
            by_header.setdefault(key, {})[field.rpartition("_")[2]] = str(data[field])
    known = str(encoding) if encoding in ENCODINGS else ""
    return HowToRead(columns, roles, known, by_header=by_header)
