from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from labeling.core.rules.reasons import reason_in
from labeling.gold.looks import LONGEST_REASON


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


class BudgetOfLooksForm(forms.Form):
    looks = forms.IntegerField(
        label=_("Looks at each test set"),
        required=False,
        min_value=0,
        max_value=1_000_000,
        help_text=_("Empty: no limit."),
    )
    reason = forms.CharField(label=_("Reason"), max_length=LONGEST_REASON)

    def __init__(self, data: Any = None, *, now: int | None = None) -> None:
        super().__init__(data, initial={"looks": now})
