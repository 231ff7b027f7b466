from __future__ import annotations

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from labeling.services.label_imports import READERS

MAX_BYTES = 100 * 1024 * 1024
TITLES = {"native": _("Native"), "labelstudio": "Label Studio JSON", "doccano": "doccano JSONL"}


class LabelUploadForm(forms.Form):
    """A file with labels, to be looked at before anything is stored."""

    format = forms.ChoiceField(choices=[(name, TITLES[name]) for name in READERS])
    file = forms.FileField(label=_("File"), allow_empty_file=True)
    create_annotators = forms.BooleanField(
        label=_("Make inactive accounts for people who are not in the project"), required=False
    )
    reason = forms.CharField(
        label=_("Why these labels count"),
        required=False,
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Needed while no calibration round has passed; printed on every gold release."),
    )

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        if (file.size or 0) > MAX_BYTES:
            raise forms.ValidationError(
                _("The file is larger than 100 MB: import it with manage.py import_labels.")
            )
        return file
