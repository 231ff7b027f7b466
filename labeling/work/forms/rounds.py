from __future__ import annotations

from functools import partial
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import Max, TextChoices
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from labeling.core.forms.choices import ANY, offer
from labeling.domain.numbers import whole_number
from labeling.models import Conversation, Project, Round
from labeling.work import assignments, batches

NEW = ""  # conversations that are in no round yet
CALIBRATORS = 3  # how many annotators are proposed for a first calibration round


def _as_titles(choices: type[TextChoices]) -> list[tuple[str, str]]:
    return [(choice.value, capfirst(choice.label)) for choice in choices]


class PeopleField(forms.ModelMultipleChoiceField):
    def clean(self, value: Any) -> Any:
        """SQLite breaks off at a number that is larger than any row's."""
        if any(whole_number(str(pk)) is None for pk in value or []):
            raise forms.ValidationError(_("Choose people of the list."))
        return super().clean(value)


class RoundForm(forms.Form):
    """A new round of ``project``. ``chosen`` are the conversations it would take."""

    kind = forms.ChoiceField(
        label=_("Kind of round"),
        choices=partial(_as_titles, Round.Kind),
        widget=forms.RadioSelect,
    )
    source = forms.ChoiceField(label=_("Conversations"), required=False)
    batch = forms.IntegerField(
        label=_("How many"),
        min_value=1,
        max_value=100_000,
        initial=20,
        help_text=_("Drawn by the seed from the unassigned conversations."),
    )
    split = forms.ChoiceField(required=False)
    domain = forms.ChoiceField(required=False)
    annotators = PeopleField(queryset=User.objects.none(), widget=forms.CheckboxSelectMultiple)
    overlap = forms.IntegerField(
        label=_("Annotators per conversation"),
        min_value=1,
        max_value=100,
        required=False,
        help_text=_("Full labeling only: a calibration round goes to everybody chosen above."),
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        initial=0,
        help_text=_("The same seed draws the same conversations and hands them out the same way."),
    )
    pool = forms.BooleanField(
        label=_("Annotators take the next conversation themselves"),
        required=False,
        help_text=_("Full labeling only: places are reserved while somebody works on them."),
    )
    override_reason = forms.CharField(
        label=_("Reason for override"),
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_(
            "Full labeling only. It is recorded and printed on every gold release after it."
        ),
    )

    seen = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    def __init__(self, project: Project, *args: Any, gate_open: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        self.initial["seen"] = self._newest_number()
        self._offer_conversations()
        people = self._offer_people()
        self.initial["kind"] = Round.Kind.FULL if gate_open else Round.Kind.CALIBRATION
        self.initial["overlap"] = min(project.overlap, len(people)) or project.overlap
        if gate_open:
            del self.fields["override_reason"]

    def _offer_conversations(self) -> None:
        conversations = self.project.conversations.order_by()
        splits = conversations.exclude(split="").values_list("split", flat=True).distinct()
        domains = conversations.exclude(domain="").values_list("domain", flat=True).distinct()
        earlier = self.project.rounds.order_by("-number").values_list("number", flat=True)
        offer(self, "split", [ANY, *sorted(splits)])
        offer(self, "domain", [ANY, *sorted(domains)])
        again = [
            (str(number), _("the same as round {number}").format(number=number))
            for number in earlier
        ]
        offer(self, "source", [(NEW, _("not yet in any round")), *again])

    def _offer_people(self) -> list[User]:
        annotators = assignments.annotators(self.project)
        people = list(annotators)
        offer(self, "annotators", annotators)
        self.initial["annotators"] = [person.pk for person in people]
        return people

    def propose_few(self) -> None:
        """Three annotators calibrate; more are a choice."""
        self.initial["annotators"] = self.initial["annotators"][:CALIBRATORS]

    def follow(self, earlier: Round, *, same_batch: bool) -> None:
        """Propose a calibration round like an earlier one, on its conversations or on new ones."""
        people = set(earlier.assignments.order_by().values_list("annotator", flat=True).distinct())
        self.initial = {
            **self.initial,
            "kind": Round.Kind.CALIBRATION,
            "source": str(earlier.number) if same_batch else NEW,
            "batch": earlier.places.count(),
            "annotators": [pk for pk in self.initial["annotators"] if pk in people],
            "seed": earlier.number,
        }

    def clean(self) -> None:
        """A form that is sent twice must not open two rounds."""
        newest = self._newest_number()
        if self.cleaned_data.get("seen", newest) != newest:
            again: Any = self.data.copy()  # type: ignore[attr-defined]
            again["seen"] = str(newest)  # sending the form again confirms it
            self.data = again
            raise forms.ValidationError(
                _(
                    "Round {newest} was opened in the meantime. Look at it first; send this again "
                    "only if you want one more."
                ).format(newest=newest)
            )

    def _newest_number(self) -> int:
        return self.project.rounds.aggregate(newest=Max("number"))["newest"] or 0

    def chosen(self) -> list[Conversation]:
        """The conversations that a valid form asks for."""
        asked = self.cleaned_data
        again = None if asked["source"] == NEW else int(asked["source"])
        wanted = {name: asked[name] for name in ("seed", "split", "domain")}
        return batches.chosen(self.project, same_as=again, number=asked["batch"], **wanted)

    def preview(self) -> dict[str, Any]:
        """What a valid form would hand out."""
        asked = self.cleaned_data
        number, people = len(self.chosen()), len(asked["annotators"])
        is_full = asked["kind"] == Round.Kind.FULL
        overlap = (asked["overlap"] or self.project.overlap) if is_full else people
        fewest, extra = divmod(number * overlap, people)
        return {
            "conversations": number,
            "annotators": people,
            "overlap": overlap,
            "assignments": number * overlap,
            "each": f"{fewest}–{fewest + 1}" if extra else str(fewest),
            "is_pool": is_full and asked["pool"],
        }
