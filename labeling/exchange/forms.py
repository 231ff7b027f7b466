from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from labeling.conversations.forms.uploads import TITLES, UploadForm


class LabelUploadForm(UploadForm):
    """A file with labels."""

    command = "import_labels"

    format = forms.ChoiceField(choices=[*TITLES.items(), ("sample", _("Samples (JSON, YAML)"))])
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
