from __future__ import annotations

import re
from typing import Any

from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _

from labeling.core import tokens
from labeling.core.forms.choices import offer
from labeling.core.rules.scopes import Scope
from labeling.models import Membership, Project
from labeling.work import assignments

LONGEST_NAME, MOST_PEOPLE = 200, 100


class MoveForm(forms.Form):
    """To whom the open work of ``person`` goes."""

    to = forms.ModelChoiceField(
        label=_("Open work goes to"),
        queryset=User.objects.none(),
        required=False,
        empty_label=_("Whoever can take it"),
    )

    def __init__(self, project: Project, person: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "to", assignments.annotators(project).exclude(pk=person.pk))


class PeopleForm(forms.Form):
    """Several people at once, as a lead has them in a list or a mail."""

    people = forms.CharField(
        label=_("Names or addresses"),
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto", "spellcheck": "false"}),
        help_text=_(
            "One a line, or with commas between them. A user name joins at once; "
            "everybody else, and every address, gets a link, which you send them."
        ),
    )
    role = forms.ChoiceField(label=_("As"), choices=Membership.Role.choices)

    def clean_people(self) -> list[str]:
        written = re.split(r"[,;\r\n]+", self.cleaned_data["people"])
        people = [name for name in map(_tidy, written) if name]
        if not people:
            raise forms.ValidationError(_("Give at least one name."))
        if len(people) > MOST_PEOPLE:
            raise forms.ValidationError(
                _("Invite at most {most} people at once.").format(most=MOST_PEOPLE)
            )
        for name in people:
            if len(name) > LONGEST_NAME or not name.isprintable():
                raise forms.ValidationError(
                    _("This is not a name or an address: {name}").format(
                        name=ascii(name[:60])[1:-1]
                    )
                )
        return people


def _tidy(written: str) -> str:
    return " ".join(written.split())


class NewAccountForm(UserCreationForm):
    """Name and password of somebody who came by an invitation."""

    full_name = forms.CharField(
        label=_("Your name"),
        required=False,
        max_length=150,
        help_text=_("Shown next to the user name."),
    )
    field_order = ("username", "full_name", "password1", "password2")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        username = self.fields["username"]
        username.label = _("User name")
        username.widget.attrs |= {"autocapitalize": "none", "spellcheck": "false"}


SCOPE_LABELS = {
    Scope.READ: _("Read: projects, agreement, gold, runs"),
    Scope.LABEL: _("Label: your queue, answers and comments"),
    Scope.LEAD: _("Lead: members, rounds, guidelines, reviews, decisions"),
    Scope.GOLD: _("Gold: freezing, lint, reopened items, looks at test items"),
    Scope.RUNS: _("Runs: runs, gates, judges"),
}
TOKEN_DAYS = [(7, _("7 days")), (30, _("30 days")), (90, _("90 days")), (365, _("365 days"))]


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("What is it for?"), max_length=100, help_text=_("For example: nightly export.")
    )
    scopes = forms.MultipleChoiceField(
        label=_("It may be used for"),
        choices=list(SCOPE_LABELS.items()),
        initial=[Scope.READ],
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Never more than you may do yourself."),
    )
    projects = forms.ModelMultipleChoiceField(
        label=_("Only in these projects"),
        queryset=Project.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("If you choose none: all your projects, including future ones."),
    )
    days = forms.TypedChoiceField(
        label=_("Valid for"), choices=TOKEN_DAYS, coerce=int, initial=tokens.DAYS
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        projects = Project.objects.visible_to(user)
        offer(self, "projects", projects)
        if not projects.exists():
            del self.fields["projects"]
