from __future__ import annotations

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

MAX_BYTES = 100 * 1024 * 1024


class SeveralFilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class SeveralFilesField(forms.FileField):
    """One file or more, each no larger than a page takes."""

    widget = SeveralFilesInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        listed = data if data and isinstance(data, list | tuple) else [data or None]
        return [super(SeveralFilesField, self).clean(file, initial) for file in listed]


def check_size(size: int, command: str) -> None:
    if size > MAX_BYTES:
        too_large = _("The file is larger than 100 MB: import it with assay {command}.")
        raise forms.ValidationError(too_large.format(command=command))
