from __future__ import annotations

from django import forms
from django.core.validators import validate_slug

from labeling.domain.schema import LAYERS
from labeling.models import Membership, Project


class ProjectForm(forms.Form):
    name = forms.CharField(max_length=200)
    slug = forms.CharField(
        label="Short name",
        max_length=50,
        validators=[validate_slug],
        help_text="Used in addresses and commands, for example interviews; it never changes.",
    )
    description = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))
    layers = forms.MultipleChoiceField(
        label="What is labelled",
        choices=[(layer.name, layer.title) for layer in LAYERS.values()],
        initial=["extraction"],
        widget=forms.CheckboxSelectMultiple,
    )
    kappa_threshold = forms.FloatField(
        label="κ threshold",
        initial=0.75,
        min_value=-1,
        max_value=1,
        help_text="A calibration round passes when its κ is greater than this.",
    )
    kappa_statistic = forms.ChoiceField(
        label="Which κ counts", choices=Project.Statistic.choices, initial=Project.Statistic.MIN
    )
    overlap = forms.IntegerField(
        label="Annotators per conversation",
        initial=3,
        min_value=1,
        max_value=100,
        help_text="In full labeling; a calibration round goes to everybody.",
    )


class MemberForm(forms.Form):
    username = forms.CharField(
        label="User name",
        max_length=150,
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )
    role = forms.ChoiceField(choices=Membership.Role.choices)
