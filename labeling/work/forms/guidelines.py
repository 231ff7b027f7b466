from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from labeling.core.forms.choices import offer
from labeling.models import Annotation, Disagreement, Guideline, GuidelineCheck
from labeling.schema import LAYERS
from labeling.translation import translated

MOST_CHARACTERS = 200_000


class GuidelineForm(forms.Form):
    body = forms.CharField(
        label=_("Guidelines"),
        help_text=_("Markdown"),
        max_length=MOST_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 28, "dir": "auto", "class": "editor"}),
    )
    summary = forms.CharField(
        label=_("What changed, in one line"),
        max_length=300,
        help_text=_(
            "Annotators read it first: “A deadline is a constraint, not a data requirement”."
        ),
    )
    because = forms.TypedMultipleChoiceField(
        label=_("Disagreements that this version answers"),
        help_text=_("The page of the version will link to them, and they to it."),
        required=False,
        coerce=int,
        widget=forms.CheckboxSelectMultiple,
    )
    base_version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    def __init__(
        self, data: Any = None, *, disagreements: Iterable[Disagreement] = (), **options: Any
    ) -> None:
        super().__init__(data, **options)
        self.disagreements = {row.pk: row for row in disagreements}
        offer(self, "because", [(pk, _described(row)) for pk, row in self.disagreements.items()])
        if not self.disagreements:
            del self.fields["because"]

    def clean_because(self) -> list[Disagreement]:
        return [self.disagreements[pk] for pk in self.cleaned_data["because"]]


def _described(row: Disagreement) -> str:
    """Where it is, and what the decision says."""
    layer = LAYERS[row.layer]
    unit = f"[{row.unit}]" if layer.by_message else translated(layer.title)
    note = Truncator(row.note).chars(80)
    round_ = _("round {number}").format(number=row.round.number)
    return f"{row.conversation} {unit}, {round_}" + (f": {note}" if note else "")


class WorklistFilter(forms.Form):
    """Narrows the labels made under a superseded version. Without an answer: what is to check."""

    OPEN, STANDS, ANEW = "", "stands", "anew"

    state = forms.ChoiceField(
        required=False,
        choices=[
            (OPEN, _("to check")),
            (STANDS, _("still stands")),
            (ANEW, _("to be labeled again")),
        ],
    )

    def narrow(self, answers: QuerySet[Annotation], newest: Guideline) -> QuerySet[Annotation]:
        state = self.cleaned_data.get("state") if self.is_valid() else self.OPEN
        checks = GuidelineCheck.objects.filter(annotation=OuterRef("pk"), guideline=newest)
        if not state:
            return answers.filter(~Exists(checks))
        return answers.filter(Exists(checks.filter(stands=state == self.STANDS)))


class CheckForm(forms.Form):
    annotation = forms.IntegerField(min_value=1, max_value=2**63 - 1)
    stands = forms.ChoiceField(
        choices=[("1", _("still stands")), ("0", _("has to be labeled again"))]
    )
    note = forms.CharField(required=False, max_length=5000)
