from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from labeling.agreement.discussions import UnitPlace
from labeling.core.forms.choices import ANY
from labeling.models import Disagreement

OPEN, DECIDED = "open", "decided"


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


class DisagreementFilter(forms.Form):
    """Narrows the disagreements of a round; a value that is not offered narrows nothing."""

    state = forms.ChoiceField(
        required=False, choices=[ANY, (OPEN, _("not decided")), (DECIDED, "decided")]
    )

    @property
    def narrows(self) -> str:
        return self.cleaned_data.get("state", "") if self.is_valid() else ""

    def fits(self, row: Disagreement | None) -> bool:
        is_decided = bool(row and row.outcome)
        return not self.narrows or is_decided == (self.narrows == DECIDED)
