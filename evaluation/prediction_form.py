"""The form that measures a file of predictions."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from evaluation.forms import SPLITS
from evaluation.models import Run
from evaluation.services import predictions
from labeling.domain.errors import RuleError
from labeling.models import GoldRelease
from labeling.words import words


class PredictionsForm(forms.Form):
    """``releases`` limits what can be chosen."""

    release = forms.ModelChoiceField(
        GoldRelease.objects.none(), label=_("Gold release"), empty_label=_("Choose…")
    )
    file = forms.FileField(label=_("File"), allow_empty_file=True)
    split = forms.ChoiceField(label=_("Split"), choices=SPLITS, required=False)
    reason = forms.CharField(
        label=_("Reason"), required=False, max_length=500, help_text=_("Needed for the test split.")
    )
    name = forms.CharField(
        label=_("Name"),
        required=False,
        max_length=200,
        help_text=_("What is tried, for the log of experiments."),
    )
    metrics = forms.JSONField(
        label=_("Settings of the metrics"),
        required=False,
        initial=dict,
        help_text=_('For events, as JSON: {"cot": {"enabled": true}}. Empty: the defaults.'),
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(self, *args: Any, releases: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "predictions_%s"} | kwargs)
        self.fields["release"].queryset = releases  # type: ignore[attr-defined]

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        if (file.size or 0) > predictions.MAX_BYTES:
            raise forms.ValidationError(
                _(
                    "The file is larger than 100 MB: measure it with "
                    "manage.py evaluate --predictions."
                )
            )
        return file

    def clean_metrics(self) -> dict[str, Any]:
        given = self.cleaned_data["metrics"]
        if given is not None and not isinstance(given, dict):
            told = json.dumps(given, ensure_ascii=False)[:50]
            raise forms.ValidationError(
                _("Settings are an object with names, not %(told)s."), params={"told": told}
            )
        return given or {}

    def launch(self, *, by: Any) -> Run | None:
        """The run, or None with what is wrong written on the form."""
        data = self.cleaned_data
        file = data["file"]
        try:
            return predictions.launch(
                data["release"],
                predictions.from_file(file, file.name or "file"),
                metrics=data["metrics"],
                split=data["split"],
                reason=data["reason"],
                name=data["name"],
                requested_by=by,
            )
        except RuleError as error:
            self.add_error(None, words(error.fact))
            return None
