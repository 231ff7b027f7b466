from __future__ import annotations

from django import forms


class GuidelineForm(forms.Form):
    body = forms.CharField(
        label="Guidelines",
        help_text="Markdown",
        max_length=200_000,
        widget=forms.Textarea(attrs={"rows": 24}),
    )
    summary = forms.CharField(
        label="What changed, in one line",
        max_length=300,
        help_text="Annotators read it first: “A deadline is a constraint, not a data requirement”.",
    )
    base_version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
