"""A label of gold as it should be, a verdict about two of them, and reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from labeling.domain.schema import LAYERS, form_fields
from labeling.domain.schema.forms import EventSchema, FormField
from labeling.domain.schema.labels import StoredLabel
from labeling.translation import translated

Label = Mapping[str, Any]
Choices = Sequence[tuple[str, str]]

NESTED = ("span", "phases", "arguments")
LONGEST = 20_000


class MessagesField(forms.CharField):
    """Numbers of messages, with spaces or commas."""

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(map(str, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        texts = str(value or "").replace(",", " ").split()
        if any(not text.isdecimal() or len(text) > 9 for text in texts):
            raise forms.ValidationError(_("Write the numbers of messages: 3, 5"))
        return sorted({int(text) for text in texts})


class TextField(forms.CharField):
    """Text with the line ends of gold: browsers send others."""

    def to_python(self, value: Any) -> Any:
        return _with_line_feeds(super().to_python(value) or "")


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


class LinesField(forms.CharField):
    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in str(value or "").splitlines() if line.strip()]


class LabelForm(forms.Form):
    """One label of any layer. What has parts is written as JSON."""

    def __init__(
        self,
        layer: str,
        data: Any = None,
        *,
        label: Label | None = None,
        targets: Choices = (),
        event_schema: EventSchema | None = None,
    ) -> None:
        self.layer, self.label = layer, dict(label or {})
        super().__init__(data, initial=self.label, prefix="label")
        for field in form_fields(layer, event_schema=event_schema):
            self.fields[field["name"]] = _form_field(field, targets)

    def value(self) -> StoredLabel:
        """The label, with what the form does not show as it was."""
        shown = {name: self._stored(name) for name in self.fields}
        kept = {name: value for name, value in self.label.items() if name not in shown}
        return kept | {
            name: value
            for name, value in shown.items()
            if value not in (None, "", []) or name in self.label
        }

    def _stored(self, name: str) -> Any:
        value = self.cleaned_data[name]
        stored = self.label.get(name)
        if isinstance(stored, str) and value == _with_line_feeds(stored):
            return stored  # gold from elsewhere may have other line ends
        if value == "" and self.label.get(name, "") is None:
            return None
        choices = next(
            field["choices"] for field in form_fields(self.layer) if field["name"] == name
        )
        numbers = {str(choice["value"]): choice["value"] for choice in choices}
        return numbers.get(value, value) if isinstance(value, str) else value


def _form_field(field: FormField, targets: Choices) -> forms.Field:
    words: dict[str, Any] = {
        "label": translated(field["label"]),
        "help_text": translated(field["help"]) if field["help"] else "",
        "required": False,  # the schema says what a label needs
    }
    widget = field["widget"]
    if widget == "messages":
        return MessagesField(**words | {"help_text": _("Numbers of messages: 3, 5")})
    if widget == "lines":
        return LinesField(**words, max_length=LONGEST, widget=forms.Textarea(attrs={"rows": 3}))
    if widget == "confidence":
        return forms.FloatField(**words, min_value=0, max_value=1)
    if widget == "references":
        kind = forms.MultipleChoiceField if field["many"] else forms.ChoiceField
        return kind(**words, choices=targets if field["many"] else [("", "–"), *targets])
    if widget == "choice" and field["choices"]:
        titles = [(str(each["value"]), _title(each)) for each in field["choices"]]
        return forms.ChoiceField(**words, choices=[("", "–"), *titles])
    if widget in NESTED:
        return forms.JSONField(
            **words | {"help_text": _("As JSON.")}, widget=forms.Textarea(attrs={"rows": 5})
        )
    rows = 2 if widget == "text" else 4
    return TextField(
        **words, max_length=LONGEST, widget=forms.Textarea(attrs={"rows": rows}), strip=False
    )


def _title(choice: Mapping[str, Any]) -> str:
    return translated(choice["title"]) if choice.get("title") else str(choice["value"])


def targets_of(layer: str, payload: Mapping[str, Sequence[Label]]) -> list[tuple[str, str]]:
    """The labels that one of the layer may refer to."""
    keys = [LAYERS[name].key for name in LAYERS[layer].needs]
    return [
        (str(label.get("uid")), f"{label.get('id', '')} {label.get('title', '')}".strip())
        for key in keys
        for label in payload.get(key, [])
    ]


class DisputeForm(forms.Form):
    """What should become of a label of gold, and why."""

    wish = forms.ChoiceField(label=_("What should become of it"), widget=forms.RadioSelect)
    reason = forms.CharField(
        label=_("Reason"),
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Judges do not see it before their verdict."),
    )

    def __init__(self, *, is_missing: bool, data: Any = None) -> None:
        super().__init__(data, initial={"wish": "change"})
        choices: Any = [("change", _("It should say what is below"))]
        if is_missing:
            choices = [("change", _("Gold lacks the label below"))]
        else:
            choices.append(("remove", _("It should not be in gold")))
        self.fields["wish"].choices = choices  # type: ignore[attr-defined]


class VerdictForm(forms.Form):
    choice = forms.ChoiceField(
        choices=[("a", "A"), ("b", "B"), ("both", "both"), ("neither", "neither")]
    )
    reason = forms.CharField(
        label=_("Reason"),
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("What the conversation says."),
    )
    own = forms.ChoiceField(
        label=_("If neither"),
        required=False,
        choices=[
            ("label", _("the label below is right")),
            ("none", _("no such label should be here")),
        ],
        initial="label",
        widget=forms.RadioSelect,
    )


class ReasonForm(forms.Form):
    reason = forms.CharField(max_length=5000, required=False)
