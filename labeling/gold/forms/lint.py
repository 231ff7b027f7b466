from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from labeling.gold.rules.lint import KINDS
from labeling.models import Project
from labeling.schema.targets import target_layers, title_of
from labeling.translation import translated


class LayerForm(forms.Form):
    """Which layer lint looks at."""

    layer = forms.ChoiceField(label=_("Layer"))

    def __init__(self, project: Project, data: Any = None) -> None:
        super().__init__(data)
        layer: forms.ChoiceField = self.fields["layer"]  # type: ignore[assignment]
        layer.choices = [
            (name, translated(title_of(name))) for name in target_layers(project.layers)
        ]


class WaiveForm(LayerForm):
    """Accepting what is open of a kind; with a key only that finding."""

    kind = forms.ChoiceField(choices=[(kind, kind) for kind in KINDS])
    key = forms.CharField(required=False, max_length=20)
    reason = forms.CharField(label=_("Reason"), max_length=2000)


class WithdrawForm(forms.Form):
    reason = forms.CharField(label=_("Reason"), max_length=2000)
