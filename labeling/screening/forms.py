from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from labeling.models import CheckPlan


class PlanForm(forms.ModelForm):
    """How often hidden checks come, when somebody is paused, and the test of newcomers."""

    class Meta:
        model = CheckPlan
        labels = {
            "every": _("Hidden-check frequency"),
            "pause_below": _("Pause a person below this gold agreement"),
            "pause_after": _("Number of recent hidden checks to consider"),
            "test": _("No other work until the qualification test is passed"),
            "test_on": _("Conversations of the test"),
            "pass_at": _("Minimum F1 to pass"),
            "tries": _("Tries"),
        }
        fields = tuple(labels)
        help_texts = {
            "every": _("10 makes every tenth conversation a hidden check; 0 gives none."),
            "pause_below": _("A mean F1 from 0 to 1; empty pauses nobody."),
            "pause_after": "",
            "test": "",
            "test_on": _("Drawn from gold; the same for everybody who does not know them."),
            "pass_at": _("It counts for tests that end from now on."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["pause_below"].required = False

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
