from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from labeling.models import CheckPlan

MOST = 1000


class PlanForm(forms.ModelForm):
    """How often hidden checks come, when somebody is paused, and the test of newcomers."""

    every = forms.IntegerField(
        label=_("Hidden-check frequency"),
        min_value=0,
        max_value=MOST,
        help_text=_("10 makes every tenth conversation a hidden check; 0 gives none."),
    )
    pause_below = forms.FloatField(
        label=_("Pause a person below this gold agreement"),
        required=False,
        min_value=0,
        max_value=1,
        help_text=_("A mean F1 from 0 to 1; empty pauses nobody."),
    )
    pause_after = forms.IntegerField(
        label=_("Number of recent hidden checks to consider"), min_value=1, max_value=MOST
    )
    test = forms.BooleanField(
        label=_("No other work until the qualification test is passed"), required=False
    )
    test_on = forms.IntegerField(
        label=_("Conversations of the test"),
        min_value=1,
        max_value=MOST,
        help_text=_("Drawn from gold; the same for everybody who does not know them."),
    )
    pass_at = forms.FloatField(
        label=_("Minimum F1 to pass"),
        min_value=0,
        max_value=1,
        help_text=_("It counts for tests that end from now on."),
    )
    tries = forms.IntegerField(label=_("Tries"), min_value=1, max_value=100)
    calibrate_on = forms.IntegerField(
        label=_("Conversations that newcomers calibrate on"),
        min_value=1,
        max_value=MOST,
        help_text=_("Settled conversations of closed rounds; they get as many tries as the test."),
    )

    class Meta:
        model = CheckPlan
        fields = (
            "every",
            "pause_below",
            "pause_after",
            "test",
            "test_on",
            "pass_at",
            "tries",
            "calibrate_on",
        )

    def clean_every(self) -> int:
        every: int = self.cleaned_data["every"]
        if every == 1:
            raise ValidationError(
                gettext("With 1 there would be nothing but checks: choose 0, or 2 and more.")
            )
        return every


class DecisionForm(forms.Form):
    """What a lead decides about one person; ``what`` comes from the button."""

    reason = forms.CharField(
        label=_("Reason"),
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        help_text=_("Kept in the audit log; why somebody was let in, also in gold."),
    )
