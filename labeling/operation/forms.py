from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from django import forms
from django.forms.boundfield import BoundWidget
from django.utils.translation import gettext_lazy as _

from labeling.core.forms.choices import offer
from labeling.operation.webhooks.webhooks import VERBS

EVERY, SOME = "every", "some"


class WebhookForm(forms.Form):
    """An address, and either every event or some of them."""

    url = forms.CharField(
        label=_("Address"),
        max_length=500,
        widget=forms.URLInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=_("Where messages are sent by POST, for example https://example.org/assay."),
    )
    which = forms.ChoiceField(
        label=_("Events to send"),
        choices=[(EVERY, _("Every event")), (SOME, _("Only the events chosen here"))],
        initial=EVERY,
        widget=forms.RadioSelect,
    )
    verbs = forms.MultipleChoiceField(
        label=_("Events"), required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offer(self, "verbs", VERBS)

    def groups(self) -> list[tuple[str, list[BoundWidget]]]:
        """The boxes by what the events are about."""
        boxes: Iterable[BoundWidget] = self["verbs"].subwidgets
        return [
            (kind, list(some))
            for kind, some in groupby(boxes, lambda box: box.data["value"].partition(".")[0])
        ]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("which") == SOME and not cleaned.get("verbs"):
            self.add_error("verbs", _("Choose at least one event, or every event."))
        return cleaned

    @property
    def chosen(self) -> Sequence[str]:
        """For every event: none by name."""
        cleaned = self.cleaned_data
        return cleaned["verbs"] if cleaned["which"] == SOME else []


def initial_of(url: str, verbs: Sequence[str]) -> dict[str, Any]:
    return {"url": url, "which": SOME if verbs else EVERY, "verbs": verbs}
