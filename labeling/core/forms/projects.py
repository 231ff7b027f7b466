from __future__ import annotations

from typing import Any

from django import forms
from django.core.validators import validate_slug
from django.utils.translation import gettext_lazy as _

from labeling.models import Project
from labeling.schema import DEFAULT_LAYER, LAYERS
from labeling.templatetags.words import within
from labeling.translation import lazy, translated


class ProjectForm(forms.Form):
    RULES = ("kappa_threshold", "kappa_statistic", "label_f1_threshold", "overlap")

    name = forms.CharField(max_length=200, widget=forms.TextInput(attrs={"dir": "auto"}))
    slug = forms.CharField(
        label=_("Short name"),
        max_length=50,
        required=False,
        validators=[validate_slug],
        help_text=_(
            "Used in addresses and commands, for example interviews; it never changes. "
            "Without one, it is made from the name."
        ),
    )
    description = forms.CharField(
        label=_("Description"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
    )
    layers = forms.MultipleChoiceField(
        label=_("What is labeled"),
        choices=[(layer.name, lazy(layer.title)) for layer in LAYERS.values()],
        initial=[DEFAULT_LAYER],
        widget=forms.CheckboxSelectMultiple,
    )
    kappa_threshold = forms.FloatField(
        label=_("κ threshold"),
        initial=0.75,
        min_value=-1,
        max_value=1,
        help_text=_("A calibration round passes when its κ is greater than this."),
    )
    kappa_statistic = forms.ChoiceField(
        label=_("Which κ counts"), choices=Project.Statistic.choices, initial=Project.Statistic.MIN
    )
    label_f1_threshold = forms.FloatField(
        label=_("Label F1 threshold"),
        initial=0.5,
        min_value=0,
        max_value=1,
        help_text=_(
            "The labels themselves have to match, too: a calibration round passes when the F1 of "
            "matched labels reaches this. 0 turns it off. A change holds from the next round on."
        ),
    )
    overlap = forms.IntegerField(
        label=_("Annotators per conversation"),
        initial=3,
        min_value=1,
        max_value=100,
        help_text=_("In full labeling; a calibration round goes to everybody."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self.RULES:
            self.fields[name].required = False

    def clean_layers(self) -> list[str]:
        return with_what_they_refer_to(self.cleaned_data["layers"])

    def clean(self) -> dict[str, Any]:
        """A rule that was left out is the one that the form proposes."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for name in self.RULES:
            if cleaned.get(name) in (None, "") and name not in self.errors:
                cleaned[name] = self.fields[name].initial
        return cleaned

    def asked(self) -> list[forms.BoundField]:
        """What nobody but the lead can know."""
        return [self["name"], self["layers"]]

    def proposed(self) -> list[forms.BoundField]:
        """What is good as it is for most projects."""
        return [self["slug"], self["description"], *(self[name] for name in self.RULES)]

    @property
    def is_proposal_refused(self) -> bool:
        return any(field.errors for field in self.proposed())


def with_what_they_refer_to(layers: list[str]) -> list[str]:
    for name in layers:
        needs = LAYERS[name].needs
        if needs and not set(needs) & set(layers):
            titles = _(" or ").join(within(LAYERS[need].title) for need in needs)
            raise forms.ValidationError(
                _("{title} refer to {titles}: label these too.").format(
                    title=translated(LAYERS[name].title), titles=titles
                )
            )
    return layers


def below_one(threshold: float) -> float:
    if not 0 <= threshold < 1:
        raise forms.ValidationError(_("A similarity threshold is at least 0 and less than 1."))
    return threshold
