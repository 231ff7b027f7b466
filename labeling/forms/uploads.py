from __future__ import annotations

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

MAX_BYTES = 100 * 1024 * 1024
TITLES = {"native": _("Native"), "labelstudio": "Label Studio JSON", "doccano": "doccano JSONL"}


class UploadForm(forms.Form):
    """A file in one of the formats, to be looked at before anything is stored."""

    command = ""  # that takes larger files

    format = forms.ChoiceField(choices=list(TITLES.items()))
    file = forms.FileField(label=_("File"), allow_empty_file=True)

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        if (file.size or 0) > MAX_BYTES:
            too_large = _("The file is larger than 100 MB: import it with manage.py {command}.")
            raise forms.ValidationError(too_large.format(command=self.command))
        return file
