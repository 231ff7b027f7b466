from __future__ import annotations

from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

from labeling.core.rules.reasons import reason_in
from labeling.gold.looks import LONGEST_REASON
from labeling.gold.rules.lint import KINDS
from labeling.gold.rules.release import RELEASE_NAME
from labeling.models import Project
from labeling.schema.targets import target_layers, title_of
from labeling.translation import translated

IN_ADDRESSES = RegexValidator(
    rf"^{RELEASE_NAME.pattern}\Z",
    _(
        "Use letters, digits, dots, hyphens and underscores, no dot first: it is "
        "part of an address."
    ),
)


class FreezeForm(forms.Form):
    layer = forms.ChoiceField()
    name = forms.CharField(
        max_length=100,
        validators=[IN_ADDRESSES],
        help_text=_("The same name again makes its next version."),
    )
    message = forms.CharField(
        label=_("What this release is for"),
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    with_synthetic = forms.BooleanField(
        label=_("with synthetic conversations"),
        required=False,
        help_text=_(
            "Nobody has held them: a program or a language model wrote them. Each is marked in the "
            "release."
        ),
    )

    def clean(self) -> dict[str, Any]:
        """With the reasons for accepting what lint found, by kind."""
        said = {kind: reason_in(self.data.get(f"waive-{kind}", ""))[:2000] for kind in KINDS}
        return {**self.cleaned_data, "waive": {kind: why for kind, why in said.items() if why}}

    def __init__(self, project: Project, data: Any = None) -> None:
        super().__init__(data, initial={"name": project.slug})
        layer: forms.ChoiceField = self.fields["layer"]  # type: ignore[assignment]
        layer.choices = [
            (name, translated(title_of(name))) for name in target_layers(project.layers)
        ]
        if not project.conversations.filter(origin="synthetic").exists():
            del self.fields["with_synthetic"]


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason"),
        max_length=LONGEST_REASON,
        widget=forms.TextInput({"autofocus": True}),
        help_text=_("One sentence. It is kept with your name, and reports print it."),
    )

    def clean_reason(self) -> str:
        reason = reason_in(self.cleaned_data["reason"])
        if not reason:
            raise forms.ValidationError(_("Write something that others can read."))
        return reason
