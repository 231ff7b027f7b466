from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.apps import apps
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from labeling.core.forms.choices import ANY, offer
from labeling.models import Event
from labeling.words import EVENTS

EARLIEST, LATEST = date(1970, 1, 1), date(2999, 12, 31)


def kinds() -> list[str]:
    """What an event may be about: the name of any model of ours."""
    apps_of_ours = (apps.get_app_config(name) for name in ("labeling", "evaluation"))
    return sorted(str(model._meta.model_name) for app in apps_of_ours for model in app.get_models())


class DayField(forms.DateField):
    widget = forms.DateInput(attrs={"type": "date"})

    def __init__(self, **kwargs: Any) -> None:
        limits = [MinValueValidator(EARLIEST), MaxValueValidator(LATEST)]
        super().__init__(required=False, validators=limits, **kwargs)


class AuditFilter(forms.Form):
    """Narrows the audit log of a project. A field that is wrong narrows nothing and says so."""

    actor = forms.CharField(label=_("Who"), required=False, max_length=150)
    verb = forms.ChoiceField(label=_("Event"), required=False)
    object_type = forms.ChoiceField(label=_("About"), required=False)
    object_id = forms.CharField(label=_("Id"), required=False, max_length=200)
    since = DayField(label=_("From"))
    until = DayField(label=_("Until"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "verb", [ANY, *sorted(EVENTS)])
        offer(self, "object_type", [("", _("anything")), *kinds()])

    def narrow(self, events: QuerySet[Event]) -> QuerySet[Event]:
        self.is_valid()
        conditions: dict[str, Callable[[Any], Q]] = {
            "actor": lambda name: Q(actor__username=name.strip()),
            "verb": lambda verb: Q(verb=verb),
            "object_type": lambda kind: Q(object_type=kind),
            "object_id": _about,
            "since": lambda day: Q(at__gte=_midnight(day)),
            "until": lambda day: Q(at__lt=_midnight(day + timedelta(days=1))),
        }
        for name, value in self.cleaned_data.items():
            if value:
                events = events.filter(conditions[name](value))
        return events


def _about(text: str) -> Q:
    """The number of an object, or the id of the conversation that an event names."""
    wanted = text.strip()
    return Q(object_id=wanted[:50]) | Q(data__conversation=wanted)


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
