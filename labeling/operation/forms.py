from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from django import forms
from django.forms.boundfield import BoundWidget
from django.utils.translation import gettext_lazy as _

from labeling.operation.webhooks.webhooks import VERBS


class WebhookForm(forms.Form):
    """An address, and some events; none chosen: all of them."""

    url = forms.CharField(
        label=_("Address"),
        max_length=500,
        widget=forms.URLInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=_("Where messages are sent by POST, for example https://example.org/assay."),
    )
    verbs = forms.MultipleChoiceField(
        label=_("Events"),
        required=False,
        choices=[(verb, verb) for verb in VERBS],
        widget=forms.CheckboxSelectMultiple,
    )

    def groups(self) -> list[tuple[str, list[BoundWidget]]]:
        """The boxes by what the events are about."""
        boxes: Iterable[BoundWidget] = self["verbs"].subwidgets
        return [
            (kind, list(some))
            for kind, some in groupby(boxes, lambda box: box.data["value"].partition(".")[0])
        ]
