"""Members and accounts in the admin, held to the rule that a project keeps a lead."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import UserChangeForm
from django.utils.translation import gettext_lazy as _

from labeling.domain.errors import RuleError
from labeling.models import Membership
from labeling.services import projects
from labeling.words import words


class MembersFormSet(forms.BaseInlineFormSet):
    def clean(self) -> None:
        super().clean()
        if any(self.errors) or self.instance.pk is None:
            return
        touched = [form for form in self.forms if form.has_changed()]
        before = [form.instance.pk for form in touched if form.instance.pk]
        leading = sum(self._makes_a_lead(form) for form in touched)
        try:
            projects.keep_a_lead(self.instance, without=before, added=leading)
        except RuleError as error:
            raise forms.ValidationError(words(error.fact)) from error

    def _makes_a_lead(self, form: Any) -> bool:
        entered = form.cleaned_data
        return bool(
            entered
            and not entered.get("DELETE")
            and entered["role"] == Membership.Role.LEAD
            and entered["user"].is_active
        )


class AccountForm(UserChangeForm):
    def clean_is_active(self) -> bool:
        stays: bool = self.cleaned_data["is_active"]
        if self.instance.is_active and not stays:
            alone = projects.led_alone_by(self.instance)
            if alone:
                names = ", ".join(project.name for project in alone)
                raise forms.ValidationError(
                    _("Nobody else leads {names}: give somebody the role first.").format(
                        names=names
                    )
                )
        return stays
