from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from labeling.agreement.discussions import UnitPlace
from labeling.models import Disagreement


class PlaceField(forms.CharField):
    """The place of a disagreement, as ``12-3``."""

    def clean(self, value: Any) -> UnitPlace:
        place = UnitPlace.parse(super().clean(value))
        if place is None:
            raise forms.ValidationError(_("This names no disagreement."))
        return place


class RemarkForm(forms.Form):
    place = PlaceField()
    body = forms.CharField(label=_("Remark"), max_length=5000, strip=True)


class DecisionForm(forms.Form):
    """``outcome`` empty opens the disagreement again."""

    place = PlaceField()
    outcome = forms.ChoiceField(
        required=False, choices=[("", _("open again")), *Disagreement.Outcome.choices]
    )
    note = forms.CharField(required=False, max_length=5000)
