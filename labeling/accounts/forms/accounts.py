"""Accounts in the admin, held to the rule that a project keeps a lead."""

from __future__ import annotations

from django import forms
from django.contrib.auth.forms import UserChangeForm
from django.utils.translation import gettext_lazy as _

from labeling.core import projects


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
