from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from labeling.core.forms.choices import ANY, offer
from labeling.models import Event
from labeling.words import EVENTS


class AuditFilter(forms.Form):
    """Narrows the audit log of a project. A field that is wrong narrows nothing and says so."""

    actor = forms.CharField(label=_("Who"), required=False, max_length=150)
    verb = forms.ChoiceField(label=_("Event"), required=False)
    about = forms.CharField(
        label=_("About"),
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"placeholder": _("run 17, or a conversation")}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "verb", [ANY, *sorted(EVENTS)])

    def narrow(self, events: QuerySet[Event]) -> QuerySet[Event]:
        self.is_valid()
        if actor := self.cleaned_data.get("actor"):
            events = events.filter(actor__username=actor)
        if verb := self.cleaned_data.get("verb"):
            events = events.filter(verb=verb)
        if about := self.cleaned_data.get("about"):
            kind, _space, number = about.partition(" ")
            known = Q(object_type=kind, object_id=number) | Q(data__conversation=about)
            events = events.filter(known)
        return events
