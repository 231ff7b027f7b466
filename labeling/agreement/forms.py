from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from labeling.agreement.discussions import UnitPlace
from labeling.agreement.rules.disagreements import Split
from labeling.core.forms.choices import ANY, offer
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
    outcome = forms.ChoiceField(required=False, choices=[ANY, *Disagreement.Outcome.choices])
    pair = forms.ChoiceField(required=False)

    def __init__(self, shown: Mapping[str, str], letters: Mapping[str, str], data: Any) -> None:
        """``shown`` has the name that each annotator is shown under, ``letters`` the letter."""
        super().__init__(data)
        by_letter = sorted(letters, key=lambda person: letters[person])
        self.pairs = {f"{letters[a]}-{letters[b]}": (a, b) for a, b in combinations(by_letter, 2)}
        offered = [(key, f"{shown[a]} – {shown[b]}") for key, (a, b) in self.pairs.items()]
        offer(self, "pair", [ANY, *offered])

    def narrows(self) -> bool:
        self.is_valid()
        return any(self.cleaned_data.get(name) for name in ("state", "outcome", "pair"))

    def fits(self, split: Split, row: Disagreement | None) -> bool:
        """After :meth:`narrows`."""
        return self._fits_outcome(row.outcome if row else "") and self._fits_pair(split)

    def _fits_outcome(self, outcome: str) -> bool:
        state, wanted = self.cleaned_data.get("state"), self.cleaned_data.get("outcome")
        if state and (state == DECIDED) != bool(outcome):
            return False
        return not wanted or wanted == outcome

    def _fits_pair(self, split: Split) -> bool:
        pair = self.pairs.get(self.cleaned_data.get("pair") or "")
        return pair is None or split.concerns(*pair)
