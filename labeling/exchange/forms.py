from __future__ import annotations

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from labeling.conversations.forms.uploads import check_size


class LabelUploadForm(forms.Form):
    """A file with labels, to be looked at before anything is stored."""

    format = forms.ChoiceField(
        choices=[("native", _("Native")), ("sample", _("Samples (JSON, YAML)"))]
    )
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
        check_size(file.size or 0, "import_labels")
        return file
